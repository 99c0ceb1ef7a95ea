"""The Python environment: .venv from uv.lock, by a pinned uv in an environment of its own."""

from __future__ import annotations

import sys

from dev.paths import PYTHON, ROOT, STATE
from dev.steps import StepError, digest, run, stamped

UV_VERSION = "0.13.8"
PYTHON_MINIMUM = (3, 11)


def ensure() -> None:
    """Make .venv equal to uv.lock; does nothing when it is already."""
    if sys.version_info < PYTHON_MINIMUM:
        raise StepError(
            f"python3 is {sys.version.split()[0]}; Keydrome needs 3.11 or newer (Debian 12, Ubuntu 24.04)"
        )
    stamp = digest([ROOT / "uv.lock", ROOT / "pyproject.toml"], UV_VERSION, sys.version, str(ROOT))
    if not PYTHON.exists():
        (STATE / "python").unlink(missing_ok=True)
    stamped("python", stamp, _sync)


def _sync() -> None:
    cure = "check the network (PyPI), then run the command again"
    tools = STATE / "uv"
    uv = tools / "bin" / "uv"
    if not uv.exists():
        run([sys.executable, "-m", "venv", str(tools)], log="uv-venv", cure="install python3-venv")
        run(
            [str(tools / "bin" / "pip"), "install", "--quiet", f"uv=={UV_VERSION}"],
            log="uv-install",
            cure=cure,
        )
    run(
        [str(uv), "sync", "--frozen", "--compile-bytecode", "--python", sys.executable],
        log="uv-sync",
        cure=cure,
        env={"UV_PYTHON_DOWNLOADS": "never", "UV_PROJECT_ENVIRONMENT": str(PYTHON.parents[1])},
    )
