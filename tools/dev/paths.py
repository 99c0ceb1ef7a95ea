"""Where things are. Everything that is made lies in `build`, `.venv`, `.state` and `var`, all ignored by git."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATE = ROOT / ".state"
VENV = ROOT / ".venv"
VAR = ROOT / "var"
LOGS = VAR / "log"
RUN = VAR / "run"
RELEASE = ROOT / "build" / "release"
PYTHON = VENV / "bin" / "python"
