"""Limits each user's submissions: the number in 24 hours, and the number that have not ended.

The code counts rows of the tables. It keeps no counters, because counters could become wrong. The daily limit does not
count submissions that took no machine time: their file was refused, or their runs were cancelled before they started.
Nor does it count submissions that failed because of the site (verdict *infrastructure*).
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from leaderboard.models import ACTIVE_STATES, Run, Share, State, Submission
from leaderboard.queue.fairness import Priority
from runner.terms import Verdict

if TYPE_CHECKING:
    from datetime import datetime

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

DAY = timedelta(days=1)
_NOT_CHARGED = (Verdict.INFRASTRUCTURE, Verdict.REFUSED)


def reason_against(user: User) -> str:
    """Return why this user cannot submit now; an empty text if the user can. Organisers have no limit.

    Call this function inside the transaction that submits. The function locks the user's row in the table Share, so
    that the second of two concurrent submissions counts the first. At most 5 SQL statements.
    """
    if user.is_staff:
        return ""
    Share.objects.get_or_create(user_id=user.pk, priority=Priority.CONTEST)
    Share.objects.select_for_update().get(user_id=user.pk, priority=Priority.CONTEST)
    limit = settings.KEYDROME_SUBMISSIONS_OPEN
    if _with_run(user, Q(state__in=(State.QUEUED, *ACTIVE_STATES))).count() >= limit:
        return f"{limit} of your submissions have not ended yet, which is the limit: wait for one to end, or cancel one"
    now = timezone.now()
    limit = settings.KEYDROME_SUBMISSIONS_PER_DAY
    charged = charged_since(user, now - DAY)
    if len(charged) >= limit:
        again = charged[len(charged) - limit].created_at + DAY
        return (
            f"you have submitted {len(charged)} times in the last 24 hours, and the limit is {limit}: "
            f"try again after {again:%H:%M} UTC"
        )
    return ""


def charged_since(user: User, begin: datetime) -> list[Submission]:
    """Return the user's submissions since `begin` that have taken or will take machine time, oldest first.

    Submissions that failed because of the site are not included. 1 SQL statement.
    """
    charged = (
        Q(state__in=(State.QUEUED, *ACTIVE_STATES))
        | (Q(state=State.DONE) & ~Q(verdict__in=_NOT_CHARGED))
        | Q(state=State.CANCELLED, started_at__isnull=False)
    )
    return list(_with_run(user, charged).filter(created_at__gt=begin).order_by("created_at"))


def _with_run(user: User, which: Q) -> QuerySet[Submission]:
    """Return the user's submissions, including deleted ones, that have a run which matches `which`.

    Audits, which organisers queue, are not counted as runs of the user.
    """
    matching = Run.objects.filter(which, submission=OuterRef("pk"), verified=False)
    return Submission.objects.filter(Exists(matching), owner_id=user.pk)
