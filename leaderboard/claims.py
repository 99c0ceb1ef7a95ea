"""The queue: the run's row is the queue entry, and every step is one conditional UPDATE.

A worker owns a run while its *lease* lasts; a beat extends it. A step that changes no row means
that somebody else owns the run now, and whatever the caller holds is to be thrown away. Works alike
on SQLite and PostgreSQL. Leases are taken and compared on the database's clock only: a machine whose
clock is wrong, or jumps, harms no run.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import DateTimeField, Expression, ExpressionWrapper, F, Max, Q
from django.db.models.functions import Now

from leaderboard import fairness
from leaderboard.models import ACTIVE_STATES, Machine, Run, Share, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.db.models import QuerySet

_BACKOFF_SECONDS = 5
# A lease that ends later than so many leases from now was taken before the database's clock was set back.
_LEASES_AHEAD = 10


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
    The run comes with its submission. A transaction of 2 SQL statements; the row is locked between them.
    On PostgreSQL a row that another worker is taking is passed over (SKIP LOCKED); on SQLite there is one writer.
    """
    try:
        with transaction.atomic():
            heads = claimable(versions, slot.machine.machine_class).select_related("submission")
            run = heads.select_for_update(skip_locked=True, of=("self",)).first()
            if run is None:
                return None
            Run.objects.filter(pk=run.pk).update(
                state=State.CLAIMED,
                machine=slot.machine,
                slot=slot.number,
                attempt=F("attempt") + 1,
                lease_until=_lease_end(),
                heartbeat_at=Now(),
                progress=0.0,
                progress_note="",
            )
    except IntegrityError:
        # The partial unique index: this slot already has an active run.
        return None
    run.state, run.machine, run.slot = State.CLAIMED, slot.machine, slot.number
    run.attempt += 1
    return run


def beat(run_id: int, attempt: int, progress: float, note: str) -> Beat:
    """Extend the lease, publish progress (0 to 1) and learn whether to go on. 1 SQL statement, 2 when not to."""
    owned = _owned(run_id, attempt)
    news = {
        "state": State.RUNNING,
        "lease_until": _lease_end(),
        "heartbeat_at": Now(),
        "progress": min(max(progress, 0.0), 1.0),
        "progress_note": note[:200],
    }
    if owned.filter(cancel_requested_at__isnull=True).update(**news):
        return Beat.GO_ON
    return Beat.CANCEL if owned.update(**news) else Beat.LOST


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
