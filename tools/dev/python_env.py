"""Creates .venv from uv.lock with a fixed version of uv, which is installed in an environment of its own."""

from __future__ import annotations

import sys

from dev.alone import alone_in_clone
from dev.paths import PYTHON, ROOT, STATE
from dev.steps import StepError, digest, run, stamped

UV_VERSION = "0.13.8"
PYTHON_MINIMUM = (3, 11)


def ensure() -> None:
    """Install the packages of uv.lock into .venv; do nothing if .venv is up to date."""
    if sys.version_info < PYTHON_MINIMUM:
        raise StepError(
            f"python3 is {sys.version.split()[0]}, but Keydrome needs 3.11 or newer: use Debian 12 or Ubuntu 24.04"
        )
    stamp = digest([ROOT / "uv.lock", ROOT / "pyproject.toml"], UV_VERSION, sys.version, str(ROOT))
    with alone_in_clone(STATE / "python.lock", "another installation into .venv of this clone"):
        if not PYTHON.exists():
            (STATE / "python").unlink(missing_ok=True)
        stamped("python", stamp, _sync)


def _sync() -> None:
    hint = "check the network (PyPI), then run the command again"
    tools = STATE / "uv"
    uv = tools / "bin" / "uv"
    if not uv.exists():
        run(
            [sys.executable, "-m", "venv", str(tools)],
            log="uv-venv",
            hint="install the package python3-venv",
        )
        run(
            [str(tools / "bin" / "pip"), "install", "--quiet", f"uv=={UV_VERSION}"],
            log="uv-install",
            hint=hint,
        )
    run(
        [str(uv), "sync", "--frozen", "--compile-bytecode", "--python", sys.executable],
        log="uv-sync",
        hint=hint,
        env={"UV_PYTHON_DOWNLOADS": "never", "UV_PROJECT_ENVIRONMENT": str(PYTHON.parents[1])},
    )
