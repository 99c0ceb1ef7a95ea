"""Clears away what jails of this machine left behind that were killed hard: processes and control groups."""

from __future__ import annotations

import subprocess

from runner.settings import load_settings

PATIENCE_SECONDS = 60


def sweep() -> list[str]:
    """Have the jail sweep all slots; return what it found and what it could not clear away, a line each.

    Running jails are not touched. A machine where it cannot be done says why; its runs will say so too.
    """
    command = [str(load_settings().jail), "--sweep"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [f"jail --sweep: {error}"]
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]
