"""Tests that test runs of several clones, and a running site, do not disturb each other on one machine.

The processes here use the same checkout. They share with other clones what a clone cannot have for itself: jail slots,
ports, names of sockets, control groups, users and the folder for temporary files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from runner.slots import SlotsTakenError, hold_slot
from tests.referee_run import ROOT, require_root_and_build

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 240
SITE = ["leaderboard/tests/test_worker.py"]
JAIL = ["jail/tests/test_leftovers.py"]
SESSIONS = ["tests/test_janitor.py"]


def start(places: list[str], log: Path) -> subprocess.Popen[bytes]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("KEYDROME_")}
    kept.pop("DATABASE_URL", None)
    build = {key: os.environ[key] for key in ("KEYDROME_BUILD",) if key in os.environ}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *places]
    with log.open("wb") as out:
        return subprocess.Popen(
            command, cwd=ROOT, env=kept | build, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )


def test_suites_of_two_clones_run_beside_a_site(tmp_path: Path) -> None:
    require_root_and_build()
    with ExitStack() as held:
        with suppress(SlotsTakenError):  # a site runs on this machine
            held.enter_context(hold_slot(0, 0))  # as the worker of `./dev up` does
        logs = {
            tmp_path / f"{name}-{clone}.log": places
            for name, places in {"site": SITE, "jail": JAIL, "sessions": SESSIONS}.items()
            for clone in (1, 2)
        }
        running = {log: start(places, log) for log, places in logs.items()}
        try:
            failed = [log for log, one in running.items() if one.wait(SECONDS) != 0]
        finally:
            for one in running.values():
                one.kill()
                one.wait()
    assert failed == [], "\n".join(log.read_text(errors="replace")[-4000:] for log in failed)
