"""Finds the contest of a request, and checks what the visitor may do there. Forbidden requests get a 404 response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import Http404

from leaderboard.contests.models import Contest, Phase
from leaderboard.contests.organising import Right, rights
from leaderboard.contests.teams import team_of

if TYPE_CHECKING:
    from django.http import HttpRequest

    from leaderboard.contests.models import Team


@dataclass(frozen=True, slots=True)
class Visit:
    """A contest, and the visitor's rights and team in it."""

    contest: Contest
    rights: frozenset[Right]
    team: Team | None

    @property
    def official(self) -> bool:
        """Return True if the visitor may see everything."""
        return Right.SEE in self.rights

    def may(self, right: str) -> bool:
        """Return True if the visitor has the right with this name, in lower case. Templates call this."""
        return Right[right.upper()] in self.rights

    def is_insider(self, team: Team) -> bool:
        """Return True if the visitor may know who this team is."""
        return self.official or (self.team is not None and self.team.pk == team.pk)

    def team_name(self, team: Team) -> str:
        """Return the team's name as this visitor sees it."""
        return team.shown_name(insider=self.is_insider(team))

    def hides(self, team: Team) -> bool:
        """Return True if the contest hides the runs of this team from the visitor."""
        secret = self.contest.runs_private or team.anonymous
        return secret and self.contest.phase is not Phase.CLOSED and not self.is_insider(team)


def visit(request: HttpRequest, slug: str, right: Right | None = None) -> Visit:
    """Return the contest with this slug, or respond 404.

    The response is also 404 if the contest is a draft that the visitor may not see, or if the visitor lacks `right`.
    """
    contest = Contest.objects.filter(slug=slug).first()
    if contest is None:
        raise Http404
    held = rights(contest, request.user)
    if (right is not None and right not in held) or (not contest.published and not held):
        raise Http404
    return Visit(contest, held, team_of(contest, request.user.pk))


def with_team(request: HttpRequest, slug: str) -> tuple[Visit, Team]:
    """Return the visit and the visitor's team, or respond 404 if the visitor has no team."""
    found = visit(request, slug)
    if found.team is None:
        raise Http404
    found.team.contest = found.contest
    return found, found.team
