"""Creates teams of a contest, invites users to them, and lets users join and leave them.

Users can create or join a team until the uploads of the contest end, unless the organisers close the sign-up earlier.
A refused request raises `services.Refused` with the reason.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max

from leaderboard.contests.models import (
    TEAM_NAME_MAX,
    Admission,
    Contest,
    Invitation,
    Member,
    Phase,
    Team,
    new_token,
)
from leaderboard.services import Refused
from results.counts import counted
from runner.text import printable

ENDED = "the contest has ended, so its teams can no longer change"
NAME_TAKEN = "another team of this contest has this name: choose another name"


def team_of(contest: Contest, user_id: int | None) -> Team | None:
    """Return the user's team in the contest, or None. 1 SQL statement, none for an anonymous visitor."""
    if user_id is None:
        return None
    return Team.objects.filter(contest=contest, members__user_id=user_id).first()


def reason_against_sign_up(contest: Contest, user: User) -> str:
    """Return why the user cannot create or join a team now; an empty text if the user can. At most 3 SQL statements."""
    return reason_against_joining(contest) or _reason_against_user(contest, user)


def reason_against_joining(contest: Contest) -> str:
    """Return why no user can create or join a team now; an empty text if some users can. Executes no SQL."""
    if contest.phase is Phase.CLOSED:
        return "the contest has ended"
    if contest.phase is Phase.FINALS:
        return "uploads to this contest have ended"
    return "the organisers have closed the sign-up" if contest.sign_up_closed else ""


def _reason_against_user(contest: Contest, user: User) -> str:
    if contest.admission == Admission.GUESTS and not contest.guests.filter(pk=user.pk).exists():
        return "only users whom the organisers have named may enter this contest: ask an organiser to name you"
    if user.is_staff:
        return "you are an organiser of this site, and organisers see all runs"
    if contest.officials.filter(user=user).exists():
        return "you have a role in this contest, and users with a role see all runs"
    if contest.members.filter(user=user).exists():
        return "you are in a team of this contest already: leave that team first"
    return ""


def create(contest: Contest, name: str, *, by: User, anonymous: bool = False) -> Team:
    """Create a team with one member. Raises Refused if the user may not sign up, or if the name is empty or taken."""
    with transaction.atomic():
        contest = _locked(contest)
        if reason := reason_against_sign_up(contest, by):
            raise Refused([f"you cannot create a team, because {reason}"])
        shown = _clean(contest, name)
        last = contest.teams.aggregate(last=Max("number"))["last"] or 0
        team = Team.objects.create(
            contest=contest, number=last + 1, name=shown, anonymous=anonymous
        )
        Member.objects.create(contest=contest, team=team, user=by)
    return team


def _locked(contest: Contest) -> Contest:
    """Return the contest's row, locked until the transaction ends. So two sign-ups cannot both take the last place."""
    return Contest.objects.select_for_update().get(pk=contest.pk)


def _clean(contest: Contest, name: str, *, team: Team | None = None) -> str:
    """Return the name as one line of printable text. Raises Refused if it is empty, too long, taken or misleading."""
    shown = printable(" ".join(name.split()))
    if not shown or len(shown) > TEAM_NAME_MAX:
        raise Refused(
            [
                f"the name has {len(shown)} characters: choose one with 1 to {TEAM_NAME_MAX} printable characters"
            ]
        )
    if shown.casefold().startswith("anonymous team"):
        raise Refused(
            ['names that begin with "Anonymous team" are for anonymous teams: choose another name']
        )
    others = contest.teams.exclude(pk=team.pk) if team else contest.teams
    if others.filter(name__iexact=shown).exists():
        raise Refused([NAME_TAKEN])
    return shown


def change(team: Team, name: str, *, anonymous: bool) -> None:
    """Change the name of a team, and whether the team is anonymous.

    Raises Refused if the contest has ended, or if `_clean` refuses the name.
    """
    try:
        with transaction.atomic():
            if team.contest.phase is Phase.CLOSED:
                raise Refused([ENDED])
            team.name = _clean(team.contest, name, team=team)
            team.anonymous = anonymous
            team.save(update_fields=["name", "anonymous"])
    except IntegrityError as error:
        raise Refused([NAME_TAKEN]) from error


def invite(team: Team, user_name: str) -> bool:
    """Invite the user with this name. Return False if there is no such user, or if the user has an invitation already.

    A page must not tell the two cases apart, because the answer would reveal who has an account. Raises Refused if the
    sign-up is over, because no user could accept the invitation.
    """
    if reason := reason_against_joining(team.contest):
        raise Refused([f"no user can join the team now, because {reason}"])
    user = User.objects.filter(username__iexact=user_name.strip(), is_active=True).first()
    if user is None:
        return False
    return Invitation.objects.get_or_create(team=team, user=user)[1]


def new_link(team: Team) -> None:
    """Replace the team's invitation link, so that the old one no longer works."""
    team.token = new_token()
    team.save(update_fields=["token"])


def join(team: Team, user: User) -> None:
    """Add a user who accepts an invitation or follows the link.

    Raises Refused if the team is full, the sign-up is over, or the user may not sign up.
    """
    with transaction.atomic():
        contest = _locked(team.contest)
        if reason := reason_against_sign_up(contest, user):
            raise Refused([f"you cannot join the team, because {reason}"])
        if team.members.count() >= contest.team_size:
            raise Refused([_full(contest)])
        Member.objects.create(contest=contest, team=team, user=user)
        Invitation.objects.filter(team__contest=contest, user=user).delete()


def _full(contest: Contest) -> str:
    """Return why no further user can join a full team, and what to do."""
    if contest.team_size == 1:
        return "the team is full: a team of this contest has only one member; create a team of your own"
    return (
        f"the team is full: a team has at most {counted(contest.team_size, 'member')}; "
        "join or create another team"
    )


def leave(team: Team, user: User) -> None:
    """Take a user out of a team. A team without members and entries is deleted.

    Raises Refused if the contest has ended, because its teams then stay as they are. Also raises Refused if the user
    has entries, because entries belong to the team, and a user must not take them to another team.
    """
    with transaction.atomic():
        if _locked(team.contest).phase is Phase.CLOSED:
            raise Refused([ENDED])
        if team.entries.filter(submission__owner=user).exists():
            raise Refused(["your entries belong to this team, so you cannot leave the team"])
        Member.objects.filter(team=team, user=user).delete()
        if not team.members.exists() and not team.entries.exists():
            team.delete()
