"""Says how to play a session again in a debugger or a profiler, with `keydrome debug`."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from runner.terms import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.report import Report

_SLOW = "too_slow"  # the finding about a library that still advanced when the time was over
PROGRAM = "debug_session"
"""The program that plays a session without a jail; perf lists its threads under this name."""


def keydrome_command() -> str:
    """Return `keydrome` as a person can type it here: the path by which it was started, unless the shell finds it."""
    started = Path(sys.argv[0])
    found = shutil.which("keydrome")
    is_elsewhere = found is None or not started.exists() or not started.samefile(found)
    return shlex.quote(sys.argv[0]) if started.name == "keydrome" and is_elsewhere else "keydrome"


def session_options(report: Report, seed: str, overrides: Mapping[str, int]) -> str:
    """Return the options of `keydrome debug` that name a session."""
    changed = "".join(f" -p {name}={value}" for name, value in overrides.items())
    return (
        f"--benchmark {report.benchmark} --instance {report.instance} --scale {report.scale.value} "
        f"--seed {seed}{changed}"
    )


def debug_command(library: str, report: Report, seed: str, overrides: Mapping[str, int]) -> str:
    """Return the command that plays a session again. `library` names the library as on the command line."""
    return f"{keydrome_command()} debug {library} {session_options(report, seed, overrides)}"


def how_to_debug(library: str, report: Report, seed: str, overrides: Mapping[str, int]) -> str:
    """Return how to play a session again if a crash or a time limit has ended it, or "" for other sessions."""
    played = debug_command(library, report, seed, overrides)
    if report.verdict is Verdict.CRASHED:
        return (
            f"`{played} --tool stack` plays the crash in gdb, without a jail "
            "(docs/how-to/debug-a-library.md)"
        )
    if report.verdict is Verdict.TIMED_OUT and any(f.name == _SLOW for f in report.findings):
        return how_to_profile(library, report, seed, overrides, "slow")
    if report.verdict is Verdict.TIMED_OUT:
        return (
            f"`{played} --tool gdb` plays the session without a jail. When the session hangs, press Ctrl-C; then "
            "`thread apply all backtrace` shows the calls of all threads"
        )
    return ""


def how_to_profile(
    library: str, report: Report, seed: str, overrides: Mapping[str, int], which: str
) -> str:
    """Return how to find out where a slow session spends its time; `which` says which session it is."""
    return (
        f"`{debug_command(library, report, seed, overrides)} --tool perf` plays the {which} session without a jail, "
        "and shows which calls and which functions take the time (without --tool perf: only the calls)"
    )
