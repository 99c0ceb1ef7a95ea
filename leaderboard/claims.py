"""The queue: the run's row is the queue entry, and every step is one conditional UPDATE.

A worker owns a run while its *lease* lasts; a beat extends it. A step that changes no row means
that somebody else owns the run now, and whatever the caller holds is to be thrown away. Works alike
on SQLite and PostgreSQL. Leases are taken and compared on the database's clock only: a machine whose
clock is wrong, or jumps, harms no run.

A claim and a heartbeat are what every worker sends again and again, so their SQL is put together once per process:
building it each time took longer than all the rest of a claim. What waits and who is first is told by `claimable`
alone; its SQL goes into the claim's as it is.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import DateTimeField, Expression, ExpressionWrapper, F, Max, Q
from django.db.models.functions import Now

from leaderboard import fairness
from leaderboard.models import ACTIVE_STATES, Machine, Run, Share, State, Submission

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.db.models import QuerySet

_BACKOFF_SECONDS = 5
# A lease that ends later than so many leases from now was taken before the database's clock was set back.
_LEASES_AHEAD = 10

# Taken by one statement: no other worker can come between the look and the take, and no lock outlives it.
_CLAIM = """
UPDATE leaderboard_run SET lease_until = {lease_end}, heartbeat_at = {now}, machine_id = %s, slot = %s,
  state = 'claimed', attempt = attempt + 1, progress = 0.0, progress_note = ''
WHERE id = ({first}) RETURNING *"""
_SUBMISSION = "SELECT * FROM leaderboard_submission WHERE id = %s"
_BEAT = """
UPDATE leaderboard_run SET lease_until = {lease_end}, heartbeat_at = {now}, progress = %s, progress_note = %s,
  state = 'running'
WHERE id = %s AND attempt = %s AND state IN ('claimed', 'running') RETURNING cancel_requested_at"""


class Beat(Enum):
    """What a heartbeat learnt."""

    GO_ON = "go on"
    CANCEL = "cancel"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Slot:
    """A place where one run at a time executes: a machine's row and a number."""

    machine: Machine
    number: int


