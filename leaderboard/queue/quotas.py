"""Limits each user's submissions: the number in 24 hours, and the number that have not ended.

The code counts rows of the tables. It keeps no counters, because counters could become wrong. The daily limit does not
count submissions that took no machine time: their file was refused, or their runs were cancelled before they started.
Nor does it count submissions that failed because of the site (verdict *infrastructure*).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, Sum
from django.utils import timezone

from leaderboard.models import ACTIVE_STATES, Run, Share, State, Submission
from leaderboard.queue.fairness import Priority
from results.counts import counted
from runner.terms import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

DAY = timedelta(days=1)
_MINUTE = "%Y-%m-%d %H:%M"
_NOT_CHARGED = (Verdict.INFRASTRUCTURE, Verdict.REFUSED)


@dataclass(frozen=True, slots=True)
class Left:
    """How many more submissions a user can make.

    `open` is what the limit of unfinished submissions allows, and `day` what the limit for 24 hours allows.
    """

    open: int
    day: int

    @property
    def now(self) -> int:
        """Return how many submissions the user can make now."""
        return max(0, min(self.open, self.day))


def left(user: User) -> Left | None:
    """Return how many submissions the user can still make; None for organisers (no limit). 2 SQL statements."""
    if user.is_staff:
        return None
    return Left(
        open=settings.KEYDROME_SUBMISSIONS_OPEN - _open(user),
        day=settings.KEYDROME_SUBMISSIONS_PER_DAY - len(charged_since(user, timezone.now() - DAY)),
    )


def reason_against(user: User, wanted: int = 1) -> str:
    """Return why this user cannot make `wanted` submissions now; an empty text if the user can.

    Organisers have no limit. Call this function inside the transaction that submits. The function locks the user's row
    in the table Share, so that the second of two concurrent submissions counts the first. At most 5 SQL statements,
    besides those that create the row.
    """
    if user.is_staff:
        return ""
    Share.objects.get_or_create(user_id=user.pk, priority=Priority.CONTEST)
    Share.objects.select_for_update().get(user_id=user.pk, priority=Priority.CONTEST)
    open_limit = settings.KEYDROME_SUBMISSIONS_OPEN
    day_limit = settings.KEYDROME_SUBMISSIONS_PER_DAY
    if min(open_limit, day_limit) < 1:
        return (
            "the site takes no submissions now, because its organisers have set a limit of submissions to 0: "
            "ask an organiser when the site takes submissions again"
        )
    unfinished = _open(user)
    if unfinished + wanted > open_limit:
        return _too_many_open(unfinished, wanted, open_limit)
    charged = charged_since(user, timezone.now() - DAY)
    if len(charged) + wanted > day_limit:
        return _too_many_a_day([one.created_at for one in charged], wanted, day_limit)
    return ""


def _too_many_open(unfinished: int, wanted: int, limit: int) -> str:
    """Return why a user with this many unfinished submissions cannot make `wanted` more, and what to do."""
    free = limit - unfinished
    if wanted > limit:
        now = f" ({unfinished:,} {'is' if unfinished == 1 else 'are'} now)" if unfinished else ""
        return (
            f"you want {wanted} submissions, and at most {limit} of your submissions may be queued or running at the "
            f"same time{now}: choose at most {counted(free if free > 0 else limit, 'configuration')}"
        )
    open_ones = counted(unfinished, "of your submissions has", "of your submissions have")
    more = f", you want {wanted} more" if wanted > 1 else ""
    fewer = f", or choose at most {counted(free, 'configuration')}" if free > 0 else ""
    return (
        f"{open_ones} not ended yet{more}, and the limit is {limit}: "
        f"wait until submissions end, or cancel runs{fewer}"
    )


def _too_many_a_day(charged: Sequence[datetime], wanted: int, limit: int) -> str:
    """Return why a user cannot make `wanted` more submissions, and what to do.

    `charged` has the times of the user's submissions of the last 24 hours, oldest first.
    """
    more = f", you want {wanted} more" if wanted > 1 else ""
    said = (
        f"you have submitted {counted(len(charged), 'time')} in the last 24 hours{more}, "
        f"and the limit is {limit}"
    )
    free = limit - len(charged)
    excess = wanted - free
    advice = []
    if free > 0:
        advice.append(f"choose at most {counted(free, 'configuration')}")
    if excess <= len(charged):
        advice.append(f"try again after {charged[excess - 1] + DAY:{_MINUTE}} UTC")
    if not advice:
        advice.append(
            f"you may submit one configuration after {charged[-free] + DAY:{_MINUTE}} UTC, and more later"
        )
    return f"{said}: {', or '.join(advice)}"


def repetitions_left(user: User) -> int | None:
    """Return how many sessions of repeated runs the user can still queue, or None for organisers. 1 SQL statement."""
    if user.is_staff:
        return None
    used = _repeated(user).aggregate(sessions=Sum("sessions"))["sessions"] or 0
    return max(0, settings.KEYDROME_REPEATED_SESSIONS_PER_DAY - used)


def _repeated(user: User) -> QuerySet[Run]:
    """Return the query for the user's repeated runs that count towards the limit for 24 hours. Executes no SQL."""
    never_ran = Q(state=State.CANCELLED, started_at__isnull=True)
    return Run.objects.filter(
        ~never_ran,
        submission__owner_id=user.pk,
        priority=Priority.RERUN,
        verified=False,
        hidden=None,
        created_at__gt=timezone.now() - DAY,
    )


