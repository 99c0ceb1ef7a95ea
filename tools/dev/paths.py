"""Defines the paths that `./dev` uses. All generated files are in build, .venv, .state and var, which git ignores."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATE = ROOT / ".state"
VENV = ROOT / ".venv"
VAR = ROOT / "var"
LOGS = VAR / "log"
RUN = VAR / "run"
RELEASE = ROOT / "build" / "release"
PYTHON = VENV / "bin" / "python"
