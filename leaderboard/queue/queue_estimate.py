"""Estimates for the pages when waiting runs will start, from queue positions and the duration of recent runs."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from statistics import mean
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models.functions import Now

from leaderboard.models import ACTIVE_STATES, Machine, Run, State

if TYPE_CHECKING:
    from collections.abc import Sequence

# The mean duration of a run is computed from this many of the runs that ended last.
RECENT_RUNS = 50
# A machine that has shown no sign of life for this long counts as lost: it is assumed to execute no run.
MACHINE_LOST_SECONDS = 120
MINUTE = 60
# Positions above this number are not counted, because pages request positions every few seconds, and a queue may have
# 100,000 runs.
COUNTED_MAX = 2000
# The duration of a session is estimated from this many timed runs that ended last.
RECENT_TIMED = 500


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the queue moves.

    - `slots`: the number of runs that execute now, each in its own slot (sandbox) of a machine. 1 if no run executes
      but a machine is alive; 0 if no machine is alive.
    - `run_seconds`: the mean duration of recent runs; None if no run has ended yet.
    """

    slots: int
    run_seconds: float | None

    def seconds_until(self, position: int) -> float | None:
        """Return the expected seconds until the run at this position (1 is next) starts; None if unknown.

        Assumes that slots become free at regular intervals, one every `run_seconds / slots` seconds.
        """
        if self.slots == 0 or self.run_seconds is None:
            return None
        return position * self.run_seconds / self.slots


@dataclass(frozen=True, slots=True)
class Wait:
    """A run's position in the queue (1 is next), and the expected seconds until the run starts (None: unknown).

    If the position is above COUNTED_MAX, at least COUNTED_MAX runs start first, and `seconds` is a lower bound.
    """

    position: int
    seconds: float | None

    def __str__(self) -> str:
        if self.position > COUNTED_MAX:
            earliest = (
                "" if self.seconds is None else f"; starts in {about(self.seconds)} at the earliest"
            )
            return f"at least {COUNTED_MAX:,} runs come first{earliest}"
        place = f"number {self.position} in the queue"
        return place if self.seconds is None else f"{place}, starts in {about(self.seconds)}"


def about(seconds: float) -> str:
    """Return an estimated duration in words, rounded to minutes or hours."""
    if seconds < MINUTE:
        return "less than a minute"
    minutes = round(seconds / MINUTE)
    if minutes < 2 * MINUTE:
        return f"about {minutes} minute{'s' if minutes > 1 else ''}"
    return f"about {round(minutes / MINUTE)} hours"


def waits(runs: Sequence[Run]) -> dict[int, Wait]:
    """Return the wait of each queued run among `runs`, by run id.

    At most 4 SQL statements; none if no run is queued.
    """
    waiting = [run.pk for run in runs if run.state == State.QUEUED]
    if not waiting:
        return {}
    pace = current_pace()
    return {
        pk: Wait(position, pace.seconds_until(position)) for pk, position in _positions(waiting)
    }


def _positions(run_ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return (id, position) of each run that is still queued.

    A position above COUNTED_MAX is returned as COUNTED_MAX + 1. Executes 1 SQL statement, which reads at most
    COUNTED_MAX rows of the queue's index.
    """
    # Raw SQL, because Django would apply a filter before the window function counts the rows.
    placeholders = ", ".join(["%s"] * len(run_ids))
    statement = f"""SELECT run.id, counted.position FROM leaderboard_run AS run
        LEFT JOIN (
          SELECT id, row_number() OVER (ORDER BY priority, virtual_time, id) AS position
          FROM (
            SELECT id, priority, virtual_time FROM leaderboard_run WHERE state = 'queued'
            ORDER BY priority, virtual_time, id LIMIT %s
          ) AS head
        ) AS counted ON counted.id = run.id
        WHERE run.state = 'queued' AND run.id IN ({placeholders})"""  # noqa: S608 - only "%s" is inserted
    with connection.cursor() as cursor:
        cursor.execute(statement, [COUNTED_MAX, *run_ids])
        return [(int(pk), int(position or COUNTED_MAX + 1)) for pk, position in cursor.fetchall()]


def current_pace() -> Pace:
    """Return the current pace of the queue. At most 3 SQL statements.

    The durations leave out runs on hidden instances (secret benchmark instances of a contest). Pages show the pace, so
    the pace could reveal how long these runs take.
    """
    alive_since = Now() - timedelta(seconds=MACHINE_LOST_SECONDS)
    slots = Run.objects.filter(state__in=ACTIVE_STATES, heartbeat_at__gte=alive_since).count()
    if slots == 0:  # no run executes now, but a live machine will claim the next run within seconds
        slots = int(Machine.objects.filter(last_seen__gte=alive_since).exists())
    ended = Run.objects.filter(state=State.DONE, started_at__isnull=False, hidden=None).order_by(
        "-finished_at"
    )
    times = [
        (finished - started).total_seconds()
        for started, finished in ended.values_list("started_at", "finished_at")[:RECENT_RUNS]
        if started is not None and finished is not None
    ]
    return Pace(slots, sum(times) / len(times) if times else None)


def session_seconds() -> dict[tuple[str, str, str], float]:
    """Return the mean duration of a session of recent timed runs, by benchmark, instance and scale. 1 SQL statement."""
    ended = Run.objects.filter(
        state=State.DONE, kind="performance", verified=False, started_at__isnull=False
    ).order_by("-finished_at")
    columns = ("benchmark", "instance", "scale", "sessions", "started_at", "finished_at")
    found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for benchmark, instance, scale, sessions, started, finished in ended.values_list(*columns)[
        :RECENT_TIMED
    ]:
        if started is not None and finished is not None:
            seconds = (finished - started).total_seconds() / sessions
            found[benchmark, instance, scale].append(seconds)
    return {key: mean(values) for key, values in found.items()}
