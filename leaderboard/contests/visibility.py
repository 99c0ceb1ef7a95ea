"""Decides which runs a contest hides, and from whom. Each function adds a condition to a query and executes no SQL.

Until a contest's results, three rules hide runs from everyone outside the team: the contest keeps runs private, the
team is anonymous, or the run ended after the freeze. The owner of the submission, the team and the contest's officials
see these runs. The site's organisers see all runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import DateTimeField, Exists, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from leaderboard.contests.models import Entry, Member, Official

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from leaderboard.queries import Viewer


def hidden_runs(*, submission: str, finished_at: str, viewer: Viewer | None = None) -> Exists:
    """Return the condition that a contest hides a run from this viewer; without a viewer, from the public.

    `submission` and `finished_at` name the columns of the outer query with the submission's id and the end of the run.
    A run that has not ended counts as ending now.
    """
    return Exists(_seen_by_others_only(_hiding(submission, finished_at), viewer))


def hidden_until(*, submission: str, finished_at: str) -> Subquery:
    """Return when the public will see a run that a contest hides; NULL if nothing hides it."""
    hiding = _hiding(submission, finished_at).order_by("-contest__results_at")
    return Subquery(hiding.values("contest__results_at")[:1])


def _hiding(submission: str, finished_at: str) -> QuerySet[Entry]:
    """Return the entries that hide the run of the outer query from the public."""
    now = timezone.now()
    end = Coalesce(OuterRef(finished_at), Value(now, output_field=DateTimeField()))
    return Entry.objects.filter(
        Q(contest__runs_private=True) | Q(team__anonymous=True) | Q(contest__freezes_at__lt=end),
        submission=OuterRef(submission),
        contest__results_at__gt=now,
    )


def hidden_submissions(viewer: Viewer) -> Exists:
    """Return the condition that a contest hides a submission: it is private, anonymous, or entered after the freeze."""
    hiding = Entry.objects.filter(
        Q(contest__runs_private=True)
        | Q(team__anonymous=True)
        | Q(contest__freezes_at__lt=OuterRef("created_at")),
        submission=OuterRef("pk"),
        contest__results_at__gt=timezone.now(),
    )
    return Exists(_seen_by_others_only(hiding, viewer))


def _seen_by_others_only(entries: QuerySet[Entry], viewer: Viewer | None) -> QuerySet[Entry]:
    """Leave out the entries that this viewer may see anyway."""
    if viewer is None or not viewer.is_authenticated:
        return entries
    user = viewer.pk
    return entries.exclude(submission__owner_id=user).exclude(
        Exists(Member.objects.filter(team=OuterRef("team"), user_id=user))
        | Exists(Official.objects.filter(contest=OuterRef("contest"), user_id=user))
    )
