"""The queue: the run's row is the queue entry, and every step is one conditional UPDATE.

A worker owns a run while its *lease* lasts; a beat extends it. A step that changes no row means
that somebody else owns the run now, and whatever the caller holds is to be thrown away. Works alike
on SQLite and PostgreSQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from leaderboard.models import ACTIVE_STATES, Machine, Run, State

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

# How many heads of the queue a worker tries before it says that others were always faster.
_CLAIM_TRIES = 20
_BACKOFF_SECONDS = 5


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


def _lease_end(now: datetime) -> datetime:
    """Return when a lease taken now runs out."""
    return now + timedelta(seconds=settings.KEYDROME_LEASE_SECONDS)


def _owned(run_id: int, attempt: int) -> QuerySet[Run]:
    """Return the run if this attempt still owns it."""
    return Run.objects.filter(pk=run_id, attempt=attempt, state__in=ACTIVE_STATES)


def claimable(now: datetime) -> QuerySet[Run]:
    """Return the queue, first in line first."""
    return Run.objects.filter(
        Q(not_before__isnull=True) | Q(not_before__lte=now), state=State.QUEUED
    ).order_by("priority", "id")


def claim(slot: Slot) -> Run | None:
    """Take the first run of the queue for this slot; None when there is none or the slot is busy.

    2 SQL statements, and 2 more for each time that another worker was faster; 1 to load the
    submission.
    """
    for _ in range(_CLAIM_TRIES):
        now = timezone.now()
        run_id = claimable(now).values_list("pk", flat=True).first()
        if run_id is None:
            return None
        try:
            with transaction.atomic():
                taken = Run.objects.filter(pk=run_id, state=State.QUEUED).update(
                    state=State.CLAIMED,
                    machine=slot.machine,
                    slot=slot.number,
                    attempt=F("attempt") + 1,
                    lease_until=_lease_end(now),
                    heartbeat_at=now,
                    progress=0.0,
                    progress_note="",
                )
        except IntegrityError:
            # The partial unique index: this slot already has an active run.
            return None
        if taken:
            return Run.objects.select_related("submission", "machine").get(pk=run_id)
    return None


def beat(run_id: int, attempt: int, progress: float, note: str) -> Beat:
    """Extend the lease, publish progress (0 to 1) and learn whether to go on. 2 SQL statements."""
    now = timezone.now()
    alive = _owned(run_id, attempt).update(
        state=State.RUNNING,
        lease_until=_lease_end(now),
        heartbeat_at=now,
        progress=min(max(progress, 0.0), 1.0),
        progress_note=note[:200],
    )
    if not alive:
        return Beat.LOST
    cancelled = Run.objects.filter(pk=run_id, cancel_requested_at__isnull=False).exists()
    return Beat.CANCEL if cancelled else Beat.GO_ON


def start(run_id: int, attempt: int) -> bool:
    """Say that execution starts; False when the run is no longer ours. 1 SQL statement."""
    now = timezone.now()
    return bool(
        _owned(run_id, attempt).update(
            state=State.RUNNING, started_at=now, heartbeat_at=now, lease_until=_lease_end(now)
        )
    )


def finish_cancelled(run_id: int, attempt: int) -> bool:
    """End a run whose cancellation was asked for; False when it is no longer ours. 1 SQL statement."""
    return bool(
        _owned(run_id, attempt).update(
            state=State.CANCELLED, finished_at=timezone.now(), lease_until=None, progress_note=""
        )
    )


def requeue(run_id: int, attempt: int) -> bool:
    """Put a run back into the queue, to be tried again a little later. 1 SQL statement."""
    return bool(
        _owned(run_id, attempt).update(
            state=State.QUEUED,
            not_before=timezone.now() + timedelta(seconds=_BACKOFF_SECONDS * attempt),
            lease_until=None,
            progress=0.0,
            progress_note="",
        )
    )


def lapsed(now: datetime) -> QuerySet[Run]:
    """Return the runs whose lease ran out: their worker died, hangs or cannot reach the database."""
    return Run.objects.filter(state__in=ACTIVE_STATES, lease_until__lt=now)
