"""Who is next in the queue: priorities, and within a priority start-time fair queueing. Pure; claims.py keeps the rows.

Each run gets a start time on a virtual clock when it is queued: behind the owner's other runs, never before the clock.
Runs start by (priority, virtual time, id), and the clock stands at the latest start time that was ever claimed. A user
who queues a hundred submissions is a hundred times as far ahead on the virtual clock as one who queues one; whoever
comes new starts at the clock, beside the heads of all others and not behind their tails. Of two users who both have
runs waiting, none gets ahead of the other by more than one run of each (Goyal, Vin and Cheng, "Start-time Fair
Queuing", 1996). The unit is a session: machine time as far as it is known before a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Priority(IntEnum):
    """Lower runs first, whatever the virtual time."""

    CONTEST = 0  # a submission
    RERUN = 10  # one run once more, because somebody asked for it
    BATCH = 20  # what a new benchmark version made stale: as many as there are entries


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A run's place in the queue; the smallest is next."""

    priority: int
    virtual_time: int
    run_id: int


def stamp(clock: int, finish: int, costs: Iterable[int]) -> tuple[list[int], int]:
    """Return the virtual start times of a user's new runs, in their order, and the user's new finish time.

    `clock` is the latest start time that was claimed, `finish` where the user's earlier runs end; costs are positive.
    """
    time = max(clock, finish)
    stamps = []
    for cost in costs:
        stamps.append(time)
        time += cost
    return stamps, time
