"""Tests access rights: strangers, contestants, team-mates and officials request every URL of contests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from django.core.files.base import ContentFile
from django.db import transaction

from leaderboard.contests import mail, organising, sources, teams
from leaderboard.contests.models import Contest, Invitation, Subscription
from web.contests.urls import urlpatterns
from web.tests.contests.cups import add_hidden
from web.tests.world import content_of, finish_all

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

    from web.tests.contests.cups import Cup

pytestmark = pytest.mark.django_db

VISITORS = (
    "anonymous",
    "stranger",
    "contestant",
    "mate",
    "observer",
    "jury",
    "organiser",
    "owner",
    "staff",
)


@dataclass(frozen=True)
class Rule:
    """The status that each visitor receives, in the order of VISITORS. For anonymous visitors, 302 leads to the log-in.

    For others, 302 leads to the page that follows a form.
    """

    name: str
    path: str
    statuses: tuple[int, ...]
    method: str = "get"


def everyone(status: int) -> tuple[int, ...]:
    return (status,) * len(VISITORS)


def logged_in_only(status: int) -> tuple[int, ...]:
    return (302, *everyone(status)[1:])


TEAM = (302, 404, 200, 200, 404, 404, 404, 404, 404)
TEAM_POST = (302, 404, 302, 302, 404, 404, 404, 404, 404)
SEE = (302, 404, 404, 404, 200, 200, 200, 200, 200)
JUDGE_POST = (302, 404, 404, 404, 404, 302, 302, 302, 302)
ORGANISE = (302, 404, 404, 404, 404, 404, 200, 200, 200)
ORGANISE_POST = (302, 404, 404, 404, 404, 404, 302, 302, 302)
APPOINT = (302, 404, 404, 404, 404, 404, 404, 200, 200)
SOURCE_OWNER = (302, 404, 200, *[404] * 6)
SOURCE_FILE = (302, 404, 200, 404, 404, 200, 200, 200, 200)
POST_ONLY = logged_in_only(405)

CUP = "/contests/cup/"
RULES = [
    Rule("all", "/contests/", everyone(200)),
    Rule("new", "/contests/new", (302, *[404] * 7, 200)),
    Rule("new", "/contests/new", (302, *[404] * 7, 200), "post"),
    Rule("front", CUP, everyone(200)),
    Rule("front", "/contests/none/", everyone(404)),
    Rule("feed", f"{CUP}news.atom", everyone(200)),
    Rule("subscribe", f"{CUP}mail/", POST_ONLY),
    Rule("subscribe", f"{CUP}mail/", logged_in_only(302), "post"),
    Rule("stop_mail", f"{CUP}mail/{{stop}}/", everyone(200)),
    Rule("stop_mail", f"{CUP}mail/{{stop}}/", everyone(200), "post"),
    Rule("stop_mail", f"{CUP}mail/wrong/", everyone(404)),
    Rule("result", f"{CUP}result.json", everyone(404)),
    Rule("board", f"{CUP}boards/preliminary1/", everyone(200)),
    Rule("board", f"{CUP}boards/ycsb_a/", everyone(404)),
    Rule("team", f"{CUP}team/", logged_in_only(200)),
    Rule("team", f"{CUP}team/", logged_in_only(200), "post"),
    Rule("invite", f"{CUP}team/invite/", POST_ONLY),
    Rule("invite", f"{CUP}team/invite/", TEAM_POST, "post"),
    Rule("link", f"{CUP}team/link/", POST_ONLY),
    Rule("link", f"{CUP}team/link/", TEAM_POST, "post"),
    Rule("leave", f"{CUP}team/leave/", POST_ONLY),
    Rule("leave", f"{CUP}team/leave/", TEAM_POST, "post"),
    Rule("answer", f"{CUP}team/invitations/{{invitation}}/", POST_ONLY),
    Rule("answer", f"{CUP}team/invitations/{{invitation}}/", (302, 302, *[404] * 7), "post"),
    Rule("join", f"{CUP}join/{{token}}/", logged_in_only(200)),
    Rule("join", f"{CUP}join/wrong/", logged_in_only(404)),
    Rule("join", f"{CUP}join/{{token}}/", logged_in_only(302), "post"),
    Rule("submit", f"{CUP}submit/", TEAM),
    Rule("submit", f"{CUP}submit/", TEAM, "post"),
    Rule("enter", f"{CUP}enter/", POST_ONLY),
    Rule("enter", f"{CUP}enter/", logged_in_only(404), "post"),
    Rule("source", f"{CUP}entries/{{entry}}/source/", SOURCE_OWNER),
    Rule("source", f"{CUP}entries/{{entry}}/source/", SOURCE_OWNER, "post"),
    Rule("source", f"{CUP}entries/0/source/", logged_in_only(404)),
    Rule("source_file", f"{CUP}entries/{{entry}}/source/file", SOURCE_FILE),
    Rule("edit", f"{CUP}edit/", ORGANISE),
    Rule("edit", f"{CUP}edit/", ORGANISE, "post"),
    Rule("overview", f"{CUP}organise/", SEE),
    Rule("entry", f"{CUP}organise/entries/{{entry}}/", SEE),
    Rule("entry", f"{CUP}organise/entries/0/", logged_in_only(404)),
    Rule("judge", f"{CUP}organise/entries/{{entry}}/judge/", POST_ONLY),
    Rule("judge", f"{CUP}organise/entries/{{entry}}/judge/?note", JUDGE_POST, "post"),
    Rule("rerun", f"{CUP}organise/rerun/", POST_ONLY),
    Rule("rerun", f"{CUP}organise/rerun/", JUDGE_POST, "post"),
    Rule("sign_up", f"{CUP}organise/sign-up/", POST_ONLY),
    Rule("sign_up", f"{CUP}organise/sign-up/", ORGANISE_POST, "post"),
    Rule("announce", f"{CUP}organise/announce/", ORGANISE),
    Rule("announce", f"{CUP}organise/announce/", ORGANISE, "post"),
    Rule("roles", f"{CUP}organise/roles/", APPOINT),
    Rule("roles", f"{CUP}organise/roles/", APPOINT, "post"),
    Rule("hidden", f"{CUP}organise/hidden/", SEE),
    Rule("hidden", f"{CUP}organise/hidden/", ORGANISE, "post"),
    Rule("hidden_change", f"{CUP}organise/hidden/{{hidden}}/", ORGANISE),
    Rule("hidden_change", f"{CUP}organise/hidden/{{hidden}}/", ORGANISE, "post"),
    Rule("hidden_change", f"{CUP}organise/hidden/0/", logged_in_only(404)),
    Rule("hidden_remove", f"{CUP}organise/hidden/{{hidden}}/remove/", POST_ONLY),
    Rule("hidden_remove", f"{CUP}organise/hidden/{{hidden}}/remove/", ORGANISE_POST, "post"),
    Rule("board", f"{CUP}boards/hidden-{{hidden}}/", everyone(404)),
    Rule("board", f"{CUP}boards/hidden-{{hidden}}/?live=1", (*[404] * 4, *[200] * 5)),
    Rule("log", f"{CUP}organise/log/", SEE),
    Rule("teams", f"{CUP}organise/teams/", SEE),
]


def test_access(cup: Cup, settings: Settings) -> None:
    settings.KEYDROME_SENDS_MAIL = True
    entry = cup.enter()
    finish_all()
    Contest.objects.update(wants_source=True)
    entry.contest.refresh_from_db()
    sources.hand_in(entry, ContentFile(b"PK\x03\x04", "a.zip"), "a.zip")
    teams.invite(cup.heron, "bob")
    names = {
        "entry": entry.pk,
        "hidden": add_hidden(cup).pk,
        "invitation": Invitation.objects.get().pk,
        "token": cup.heron.token,
        "stop": mail.stop_token(
            Subscription.objects.create(contest=cup.contest, user=cup.world.bob)
        ),
    }
    for number, who in enumerate(VISITORS):
        browser = cup.browser(who)
        for rule in RULES:
            path = rule.path.format(**names)
            data = {"action": "note", "reason": "x"} if path.endswith("?note") else {}
            with transaction.atomic():
                answer = getattr(browser, rule.method)(path, data)
                transaction.set_rollback(True)  # every visitor finds the same data
            content_of(answer)  # reading the whole body closes the file of the response
            assert answer.status_code == rule.statuses[number], f"{rule.method} {path} by {who}"
            if who == "anonymous" and answer.status_code == 302:
                assert answer["Location"].startswith("/account/login/"), path


def test_every_address_of_contests_has_a_rule() -> None:
    assert {rule.name for rule in RULES} == {pattern.name for pattern in urlpatterns}


def test_a_draft_is_for_its_officials(cup: Cup) -> None:
    Contest.objects.update(published=False)
    for who in VISITORS:
        browser = cup.browser(who)
        sees = who in {"observer", "jury", "organiser", "owner", "staff"}
        for path in (CUP, f"{CUP}news.atom", f"{CUP}boards/preliminary1/"):
            assert browser.get(path).status_code == (200 if sees else 404), f"{path} by {who}"
        assert ("Autumn Cup" in browser.get("/contests/").content.decode()) == sees


def test_no_address_of_a_draft_works_for_others(cup: Cup) -> None:
    """Strangers, and also contestants whose contest was withdrawn, get a 404 from every address of the contest."""
    names = {
        "entry": cup.enter().pk,
        "hidden": add_hidden(cup).pk,
        "invitation": 1,
        "token": cup.heron.token,
    }
    Contest.objects.update(published=False)
    inside = [rule for rule in RULES if rule.path.startswith(CUP) and "/mail/{" not in rule.path]
    for who in ("anonymous", "stranger", "contestant"):
        browser = cup.browser(who)
        for rule in inside:
            path = rule.path.format(**names)
            answer = getattr(browser, rule.method)(path)
            asked = answer.status_code == 302 and answer["Location"].startswith("/account/login/")
            post_only = answer.status_code == 405 and rule.statuses == POST_ONLY
            refused = answer.status_code == 404 or post_only or (who == "anonymous" and asked)
            assert refused, f"{rule.method} {path} by {who}: {answer.status_code}"


def test_an_official_of_one_contest_has_no_rights_in_another(cup: Cup) -> None:
    other = Contest.objects.get()
    other.pk, other.slug = None, "other"
    other.save()
    entry = cup.enter()
    other.officials.create(user=cup.world.bob, role="owner")
    stranger = cup.browser("stranger")
    assert organising.rights(other, cup.world.bob) == frozenset(organising.Right)
    assert stranger.get("/contests/other/organise/").status_code == 200
    path = f"/contests/other/organise/entries/{entry.pk}/"
    assert stranger.get(path).status_code == 404
    assert (
        stranger.post(f"{path}judge/", {"action": "disqualify", "reason": "x"}).status_code == 404
    )
    stranger.post("/contests/other/organise/rerun/", {"entry": [entry.pk], "reason": "x"})
    assert not cup.contest.log.exists()
