"""Starts a worker in its own process. The worker stops at a named moment of a run, so that a test can kill it there."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import connection

from leaderboard import services
from leaderboard.queue import claims
from leaderboard.ranking import board_entries
from leaderboard.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leaderboard.queue.claims import Slot
    from leaderboard.worker import Execute

# Maps each moment to a function that the worker calls. The three values are the module of the function, its name, and
# whether the worker stops after the call (True) or before it (False).
MOMENTS: dict[str, tuple[Any, str, bool]] = {
    "claimed": (claims, "start", False),
    "running": (claims, "heartbeat", True),
    "report written": (services, "record", False),
    "result being recorded": (
        board_entries,
        "refresh",
        True,
    ),  # inside the transaction, after all rows are written
    "recorded": (services, "record", True),
}


@contextmanager
def stopped_at(moment: str, slot: Slot, execute: Execute) -> Iterator[int]:
    """Fork a worker, wait until the worker reaches the moment, and yield its pid. Finally kill it with SIGKILL."""
    connection.close()  # parent and child must not share a database connection
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _play(moment, slot, execute, writer)
    os.close(writer)
    try:
        told = os.read(reader, 100).decode()
        assert told == moment, f"the worker ended before the moment {moment!r}"
        yield child
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _play(moment: str, slot: Slot, execute: Execute, writer: int) -> None:
    """Execute one run in the child process. At `moment`, inform the parent process and wait for its SIGKILL."""
    try:
        place, name, done_first = MOMENTS[moment]
        called: Callable[..., Any] = getattr(place, name)

        def stop(*arguments: Any) -> None:
            if done_first:
                called(*arguments)
            os.write(writer, moment.encode())
            while True:
                signal.pause()

        setattr(place, name, stop)
        Worker(slot, execute, heartbeat_seconds=0.0).run_one()
    finally:
        os._exit(1)
