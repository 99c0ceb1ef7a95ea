"""A worker in a process of its own that stops at a named moment of a run, for a test to kill it there."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.db import connection

from leaderboard import claims, services, standing
from leaderboard.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leaderboard.claims import Slot
    from leaderboard.worker import Execute

# Where the worker stops -> what it calls just then, and whether that call is done first.
MOMENTS: dict[str, tuple[Any, str, bool]] = {
    "claimed": (claims, "start", False),
    "running": (claims, "beat", True),
    "report written": (services, "record", False),
    "result being recorded": (
        standing,
        "refresh",
        True,
    ),  # inside the transaction, all rows written
    "recorded": (services, "record", True),
}


@contextmanager
def stopped_at(moment: str, slot: Slot, execute: Execute) -> Iterator[int]:
    """Fork a worker, wait until it has come to the moment, and yield its pid; it is killed -9 at the end."""
    connection.close()  # parent and child must not share one
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
    """Work on one run and never return: say the moment and wait for the end."""
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
        Worker(slot, execute, beat_seconds=0.0).run_one()
    finally:
        os._exit(1)
