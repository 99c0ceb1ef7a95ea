"""Implements the queue of runs in the table of runs: enqueue, cancel, claim, heartbeat, requeue.

A worker is a process that executes runs. A claim gives a worker a *lease*: the right to execute the run until a given
time. Each heartbeat extends the lease. After the lease has expired, services.recover_lost queues the run again, and the
next claim is a new attempt. Claim, heartbeat, start, finish_cancelled and requeue each execute a single conditional
UPDATE of the run's row. If a claim changes no row, there is no run to claim. If another of these functions changes no
row, the worker's attempt no longer owns the run, and the worker must discard its result. Only the database's clock sets
and compares leases, so a worker with a wrong clock does no harm. The code works on SQLite and on PostgreSQL.

The queue is ordered by priority, then by virtual time, which fairness.py computes so that users share the machines. A
run takes one unit of virtual time for each of its sessions (repetitions of the benchmark). The table Share has a row
for each user and priority, with the virtual time at which the user's runs end.

The SQL of a claim is cached, because building the SQL takes longer than the rest of a claim. Only `claimable` defines
which runs can be claimed, and in which order. Its SQL is part of the claim's statement.
"""

from __future__ import annotations

import json
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

from leaderboard.models import ACTIVE_STATES, Machine, Run, Share, State, Submission
from leaderboard.queue import fairness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.db.models import QuerySet

_BACKOFF_SECONDS = 5
# A lease that ends more than this many lease lengths in the future counts as expired. Such a lease exists if the
# database's clock was set back, or KEYDROME_LEASE_SECONDS was reduced, after the lease was written.
_LEASES_AHEAD = 10

# A single statement finds and claims a run, so no other worker can claim the run in between. Outside a
# transaction, the database releases all locks when the statement ends.
_CLAIM = """
UPDATE leaderboard_run SET lease_until = {lease_end}, heartbeat_at = {now}, machine_id = %s, slot = %s,
  state = 'claimed', attempt = attempt + 1, progress = 0.0, progress_note = '',
  live = NULL
WHERE id = ({first}) RETURNING *"""
_SUBMISSION = "SELECT * FROM leaderboard_submission WHERE id = %s"
_HEARTBEAT = """
UPDATE leaderboard_run SET lease_until = {lease_end}, heartbeat_at = {now}, progress = %s, progress_note = %s,
  live = COALESCE({live}, live), state = 'running'
WHERE id = %s AND attempt = %s AND state IN ('claimed', 'running') RETURNING cancel_requested_at"""


class Heartbeat(Enum):
    """The reply to a heartbeat, which tells the worker whether to continue.

    CANCEL: stop, because a user has cancelled the run. LOST: stop, because this worker no longer owns the run.
    """

    CONTINUE = "continue"
    CANCEL = "cancel"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of a machine, i.e. a place in which one run at a time executes, with a sandbox of its own."""

    machine: Machine
    number: int


def _from_now(seconds: float) -> Expression:
    """Return the expression for the time `seconds` from now, by the database's clock."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())


def _lease_end() -> Expression:
    """Return the expression for the end of a lease that starts now."""
    return _from_now(settings.KEYDROME_LEASE_SECONDS)


def _owned(run_id: int, attempt: int) -> QuerySet[Run]:
    """Return a query that finds the run only while this attempt owns the run."""
    return Run.objects.filter(pk=run_id, attempt=attempt, state__in=ACTIVE_STATES)


def enqueue(owner_id: int, runs: Sequence[Run]) -> list[Run]:
    """Save new runs of one user and one priority in the queue. The runs start in the given order.

    Call this function inside a transaction. The function locks the user's row for this priority in the table Share. So
    two calls for one user and one priority execute one after the other. At most 6 SQL statements.
    """
    if not runs:
        return []
    priority = runs[0].priority
    Share.objects.get_or_create(user_id=owner_id, priority=priority)
    share = Share.objects.select_for_update().get(user_id=owner_id, priority=priority)
    claimed = Run.objects.filter(priority=priority, attempt__gt=0).aggregate(
        clock=Max("virtual_time")
    )
    times, share.finish = fairness.virtual_times(
        claimed["clock"] or 0, share.finish, [run.sessions for run in runs]
    )
    for run, time in zip(runs, times, strict=True):
        run.virtual_time = time
    share.save(update_fields=["finish"])
    return Run.objects.bulk_create(runs)


