"""Tests what a contest's officials do: decisions with reasons, the audit log, announcements, roles and the archive."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from django.core import mail
from django.core.management import call_command
from django.core.management.base import CommandError

from leaderboard.contests import organising, teams
from leaderboard.contests.models import Contest, Notice, Role
from leaderboard.models import Run, State
from leaderboard.services import Refused
from web.tests.contests.cups import move
from web.tests.world import finish_all

if TYPE_CHECKING:
    from pathlib import Path

    from django.test import Client
    from pytest_django import DjangoCaptureOnCommitCallbacks
    from pytest_django.fixtures import Settings

    from web.tests.contests.cups import Cup

pytestmark = pytest.mark.django_db


def judge(cup: Cup, pk: int, action: str, reason: str, who: str = "jury") -> int:
    path = f"/contests/cup/organise/entries/{pk}/judge/"
    return cup.browser(who).post(path, {"action": action, "reason": reason}).status_code


def test_a_decision_needs_a_reason_and_leaves_a_notice_and_a_line(cup: Cup) -> None:
    entry = cup.enter()
    for bad in ("", " ", "x" * 501):
        judge(cup, entry.pk, "disqualify", bad)
        assert not cup.contest.log.exists()
    judge(cup, entry.pk, "disqualify", "reads the clock")
    entry.refresh_from_db()
    assert entry.disqualified_because == "reads the clock"
    line = cup.contest.log.get()
    assert line.by == "the-jury (jury)"
    assert line.action == f"disqualified submission {entry.submission_id} of team Heron"
    assert line.reason == "reads the clock"
    assert {notice.user for notice in Notice.objects.all()} == {cup.world.alice, cup.tim}
    front = cup.browser("mate").get("/contests/cup/").content.decode()
    assert "The jury of Autumn Cup disqualified your submission" in front
    assert (
        "disqualified your submission"
        not in cup.browser("stranger").get("/contests/cup/").content.decode()
    )
    page = cup.browser("contestant").get(f"/submissions/{entry.submission_id}/").content.decode()
    assert "disqualified this entry of the team" in page
    assert "Reason: reads the clock" in page
    judge(cup, entry.pk, "disqualify", "again")  # refused: the entry is disqualified already
    judge(cup, entry.pk, "restore", "a mistake")
    entry.refresh_from_db()
    assert entry.disqualified_at is None
    assert cup.contest.log.count() == 2


def test_the_team_gets_mail_if_the_site_sends_mail(
    cup: Cup,
    settings: Settings,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    settings.KEYDROME_SENDS_MAIL = True
    cup.tim.email = "tim@example.org"
    cup.tim.save()
    entry = cup.enter()
    with django_capture_on_commit_callbacks(execute=True):
        organising.disqualify(entry, "reads the clock", by=cup.officials["jury"])
    (sent,) = mail.outbox
    assert sent.to == ["tim@example.org"]
    assert "Reason: reads the clock" in sent.body


def test_one_or_many_entries_run_again(cup: Cup) -> None:
    first, second = cup.enter(), cup.enter(tag=b"2")
    finish_all()
    judge(cup, first.pk, "rerun", "the machine was noisy")
    queued = Run.objects.filter(state=State.QUEUED)
    assert {run.submission_id for run in queued} == {first.submission_id}
    assert queued.all().count() == 2
    jury = cup.browser("jury")
    numbers = [first.pk, second.pk, "x", "9" * 3]
    jury.post("/contests/cup/organise/rerun/", {"entry": numbers, "reason": "noise"}, follow=True)
    # Only the second entry's runs were queued now, because the first entry's new runs have not ended.
    assert queued.all().count() == 4
    assert [line.reason for line in cup.contest.log.all()] == ["noise", "the machine was noisy"]


def test_notes_are_for_officials_only(cup: Cup) -> None:
    entry = cup.enter()
    judge(cup, entry.pk, "note", "looks like the reference")
    path = f"/contests/cup/organise/entries/{entry.pk}/"
    assert "looks like the reference" in cup.browser("observer").get(path).content.decode()
    for path in ("/contests/cup/team/", f"/submissions/{entry.submission_id}/"):
        assert "looks like" not in cup.browser("contestant").get(path).content.decode()
    assert not Notice.objects.exists()


def test_the_same_file_of_two_teams_is_reported(cup: Cup) -> None:
    larch = teams.create(cup.contest, "Larch", by=cup.world.bob)
    cup.enter()
    overview = cup.browser("observer")
    assert "Same file" not in overview.get("/contests/cup/organise/").content.decode()
    cup.enter(larch, cup.world.bob)
    assert "Same file" in overview.get("/contests/cup/organise/").content.decode()


def test_the_sign_up_closes_and_reopens(cup: Cup) -> None:
    organiser = cup.browser("organiser")
    path = "/contests/cup/organise/sign-up/"
    organiser.post(path, {"closed": "1", "reason": ""})
    assert not Contest.objects.get().sign_up_closed
    organiser.post(path, {"closed": "1", "reason": "the room is full"})
    assert Contest.objects.get().sign_up_closed
    with pytest.raises(Refused, match="closed the sign-up"):
        teams.create(cup.contest, "Larch", by=cup.world.bob)
    organiser.post(path, {"closed": "0", "reason": "a larger room"})
    assert not Contest.objects.get().sign_up_closed


def test_an_announcement_has_a_preview_and_is_in_the_feed(cup: Cup, client: Client) -> None:
    organiser = cup.browser("organiser")
    path = "/contests/cup/organise/announce/"
    text = {
        "title": "Day & night",
        "body": "*Soon* <script>alert(1)</script> [x](javascript:alert(1))",
    }
    preview = organiser.post(path, text).content.decode()
    assert "<em>Soon</em>" in preview
    assert not cup.contest.messages.exists()
    organiser.post(path, {**text, "publish": "1"})
    front = client.get("/contests/cup/").content.decode()
    for page in (preview, front):
        assert "<script>alert" not in page
        assert 'href="javascript' not in page
    answer = client.get("/contests/cup/news.atom")
    assert answer["Content-Type"].startswith("application/atom+xml")
    names = {"a": "http://www.w3.org/2005/Atom"}
    root = ET.fromstring(answer.content)  # noqa: S314 - our own feed
    assert [one.text for one in root.findall("a:entry/a:title", names)] == ["Day & night"]
    assert "&lt;script&gt;" in root.findtext("a:entry/a:summary", "", names)


def test_rules_and_questions_are_sanitised_markdown(cup: Cup, client: Client) -> None:
    Contest.objects.update(rules="Be *fair*. <img src=x onerror=alert(1)>")
    page = client.get("/contests/cup/").content.decode()
    assert "Be <em>fair</em>." in page
    assert "<img src=x" not in page


def test_headings_of_texts_are_below_those_of_the_page(cup: Cup, client: Client) -> None:
    Contest.objects.update(rules="## Teams\n\n### Size\n\nFive.", questions="# May I?\n\nYes.")
    page = client.get("/contests/cup/").content.decode()
    for heading in ("<h3>Teams</h3>", "<h4>Size</h4>", "<h3>May I?</h3>"):
        assert heading in page


def test_roles(cup: Cup) -> None:
    owner = cup.officials["owner"]
    organising.appoint(cup.contest, cup.world.bob, Role.JURY, by=owner)
    assert organising.Right.JUDGE in organising.rights(cup.contest, cup.world.bob)
    organising.appoint(cup.contest, cup.world.bob, "", by=owner)
    assert organising.rights(cup.contest, cup.world.bob) == frozenset()
    with pytest.raises(Refused, match="is in a team"):
        organising.appoint(cup.contest, cup.world.alice, Role.JURY, by=owner)
    for role in ("", Role.JURY):
        with pytest.raises(Refused, match="is the only owner of this contest"):
            organising.appoint(cup.contest, owner, role, by=owner)
    answer = cup.browser("owner").post(
        "/contests/cup/organise/roles/", {"user_name": "bob", "role": "observer"}
    )
    assert answer.status_code == 302
    assert cup.contest.officials.get(user=cup.world.bob).role == Role.OBSERVER


def test_the_sites_organiser_creates_a_contest_and_owns_it(cup: Cup, olga: Client) -> None:
    values = {
        "name": "Spring Cup",
        "slug": "spring",
        "opens_at": "2026-10-01T00:00",
        "freezes_at": "2026-10-02T00:00",
        "closes_at": "2026-11-01T00:00",
        "results_at": "2026-12-01T00:00",
        "boards": ["preliminary1", "ycsb_a"],
        "guest_names": "alice\r\nBOB",
        "admission": "guests",
        "team_size": "3",
        "quota_open": "5",
        "quota_frozen": "2",
    }
    assert olga.post("/contests/new", values)["Location"] == "/contests/spring/"
    assert "The contest is created." in olga.get("/contests/spring/").content.decode()
    spring = Contest.objects.get(slug="spring")
    assert spring.boards == ["preliminary1", "ycsb_a"]
    assert set(spring.guests.all()) == {cup.world.alice, cup.world.bob}
    assert spring.officials.get().user == cup.world.olga
    assert cup.browser("stranger").get("/contests/spring/").status_code == 404  # a draft
    page = olga.get("/contests/spring/edit/").content.decode()
    assert 'value="2026-10-01T00:00"' in page
    assert "alice\r\nbob" in page
    olga.post(
        "/contests/spring/edit/",
        {**values, "published": "on", "name": "Spring", "guest_names": "alice\r\nbob"},
    )
    assert cup.browser("stranger").get("/contests/spring/").status_code == 200
    assert spring.log.first().action == "changed Name, Published"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("slug", "message"),
    [
        ("cup", "Another contest has this name already. Choose another name."),
        ("autumn cup", "The name may contain only letters, digits, hyphens and underscores."),
    ],
)
def test_the_form_says_what_is_wrong_with_the_name_in_the_url(
    cup: Cup, slug: str, message: str
) -> None:
    page = cup.browser("staff").post("/contests/new", {"slug": slug}).content.decode()
    assert f"Name in the URL: {message}" in " ".join(re.sub("<[^>]*>", "", page).split())


def test_the_archive_needs_no_server(cup: Cup, tmp_path: Path) -> None:
    teams.change(cup.heron, "Heron", anonymous=True)
    cup.enter(name="art.so")
    finish_all()
    folder = tmp_path / "archive"
    with pytest.raises(CommandError, match="not closed yet"):
        call_command("archive_contest", "cup", str(folder))
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    call_command("archive_contest", "cup", str(folder), stdout=io.StringIO())
    pages = {path.name: path.read_text() for path in folder.glob("*.html")}
    assert pages.keys() == {"index.html", "board-preliminary1.html", "board-preliminary2.html"}
    assert "Heron" in pages["index.html"]
    assert "art · whole library" in pages["board-preliminary1.html"]
    for page in pages.values():
        assert 'href="/' not in page
        assert 'src="' not in page
        links = [part.split('"')[0] for part in page.split('href="')[1:]]
        assert all((folder / link.split("#")[0]).is_file() for link in links)
    with pytest.raises(CommandError, match=f"the folder '{folder}' is not empty"):
        call_command("archive_contest", "cup", str(folder))
    with pytest.raises(CommandError, match="unknown contest 'cap': choose from cup"):
        call_command("archive_contest", "cap", str(folder))


def test_the_form_of_a_contest_shows_its_boards_at_once(cup: Cup) -> None:
    """In an earlier version the boards were folded away, even after the error "Choose at least one board."."""
    for browser in (cup.browser("staff").get, cup.browser("staff").post):
        page = browser("/contests/new").content.decode()
        assert re.search(r"<details open>\s*<summary>Boards", page)
        assert "To leave out a phase, give it the same date as the next phase." in page
        assert 'href="/docs/how-to/run-a-contest.html"' in page


def test_the_overview_says_the_phase(cup: Cup) -> None:
    move(cup.contest, freezes_at=0)
    page = " ".join(cup.browser("jury").get("/contests/cup/organise/").content.decode().split())
    assert "Phase: frozen boards. The contest has 1 team and 0 entries." in page
