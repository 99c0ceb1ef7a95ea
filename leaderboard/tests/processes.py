"""Starts more processes that use the test's own database, and that claim runs at the same time as the test.

A test calls `start`, which executes `python -m leaderboard.tests.processes ROLE NUMBER`. The roles are "claim" and
"hang". The number is that of the slot (sandbox) for which the process claims runs.
"""

# ruff: noqa: PLC0415 - Django must be set up before its models are imported

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from pathlib import Path

    from runner.contract import Job, RunReport

CLAIM, HANG = "claim", "hang"


def database_url() -> str:
    """Return the URL of the database that the tests of this process use."""
    from django.db import connection

    now = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{now['NAME']}"
    host = quote(now["HOST"] or now["OPTIONS"].get("host", ""), safe="")
    port = f":{now['PORT']}" if now["PORT"] else ""
    account = quote(now["USER"]) + (f":{quote(now['PASSWORD'])}" if now["PASSWORD"] else "")
    return f"postgres://{account}@{host}{port}/{now['NAME']}"


def environment(var: Path) -> dict[str, str]:
    """Return the environment for a process that uses the same database as the test."""
    return {**os.environ, "DATABASE_URL": database_url(), "KEYDROME_VAR": str(var)}


def start(role: str, number: int, var: Path) -> subprocess.Popen[str]:
    """Start a process with one of the roles below. The test reads the process's standard output."""
    command = [sys.executable, "-m", "leaderboard.tests.processes", role, str(number)]
    return subprocess.Popen(command, env=environment(var), stdout=subprocess.PIPE, text=True)


def claim_all(number: int) -> None:
    """Claim runs on one slot until no run waits. Print the id of each run, and end the run."""
    from leaderboard import services
    from leaderboard.machines import registry
    from leaderboard.queue import claims

    slot = claims.Slot(registry.seen("bench1", "fast", {}), number)
    while True:
        run = claims.claim(slot)
        if run is None:
            if claims.claimable().exists():
                continue
            return
        print(run.pk, flush=True)  # noqa: T201 - what the test reads
        assert services.give_up(run.pk, run.attempt, "enough")


def hang(number: int) -> None:
    """Claim and start a run, print its id, and never end."""
    from leaderboard.machines import registry
    from leaderboard.queue.claims import Slot
    from leaderboard.worker import Worker
    from runner.contract import Progress

    def execute(job: Job, beat: object) -> RunReport:
        assert callable(beat)
        beat(Progress(1, 1, "candidate", "populate", 0.5))
        print(job.run_id, flush=True)  # noqa: T201 - what the test reads
        threading.Event().wait()
        raise AssertionError

    Worker(Slot(registry.seen("bench1", "fast", {}), number), execute).run_one()


def main() -> None:
    """Execute the role that the command line names."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "web.settings")
    django.setup()
    from leaderboard import boards
    from leaderboard.tests.small_boards import small_boards

    small = small_boards()
    boards._published = lambda: small  # type: ignore[assignment]
    {CLAIM: claim_all, HANG: hang}[sys.argv[1]](int(sys.argv[2]))


if __name__ == "__main__":
    main()
