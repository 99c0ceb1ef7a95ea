"""Computes the order of the queue: by priority, then by start-time fair queueing, so that users share the machines.

Workers are the processes that claim runs and execute them. Runs start in the order of (priority, virtual time, id).
Each priority has a *virtual clock*: the largest virtual time among the runs of this priority that workers have claimed.
The virtual time of a new run is the virtual clock, or the virtual time at which its owner's earlier runs end, whichever
is later. In virtual time, a run takes one unit for each of its sessions (repetitions), because their number is the best
estimate of the run's machine time.

If a user submits a hundred runs, each of them has a later virtual time than the run before. If a second user then
submits one run, the virtual time of this run is the virtual clock. So this run starts before most of the hundred runs.
While two users both have waiting runs, the machine times that they receive differ by at most one run of each user
(Goyal, Vin and Cheng, "Start-time Fair Queuing", 1996).

This file uses no database: claims.py reads and writes the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Priority(IntEnum):
    """The priority of a run: lower numbers start first. Virtual time orders only runs of the same priority."""

    CONTEST = 0  # a new submission
    RERUN = 10  # a run that is repeated on request, or an audit
    BATCH = 20  # all runs that are repeated for a new benchmark version, which may be many


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """The values that order the queue. The run with the smallest place is next."""

    priority: int
    virtual_time: int
    run_id: int


def virtual_times(clock: int, finish: int, costs: Iterable[int]) -> tuple[list[int], int]:
    """Return the virtual times of a user's new runs, in order, and the virtual time at which the last new run ends.

    - `clock`: the virtual clock, that is, the largest virtual time of a claimed run.
    - `finish`: the virtual time at which the user's earlier runs end.
    - `costs`: the number of sessions of each new run, all positive.
    """
    time = max(clock, finish)
    times = []
    for cost in costs:
        times.append(time)
        time += cost
    return times, time