def reason_against_repetitions(user: User, sessions: int, *, runs: int = 0) -> str:
    """Return why this user cannot repeat runs with this many sessions in all; an empty text if the user can.

    `runs` is the number of runs that share the sessions equally; it is 0 if the user cannot choose their number.
    Organisers have no limit.
    Call this inside the transaction that queues the runs. The function locks the user's row in the table Share, so that
    the second of two concurrent requests counts the first. At most 5 SQL statements, besides those that create the row.
    """
    if user.is_staff:
        return ""
    Share.objects.get_or_create(user_id=user.pk, priority=Priority.RERUN)
    Share.objects.select_for_update().get(user_id=user.pk, priority=Priority.RERUN)
    left = repetitions_left(user)
    if left is None or sessions <= left:
        return ""
    limit = settings.KEYDROME_REPEATED_SESSIONS_PER_DAY
    when = _when_repeatable(user, sessions)
    later = f"try again after {when:{_MINUTE}} UTC" if when else ""
    if runs and not later and left < runs and (when := _when_repeatable(user, runs)):
        later = f"try again with one session after {when:{_MINUTE}} UTC"
    fewer = f"choose at most {counted(left // runs, 'session')}" if 0 < runs <= left else ""
    advice = ", or ".join(filter(None, (fewer, later))) or "ask an organiser to repeat the run"
    each = f" ({sessions // runs} for each of {counted(runs, 'run')})" if runs else ""
    more = f"only {left} more" if left else "no more"
    return (
        f"{counted(sessions, 'session is', 'sessions are')} needed{each}, and you may repeat {more} now "
        f"(the limit is {counted(limit, 'session')} in 24 hours): {advice}"
    )


def _when_repeatable(user: User, sessions: int) -> datetime | None:
    """Return when the limit for 24 hours will allow this many sessions; None if the limit itself is smaller.

    1 SQL statement.
    """
    repeated = list(_repeated(user).order_by("created_at").values_list("created_at", "sessions"))
    free = settings.KEYDROME_REPEATED_SESSIONS_PER_DAY - sum(count for _, count in repeated)
    for created_at, count in repeated:
        free += count
        if free >= sessions:
            return created_at + DAY
    return None


def _open(user: User) -> int:
    """Return the number of the user's submissions that have not ended. 1 SQL statement."""
    return _with_run(user, Q(state__in=(State.QUEUED, *ACTIVE_STATES))).count()


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

    Audits, and runs on the secret instances of contests, are not counted as runs of the user: organisers queue them.
    """
    matching = Run.objects.filter(which, submission=OuterRef("pk"), verified=False, hidden=None)
    return Submission.objects.filter(Exists(matching), owner_id=user.pk)
