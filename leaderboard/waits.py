"""How long waiting runs will wait: how many are before them in the queue, and how long runs took lately."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models.functions import Now

from leaderboard.models import ACTIVE_STATES, Machine, Run, State

if TYPE_CHECKING:
    from collections.abc import Sequence

# Over so many runs that ended last the usual time of a run is taken.
RECENT_RUNS = 50
# A machine that was not heard of for so long works on nothing.
MACHINE_LOST_SECONDS = 120
MINUTE = 60
# So far a place is counted: pages that look again every few seconds must not read a queue of a hundred thousand.
COUNTED = 2000


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the queue moves. `slots` run something or could; `run_seconds` is None before the first run ended."""

    slots: int
    run_seconds: float | None

    def seconds_until(self, position: int) -> float | None:
        """Return about when the run at this position (1 is next) starts; None when that cannot be said.

        Slots become free one after another, each after a run's time: the first after a share of it.
        """
        if self.slots == 0 or self.run_seconds is None:
            return None
        return position * self.run_seconds / self.slots


@dataclass(frozen=True, slots=True)
class Wait:
    """Where a run is in the queue, 1 being next, and in about how many seconds it starts; None: nobody knows.

    A position beyond COUNTED says only that so many are before the run, and the seconds are the least that it waits.
    """

    position: int
    seconds: float | None

    def __str__(self) -> str:
        if self.position > COUNTED:
            least = (
                "" if self.seconds is None else f", starts in {about(self.seconds)} at the earliest"
            )
            return f"behind {COUNTED:,} others in the queue{least}"
        place = f"number {self.position} in the queue"
        return place if self.seconds is None else f"{place}, starts in {about(self.seconds)}"


def about(seconds: float) -> str:
    """Return an expected time as roughly as it is known."""
    if seconds < MINUTE:
        return "less than a minute"
    minutes = round(seconds / MINUTE)
    if minutes < 2 * MINUTE:
        return f"about {minutes} minute{'s' if minutes > 1 else ''}"
    return f"about {round(minutes / MINUTE)} hours"


def waits(runs: Sequence[Run]) -> dict[int, Wait]:
    """Return the waits of those of the runs that wait, by id. No SQL when none does, else at most 4 statements."""
    waiting = [run.pk for run in runs if run.state == State.QUEUED]
    if not waiting:
        return {}
    pace = current_pace()
    return {
        pk: Wait(position, pace.seconds_until(position)) for pk, position in _positions(waiting)
    }


def _positions(run_ids: Sequence[int]) -> list[tuple[int, int]]:
    """Return the ids of those that still wait, each with the position, COUNTED + 1 for all beyond.

    1 SQL statement, which reads COUNTED rows of the queue's index at most.
    """
    # Django's filter() would be applied before the window counts.
    holes = ", ".join(["%s"] * len(run_ids))
    statement = f"""
        SELECT run.id, counted.position FROM leaderboard_run AS run
        LEFT JOIN (
          SELECT id, row_number() OVER (ORDER BY priority, virtual_time, id) AS position
          FROM (
            SELECT id, priority, virtual_time FROM leaderboard_run WHERE state = 'queued'
            ORDER BY priority, virtual_time, id LIMIT %s
          ) AS head
        ) AS counted ON counted.id = run.id
        WHERE run.state = 'queued' AND run.id IN ({holes})"""  # noqa: S608 - holes only
    with connection.cursor() as cursor:
        cursor.execute(statement, [COUNTED, *run_ids])
        return [(int(pk), int(position or COUNTED + 1)) for pk, position in cursor.fetchall()]


def current_pace() -> Pace:
    """Return how fast the queue moves now. At most 3 SQL statements."""
    alive_since = Now() - timedelta(seconds=MACHINE_LOST_SECONDS)
    slots = Run.objects.filter(state__in=ACTIVE_STATES, heartbeat_at__gte=alive_since).count()
    if slots == 0:  # nothing runs: a machine that lives will take the next run in a moment
        slots = int(Machine.objects.filter(last_seen__gte=alive_since).exists())
    ended = Run.objects.filter(state=State.DONE, started_at__isnull=False).order_by("-finished_at")
    times = [
        (finished - started).total_seconds()
        for started, finished in ended.values_list("started_at", "finished_at")[:RECENT_RUNS]
        if started is not None and finished is not None
    ]
    return Pace(slots, sum(times) / len(times) if times else None)