def cancel_waiting(runs: QuerySet[Run]) -> int:
    """Cancel the queued runs among `runs`, and return their number.

    For each cancelled run, `finish` in the owner's row of Share (the virtual time at which the owner's runs end) is
    reduced by the run's number of sessions. So the owner's next runs start earlier. Call this function inside a
    transaction. 1 SQL statement, and 2 for each cancelled run.
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
    """Return the runs that can be claimed now, in queue order (queue/fairness.py explains the order).

    If `versions` is given, only runs of these benchmark versions are returned. If `machine_class` is given, only runs
    that want this class or any class are returned.
    """
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
    """Claim the first run of the queue for this slot, and return it with its submission loaded.

    Returns None if there is no run to claim, or if the slot already executes a run. `versions` contains the worker's
    version of each benchmark (None: any version). Runs of other versions, and runs that want another machine class
    (processor, number of CPUs, memory), are left to other workers.

    2 SQL statements, or at most 1 if no run is claimed. Outside a transaction each statement commits alone. PostgreSQL
    skips rows that another worker is claiming (SKIP LOCKED); SQLite has only one writer at a time.
    """
    if versions is not None and not versions:
        return None
    known = None if versions is None else tuple(sorted(versions.items()))
    sql, lease, first = _claim_statement(
        known, slot.machine.machine_class, settings.KEYDROME_LEASE_SECONDS
    )
    # If the statement fails, PostgreSQL aborts the surrounding transaction. A savepoint limits the abort to the
    # statement.
    alone = transaction.atomic() if connection.in_atomic_block else nullcontext()
    try:
        with alone:
            taken = list(Run.objects.raw(sql, [*lease, slot.machine.pk, slot.number, *first]))
    except IntegrityError:
        # This slot already has an active run. The unique index one_active_run_per_slot forbids a second one.
        return None
    if not taken:
        return None
    run = taken[0]
    run.machine = slot.machine
    (run.submission,) = Submission.objects.raw(_SUBMISSION, [run.submission_id])
    return run


@lru_cache(maxsize=8)  # a worker uses only one statement; tests use several
def _claim_statement(
    versions: tuple[tuple[str, int], ...] | None, machine_class: str, lease_seconds: float
) -> tuple[str, tuple[Any, ...], tuple[Any, ...]]:
    """Return the SQL of a claim, the parameters of the lease, and the parameters of the query that finds the run.

    The caller inserts the machine and the slot between the two lists of parameters.
    """
    queue = claimable(None if versions is None else dict(versions), machine_class)
    first, first_parameters = queue.values("pk")[:1].query.sql_with_params()
    if connection.features.has_select_for_update_skip_locked:
        first += " FOR UPDATE SKIP LOCKED"
    now, lease_end, lease_parameters = _clock(lease_seconds)
    sql = _CLAIM.format(now=now, lease_end=lease_end, first=first)
    return sql, lease_parameters, tuple(first_parameters)


@cache
def _clock(lease_seconds: float) -> tuple[str, str, tuple[Any, ...]]:
    """Return SQL for the current time, SQL for the end of a lease that starts now, and the parameters of the lease."""
    query = Run.objects.all().query
    compiler = query.get_compiler(connection=connection)
    now, _ = compiler.compile(Now())
    lease_end, parameters = compiler.compile(_from_now(lease_seconds).resolve_expression(query))
    return now, lease_end, tuple(parameters)


def heartbeat(
    run_id: int, attempt: int, progress: float, note: str, live: dict[str, Any] | None = None
) -> Heartbeat:
    """Extend the lease and store the progress (0 to 1); say whether the worker must stop. 1 SQL statement.

    `live` has new curves for the run's page (live_curve.py); without it, the stored ones stay.
    """
    now, lease_end, lease = _clock(settings.KEYDROME_LEASE_SECONDS)
    fraction = min(max(progress, 0.0), 1.0)
    with connection.cursor() as cursor:
        cursor.execute(
            _HEARTBEAT.format(now=now, lease_end=lease_end, live=_json_place()),
            [*lease, fraction, note[:200], json.dumps(live) if live else None, run_id, attempt],
        )
        owned = cursor.fetchone()
    if owned is None:
        return Heartbeat.LOST
    return Heartbeat.CONTINUE if owned[0] is None else Heartbeat.CANCEL


def _json_place() -> str:
    """Return the placeholder of a JSON value. PostgreSQL must know its type; SQLite stores JSON as text."""
    return "%s::jsonb" if connection.vendor == "postgresql" else "%s"


def start(run_id: int, attempt: int) -> bool:
    """Store that a run's execution starts. Return False if this attempt no longer owns the run. 1 SQL statement."""
    return bool(
        _owned(run_id, attempt).update(
            state=State.RUNNING, started_at=Now(), heartbeat_at=Now(), lease_until=_lease_end()
        )
    )


def finish_cancelled(run_id: int, attempt: int) -> bool:
    """End a run as cancelled. Return False if this attempt no longer owns the run. 1 SQL statement."""
    return bool(
        _owned(run_id, attempt).update(
            state=State.CANCELLED, finished_at=Now(), lease_until=None, progress_note="", live=None
        )
    )


def requeue(run_id: int, attempt: int) -> bool:
    """Put a run back into the queue. Return False if this attempt no longer owns the run. 1 SQL statement.

    Workers can claim the run again after a delay of _BACKOFF_SECONDS times the attempt's number (1, 2, ...).
    """
    return bool(
        _owned(run_id, attempt).update(
            state=State.QUEUED,
            not_before=_from_now(_BACKOFF_SECONDS * attempt),
            started_at=None,
            lease_until=None,
            progress=0.0,
            progress_note="",
            live=None,
        )
    )


def lapsed() -> QuerySet[Run]:
    """Return the runs whose lease has expired, or ends too far in the future (_LEASES_AHEAD).

    If a lease has expired, its worker died, hangs, or cannot reach the database.
    """
    too_far = _from_now(_LEASES_AHEAD * settings.KEYDROME_LEASE_SECONDS)
    return Run.objects.filter(
        Q(lease_until__lt=Now()) | Q(lease_until__gt=too_far), state__in=ACTIVE_STATES
    )
