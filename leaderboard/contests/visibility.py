"""Decides which runs a contest hides, and from whom. The functions return parts of queries and execute no SQL.

Until a contest's results, the contest hides some runs of its entries. If the contest keeps runs private or the team is
anonymous, these are all runs of the entry; otherwise they are the runs that ended after the freeze. Only the owner of
the submission, the team and the contest's officials (users with a role in it) see these runs.

A hidden instance is a benchmark instance with secret parameters. Until the instance is published, only the contest's
officials see its runs. The runs of an instance that was removed from the contest stay visible only to the officials.

The site's organisers count as officials of every contest, except of one in which they are in a team.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import DateTimeField, Exists, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from leaderboard.contests.models import Entry, HiddenInstance, Member, Official

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from leaderboard.viewer import Viewer


def unseen_runs(viewer: Viewer | None = None) -> Q:
    """Return a condition for a query of runs: this viewer (None: the public) may not see the run."""
    return Q(
        hidden_runs(submission="submission", finished_at="finished_at", viewer=viewer)
    ) | secret_runs(viewer)


def secret_runs(viewer: Viewer | None = None) -> Q:
    """Return a condition for a query of runs: the run plays an instance that is still hidden from this viewer."""
    now = timezone.now()
    secret = HiddenInstance.objects.filter(
        Q(removed_at__isnull=False)
        | Q(contest__results_at__gt=now) & (Q(publish_at=None) | Q(publish_at__gt=now)),
        pk=OuterRef("hidden"),
    )
    if viewer is not None and viewer.is_authenticated:
        secret = secret.exclude(_runs_contest(viewer))
    return Q(hidden__isnull=False) & Q(Exists(secret))


def _runs_contest(viewer: User) -> Q:
    """Return the condition that the viewer is an official of the outer row's contest."""
    if viewer.is_staff:
        member = Exists(Member.objects.filter(contest=OuterRef("contest"), user_id=viewer.pk))
        return ~Q(member)
    return Q(Exists(Official.objects.filter(contest=OuterRef("contest"), user_id=viewer.pk)))


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
    """Return the entries whose contests hide the run of the outer query from the public."""
    now = timezone.now()
    end = Coalesce(OuterRef(finished_at), Value(now, output_field=DateTimeField()))
    return Entry.objects.filter(
        Q(contest__runs_private=True) | Q(team__anonymous=True) | Q(contest__freezes_at__lt=end),
        submission=OuterRef(submission),
        contest__results_at__gt=now,
    )


def hidden_submissions(viewer: Viewer) -> Exists:
    """Return a condition for a query of submissions: a contest hides the submission from this viewer.

    The reason is that the contest keeps runs private, that the team is anonymous, or that the submission was made after
    the freeze.
    """
    hiding = Entry.objects.filter(
        Q(contest__runs_private=True)
        | Q(team__anonymous=True)
        | Q(contest__freezes_at__lt=OuterRef("created_at")),
        submission=OuterRef("pk"),
        contest__results_at__gt=timezone.now(),
    )
    return Exists(_seen_by_others_only(hiding, viewer))


def _seen_by_others_only(entries: QuerySet[Entry], viewer: Viewer | None) -> QuerySet[Entry]:
    """Leave out the entries that this viewer may see as a member of the team, the owner or an official."""
    if viewer is None or not viewer.is_authenticated:
        return entries
    member = Exists(Member.objects.filter(team=OuterRef("team"), user_id=viewer.pk))
    return (
        entries.exclude(submission__owner_id=viewer.pk)
        .exclude(member)
        .exclude(_runs_contest(viewer))
    )
