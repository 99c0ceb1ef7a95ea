"""Tests teams: creating, inviting by name and by link, accepting, leaving, and submitting through the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from django.test import Client

from leaderboard.contests import teams
from leaderboard.contests.models import Contest, Invitation, Team
from leaderboard.services import Refused
from web.tests.contests.cups import move

if TYPE_CHECKING:
    from web.tests.contests.cups import Cup

pytestmark = pytest.mark.django_db

PAGE = "/contests/cup/team/"


def test_a_user_creates_a_team_and_submits(cup: Cup, bob: Client) -> None:
    bob.post(PAGE, {"name": "  Larch \n Team "})
    larch = Team.objects.get(number=2)
    assert larch.name == "Larch Team"
    answer = bob.post(
        "/contests/cup/submit/", {"file": cup.world.file("hot.so"), "description": "x"}
    )
    (entry,) = larch.entries.all()
    assert answer["Location"] == f"/submissions/{entry.submission_id}/"
    timed = entry.submission.runs.filter(kind="performance")
    assert {run.instance for run in timed} == {"preliminary1", "preliminary2"}


def test_a_refused_upload_enters_nothing(cup: Cup, alice: Client) -> None:
    move(cup.contest, freezes_at=0, closes_at=0)
    page = alice.post("/contests/cup/submit/", {"file": cup.world.file()}).content.decode()
    assert "This contest takes submissions only from " in page
    assert f"to {cup.contest.closes_at:%Y-%m-%d %H:%M} UTC (its phase now: finals)." in page
    assert not cup.contest.entries.exists()


@pytest.mark.parametrize("name", ["", "  ", "HERON", "anonymous team 2", "x" * 51])
def test_a_team_needs_a_name_of_its_own(cup: Cup, name: str) -> None:
    with pytest.raises(Refused):
        teams.create(cup.contest, name, by=cup.world.bob)
    assert cup.contest.teams.count() == 1


def test_an_invitation_by_name(cup: Cup, alice: Client, bob: Client) -> None:
    known = alice.post(PAGE + "invite/", {"user_name": "BOB"}, follow=True).content.decode()
    unknown = alice.post(PAGE + "invite/", {"user_name": "nemo"}, follow=True).content.decode()
    for page in (known, unknown):  # the pages do not reveal who has an account
        assert "If a user has this name" in page
    invitation = Invitation.objects.get()
    assert "You are invited to the team" in bob.get(PAGE).content.decode()
    bob.post(f"{PAGE}invitations/{invitation.pk}/", {"answer": "accept"})
    assert teams.team_of(cup.contest, cup.world.bob.pk) == cup.heron
    assert not Invitation.objects.exists()


def test_only_the_invited_user_answers_an_invitation(cup: Cup, bob: Client) -> None:
    carol = User.objects.create_user("carol")
    teams.invite(cup.heron, "carol")
    path = f"{PAGE}invitations/{Invitation.objects.get().pk}/"
    assert bob.post(path, {"answer": "accept"}).status_code == 404
    assert teams.team_of(cup.contest, carol.pk) is None
    teams.invite(cup.heron, "bob")
    bob.post(f"{PAGE}invitations/{Invitation.objects.latest('pk').pk}/", {"answer": "decline"})
    assert [one.user for one in Invitation.objects.all()] == [carol]


def test_no_user_is_invited_after_the_sign_up(cup: Cup, alice: Client) -> None:
    Contest.objects.update(sign_up_closed=True)
    page = alice.post(f"{PAGE}invite/", {"user_name": "bob"}, follow=True).content.decode()
    assert "organisers have closed the sign-up" in page
    assert not Invitation.objects.exists()


def test_the_link_asks_first_and_can_be_replaced(cup: Cup, alice: Client, bob: Client) -> None:
    old = f"/contests/cup/join/{cup.heron.token}/"
    assert "Join Heron?" in bob.get(old).content.decode()
    assert teams.team_of(cup.contest, cup.world.bob.pk) is None
    alice.post(PAGE + "link/")
    assert bob.post(old).status_code == 404
    cup.heron.refresh_from_db()
    bob.post(f"/contests/cup/join/{cup.heron.token}/")
    assert teams.team_of(cup.contest, cup.world.bob.pk) == cup.heron


def test_a_full_team_takes_no_one(cup: Cup) -> None:
    Contest.objects.update(team_size=2)
    with pytest.raises(Refused, match="a team has at most 2 members; join or create another team"):
        teams.join(cup.heron, cup.world.bob)
    Contest.objects.update(team_size=1)
    cup.heron.refresh_from_db()
    with pytest.raises(Refused, match="has only one member; create a team of your own"):
        teams.join(cup.heron, cup.world.bob)


def test_reasons_against_a_sign_up(cup: Cup) -> None:
    bob = cup.world.bob
    contest = cup.contest

    def reason(user: User = bob) -> str:
        contest.refresh_from_db()
        return teams.reason_against_sign_up(contest, user)

    assert reason() == ""
    assert "already" in reason(cup.world.alice)
    assert "users with a role see all runs" in reason(cup.officials["observer"])
    Contest.objects.update(admission="guests")
    assert "named" in reason()
    contest.guests.add(bob)
    assert reason() == ""
    Contest.objects.update(sign_up_closed=True)
    assert "closed the sign-up" in reason()
    Contest.objects.update(sign_up_closed=False)
    move(contest, freezes_at=0, closes_at=0)
    assert "have ended" in reason()
    # After the end, it no longer matters why the sign-up was closed.
    Contest.objects.update(sign_up_closed=True)
    move(contest, freezes_at=0, closes_at=0, results_at=0)
    assert reason() == "the contest has ended"


def test_a_user_with_entries_cannot_leave(cup: Cup) -> None:
    cup.enter()
    assert "Leave the team" not in cup.browser("contestant").get(PAGE).content.decode()
    assert "Leave the team" in cup.browser("mate").get(PAGE).content.decode()
    with pytest.raises(Refused, match="belong to this team"):
        teams.leave(cup.heron, cup.world.alice)
    teams.leave(cup.heron, cup.tim)
    assert cup.heron.members.get().user == cup.world.alice


def test_the_members_of_a_contest_that_has_ended_stay(cup: Cup, alice: Client) -> None:
    assert "Leave the team" in alice.get(PAGE).content.decode()
    move(cup.contest, freezes_at=0, closes_at=0)
    in_finals = alice.get(PAGE).content.decode()
    assert "No user can join the team now: uploads to this contest have ended." in in_finals
    assert "Leave the team" in in_finals
    move(cup.contest, freezes_at=0, closes_at=0, results_at=0)
    page = alice.post(PAGE + "leave/", follow=True).content.decode()
    assert "The contest has ended, so its teams can no longer change" in page
    assert cup.heron.members.count() == 2
    assert "Leave the team" not in page
    assert "<h2>Name</h2>" not in page


def test_the_front_page_says_who_may_enter(cup: Cup, client: Client) -> None:
    def page() -> str:
        return " ".join(client.get("/contests/cup/").content.decode().split())

    assert "Everyone with an account may enter, alone or in a team of up to 5." in page()
    Contest.objects.update(admission="guests", team_size=1, sign_up_closed=True, runs_private=True)
    assert (
        "Only users whom the organisers have named may enter, each alone. The contest takes no new teams now: "
        "the organisers have closed the sign-up. Until the results, only a team itself and the officials see its runs."
    ) in page()
    assert "Log in to enter" not in page()


def test_the_pages_of_a_contest_that_has_ended_offer_nothing(cup: Cup, alice: Client) -> None:
    Contest.objects.update(wants_source=True)
    teams.change(cup.heron, "Heron", anonymous=True)
    cup.enter()
    front = "/contests/cup/"
    page = alice.get(PAGE).content.decode()
    assert "Others see this team as “Anonymous team 1”" in page
    assert "hand in the source" in page
    assert "Everyone with an account may enter" in alice.get(front).content.decode()
    assert "Log in to enter" in Client().get(front).content.decode()
    move(cup.contest, freezes_at=0, closes_at=0, results_at=0)
    page = alice.get(PAGE).content.decode()
    assert "The contest has ended." in page
    assert "Others see this team" not in page
    assert "hand in the source" not in page
    assert "Everyone with an account may enter" not in alice.get(front).content.decode()
    assert "Log in to enter" not in Client().get(front).content.decode()


def test_a_submission_links_to_its_contest_only_for_its_team(cup: Cup) -> None:
    entry = cup.enter()
    for who in ("contestant", "mate", "stranger", "anonymous", "jury", "staff"):
        page = cup.browser(who).get(f"/submissions/{entry.submission_id}/").content.decode()
        inside = who in {"contestant", "mate"}
        assert (f'<a href="{PAGE}">Heron</a>' in page) is inside, who
        assert ('<a href="/contests/cup/">Autumn Cup</a>' in page) is inside, who
    Contest.objects.update(published=False)
    page = cup.browser("mate").get(f"/submissions/{entry.submission_id}/").content.decode()
    assert "Autumn Cup" not in page, "the link would lead to a 404"


def test_an_empty_team_is_deleted_when_its_last_member_leaves(cup: Cup) -> None:
    teams.leave(cup.heron, cup.tim)
    teams.leave(cup.heron, cup.world.alice)
    assert not cup.contest.teams.exists()


def test_a_submission_of_someone_else_cannot_be_entered(cup: Cup, alice: Client) -> None:
    theirs = cup.world.submit(cup.world.bob)
    for number in (str(theirs.pk), "x", "", "9" * 30):
        assert alice.post("/contests/cup/enter/", {"submission": number}).status_code == 404
    mine = cup.world.submit()
    alice.post("/contests/cup/enter/", {"submission": mine.pk})
    assert cup.contest.entries.get().submission == mine
