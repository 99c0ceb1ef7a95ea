"""Enters a team's submissions in a contest. The quota limits how many submissions a team may enter in 24 hours."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, BinaryIO

from django.db import transaction
from django.utils import timezone

from leaderboard.catalogue import Target
from leaderboard.contests.models import Entry, Phase, Team
from leaderboard.contests.standings import boards_of
from leaderboard.services import Refused, submit
from results.counts import counted

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from leaderboard.contests.models import Contest
    from leaderboard.models import Submission
    from leaderboard.viewer import Viewer

DAY = timedelta(days=1)
_MINUTE = "%Y-%m-%d %H:%M"


def left_today(team: Team) -> int:
    """Return how many submissions the team may still enter within 24 hours. 1 SQL statement."""
    recent = team.entries.filter(entered_at__gt=timezone.now() - DAY).count()
    return max(0, team.contest.quota - recent)


def targets(contest: Contest) -> list[Target]:
    """Return the benchmark instances that the boards of the contest rank, each once."""
    found = [Target(board.benchmark, board.instance) for board in boards_of(contest)]
    return list(dict.fromkeys(found))


def _reason_against(team: Team) -> str:
    """Return why the team cannot enter a submission now; an empty text if it can. Needs the team's row locked."""
    contest = team.contest
    if not contest.accepts_uploads:
        return (
            f"this contest takes submissions only from {contest.opens_at:{_MINUTE}} to "
            f"{contest.closes_at:{_MINUTE}} UTC (its phase now: {contest.phase.label})"
        )
    recent = team.entries.filter(entered_at__gt=timezone.now() - DAY).order_by("entered_at")
    times = list(recent.values_list("entered_at", flat=True))
    excess = len(times) - contest.quota
    if excess < 0:
        return ""
    said = (
        f"your team has entered {counted(len(times), 'submission')} in the last 24 hours, "
        f"and the limit in this phase is {contest.quota}"
    )
    if excess == len(times):  # the limit is 0
        frozen_accepts = contest.quota_frozen > 0 and contest.freezes_at < contest.closes_at
        if contest.phase is Phase.OPEN and frozen_accepts:
            return f"{said}: try again after {contest.freezes_at:{_MINUTE}} UTC, when the next phase begins"
        return (
            f"{said}: the contest takes no more submissions unless its organisers raise the limit"
        )
    return f"{said}: try again after {times[excess] + DAY:{_MINUTE}} UTC"


def enter_new(
    team: Team,
    *,
    by: User,
    file: BinaryIO,
    file_name: str,
    description: str,
    configuration: str,
) -> Entry:
    """Submit a file for all boards of the contest, and enter the submission. Raises Refused, and then writes no row."""
    with transaction.atomic():
        team = _locked(team)
        if reason := _reason_against(team):
            raise Refused([reason])
        submission = submit(
            owner=by,
            file=file,
            file_name=file_name,
            description=description,
            targets=targets(team.contest),
            configuration=configuration,
        )
        return Entry.objects.create(contest=team.contest, team=team, submission=submission)


def enter(team: Team, submission: Submission) -> Entry:
    """Enter a submission that a member uploaded after the contest had opened. Raises Refused."""
    with transaction.atomic():
        team = _locked(team)
        contest = team.contest
        reason = _reason_against(team)
        if not reason and submission.created_at < contest.opens_at:
            reason = "the file was uploaded before the contest opened: upload the file again"
        if not reason and Entry.objects.filter(contest=contest, submission=submission).exists():
            reason = "the submission is in this contest already: choose another submission"
        if reason:
            raise Refused([reason])
        return Entry.objects.create(contest=contest, team=team, submission=submission)


def entries_of_own_teams(submission: Submission, viewer: Viewer) -> list[Entry]:
    """Return the entries of this submission that belong to the viewer's teams. At most 1 SQL statement.

    Other viewers may not learn to which team the submission belongs, because teams can be anonymous.
    """
    if not viewer.is_authenticated:
        return []
    entered = Entry.objects.filter(
        submission=submission, team__members__user=viewer.pk, contest__published=True
    )
    return list(entered.select_related("contest", "team").order_by("pk"))


def _locked(team: Team) -> Team:
    """Return the team's row, locked until the transaction ends, so that two requests cannot both use up the quota."""
    return Team.objects.select_for_update(of=("self",)).select_related("contest").get(pk=team.pk)
