"""How much one user may ask of the machines: submissions a day, and submissions that have not ended.

Computed from the rows, so nothing can drift. What took no machine time or failed through our fault is not charged: a
refused file, a run that was cancelled before it started, a run that ended as *infrastructure*.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from leaderboard.fairness import Priority
from leaderboard.models import ACTIVE_STATES, Run, Share, State, Submission
from runner.contract import Verdict

if TYPE_CHECKING:
    from datetime import datetime

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

DAY = timedelta(days=1)
_NOT_CHARGED = (Verdict.INFRASTRUCTURE, Verdict.REFUSED)


def reason_against(user: User) -> str:
    """Return why this user may not submit now, empty when they may. Organisers always may.

    Call inside the transaction that submits: the user's share is locked, so two submissions at once count each other.
    At most 5 SQL statements.
    """
    if user.is_staff:
        return ""
    Share.objects.get_or_create(user_id=user.pk, priority=Priority.CONTEST)
    Share.objects.select_for_update().get(user_id=user.pk, priority=Priority.CONTEST)
    most = settings.KEYDROME_SUBMISSIONS_OPEN
    if _with_run(user, Q(state__in=(State.QUEUED, *ACTIVE_STATES))).count() >= most:
        return f"{most} of your submissions have not ended yet, the most at a time: wait for one, or cancel one"
    now = timezone.now()
    most = settings.KEYDROME_SUBMISSIONS_PER_DAY
    charged = charged_since(user, now - DAY)
    if len(charged) >= most:
        again = charged[len(charged) - most].created_at + DAY
        return (
            f"you have submitted {len(charged)} times in 24 hours, the most is {most}: "
            f"try again after {again:%H:%M} UTC"
        )
    return ""


def charged_since(user: User, begin: datetime) -> list[Submission]:
    """Return the user's submissions since then that took machine time or will, oldest first. 1 SQL statement."""
    charged = (
        Q(state__in=(State.QUEUED, *ACTIVE_STATES))
        | (Q(state=State.DONE) & ~Q(verdict__in=_NOT_CHARGED))
        | Q(state=State.CANCELLED, started_at__isnull=False)
    )
    return list(_with_run(user, charged).filter(created_at__gt=begin).order_by("created_at"))


def _with_run(user: User, which: Q) -> QuerySet[Submission]:
    """Return the user's submissions that have such a run, deleted ones included. Audits are the organisers' wish."""
    asked_for = Run.objects.filter(which, submission=OuterRef("pk"), verified=False)
    return Submission.objects.filter(Exists(asked_for), owner_id=user.pk)