def _from_now(seconds: float) -> Expression:
    """Return a moment on the database's clock."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())


def _lease_end() -> Expression:
    """Return when a lease taken now runs out."""
    return _from_now(settings.KEYDROME_LEASE_SECONDS)


def _owned(run_id: int, attempt: int) -> QuerySet[Run]:
    """Return the run if this attempt still owns it."""
    return Run.objects.filter(pk=run_id, attempt=attempt, state__in=ACTIVE_STATES)


def enqueue(owner_id: int, runs: Sequence[Run]) -> list[Run]:
    """Save new runs of one user and one priority, each behind the one before. Call inside a transaction.

    At most 6 SQL statements. Two calls for one user follow one another: the row of the share is locked.
    """
    if not runs:
        return []
    priority = runs[0].priority
    Share.objects.get_or_create(user_id=owner_id, priority=priority)
    share = Share.objects.select_for_update().get(user_id=owner_id, priority=priority)
    claimed = Run.objects.filter(priority=priority, attempt__gt=0).aggregate(
        clock=Max("virtual_time")
    )
    stamps, share.finish = fairness.stamp(
        claimed["clock"] or 0, share.finish, [run.sessions for run in runs]
    )
    for run, time in zip(runs, stamps, strict=True):
        run.virtual_time = time
    share.save(update_fields=["finish"])
    return Run.objects.bulk_create(runs)


def cancel_waiting(runs: QuerySet[Run]) -> int:
    """Cancel those of the runs that wait; they took no machine time, so their owners' shares get it back.

    Call inside a transaction. 3 SQL statements for a run.
    """
    waiting = list(
        runs.filter(state=State.QUEUED).select_related("submission").select_for_update(of=("self",))
    )
    for run in waiting:
        Run.objects.filter(pk=run.pk).update(
            state=State.CANCELLED, cancel_requested_at=Now(), finished_at=Now()
        )
        Share.objects.filter(user_id=run.submission.owner_id, priority=run.priority).update(
            finish=F("finish") - run.sessions
        )
    return len(waiting)


def claimable(
    versions: Mapping[str, int] | None = None, machine_class: str | None = None
) -> QuerySet[Run]:
    """Return the queue, first in line first; for these benchmark versions and this class only, if they are given."""
    waiting = Run.objects.filter(
        Q(not_before__isnull=True) | Q(not_before__lte=Now()), state=State.QUEUED
    )
    if versions is not None:
        known = Q(pk__in=[])
        for benchmark, version in versions.items():
            known |= Q(benchmark=benchmark, benchmark_version=version)
        waiting = waiting.filter(known)
    if machine_class is not None:
        waiting = waiting.filter(wanted_class__in=("", machine_class))
    return waiting.order_by("priority", "virtual_time", "id")


def claim(slot: Slot, versions: Mapping[str, int] | None = None) -> Run | None:
    """Take the first run of the queue for this slot; None when there is none or the slot is busy.

    `versions` are the benchmarks that the worker has; runs of others are left to other workers, as are those that ask
    for another class of machines.
    The run comes with its submission. 2 SQL statements, 1 when there is none; outside a transaction each is its own.
    On PostgreSQL a row that another worker is taking is passed over (SKIP LOCKED); on SQLite there is one writer.
    """
    if versions is not None and not versions:
        return None
    known = None if versions is None else tuple(sorted(versions.items()))
    sql, lease, first = _claim_statement(
        known, slot.machine.machine_class, settings.KEYDROME_LEASE_SECONDS
    )
    # A statement that fails would end a transaction around it, so there it is taken back alone.
    alone = transaction.atomic() if connection.in_atomic_block else nullcontext()
    try:
        with alone:
            taken = list(Run.objects.raw(sql, [*lease, slot.machine.pk, slot.number, *first]))
    except IntegrityError:
        # The partial unique index: this slot already has an active run.
        return None
    if not taken:
        return None
    run = taken[0]
    run.machine = slot.machine
    (run.submission,) = Submission.objects.raw(_SUBMISSION, [run.submission_id])
    return run


@lru_cache(maxsize=8)  # a process has one; tests have several
def _claim_statement(
    versions: tuple[tuple[str, int], ...] | None, machine_class: str, lease_seconds: float
) -> tuple[str, tuple[Any, ...], tuple[Any, ...]]:
    """Return a claim's SQL, the lease's parameters, which stand first, and those of the choice, which stand last."""
    queue = claimable(None if versions is None else dict(versions), machine_class)
    first, first_parameters = queue.values("pk")[:1].query.sql_with_params()
    if connection.features.has_select_for_update_skip_locked:
        first += " FOR UPDATE SKIP LOCKED"
    now, lease_end, lease_parameters = _clock(lease_seconds)
    sql = _CLAIM.format(now=now, lease_end=lease_end, first=first)
    return sql, lease_parameters, tuple(first_parameters)


@cache
def _clock(lease_seconds: float) -> tuple[str, str, tuple[Any, ...]]:
    """Return the SQL of now and of the end of a lease taken now, and the parameters of the latter."""
    query = Run.objects.all().query
    compiler = query.get_compiler(connection=connection)
    now, _ = compiler.compile(Now())
    lease_end, parameters = compiler.compile(_from_now(lease_seconds).resolve_expression(query))
    return now, lease_end, tuple(parameters)


def beat(run_id: int, attempt: int, progress: float, note: str) -> Beat:
    """Extend the lease, publish progress (0 to 1) and learn whether to go on. 1 SQL statement."""
    now, lease_end, lease = _clock(settings.KEYDROME_LEASE_SECONDS)
    share = min(max(progress, 0.0), 1.0)
    with connection.cursor() as cursor:
        cursor.execute(
            _BEAT.format(now=now, lease_end=lease_end),
            [*lease, share, note[:200], run_id, attempt],
        )
        owned = cursor.fetchone()
    if owned is None:
        return Beat.LOST
    return Beat.GO_ON if owned[0] is None else Beat.CANCEL


def start(run_id: int, attempt: int) -> bool:
    """Say that execution starts; False when the run is no longer ours. 1 SQL statement."""
    return bool(
        _owned(run_id, attempt).update(
            state=State.RUNNING, started_at=Now(), heartbeat_at=Now(), lease_until=_lease_end()
        )
    )


def finish_cancelled(run_id: int, attempt: int) -> bool:
    """End a run whose cancellation was asked for; False when it is no longer ours. 1 SQL statement."""
    return bool(
        _owned(run_id, attempt).update(
            state=State.CANCELLED, finished_at=Now(), lease_until=None, progress_note=""
        )
    )


def requeue(run_id: int, attempt: int) -> bool:
    """Put a run back into the queue, to be tried again a little later. 1 SQL statement."""
    return bool(
        _owned(run_id, attempt).update(
            state=State.QUEUED,
            not_before=_from_now(_BACKOFF_SECONDS * attempt),
            started_at=None,
            lease_until=None,
            progress=0.0,
            progress_note="",
        )
    )


def lapsed() -> QuerySet[Run]:
    """Return the runs whose lease ran out: their worker died, hangs or cannot reach the database."""
    too_far = _from_now(_LEASES_AHEAD * settings.KEYDROME_LEASE_SECONDS)
    return Run.objects.filter(
        Q(lease_until__lt=Now()) | Q(lease_until__gt=too_far), state__in=ACTIVE_STATES
    )
