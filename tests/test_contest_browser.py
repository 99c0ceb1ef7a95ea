"""Tests of the pages for contests and organisers in a real browser: accessibility, window widths, no JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from leaderboard.contests import organising, teams
from leaderboard.contests.hidden import queue_due_runs
from leaderboard.contests.mail import stop_token
from leaderboard.contests.models import Contest, Subscription
from tests.browsing import complaints, fill_the_site, open_context
from tools.screenshots import log_in
from web.tests.contests.cups import add_hidden
from web.tests.world import PASSWORD, World, finish_all, outdate_boards

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Literal

    from playwright.sync_api import Browser
    from pytest_django.live_server_helper import LiveServer

    from web.tests.contests.cups import Cup

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("embedded_site"),
]


def fill_the_contest(cup: Cup) -> dict[str, list[str]]:
    """Give the contest entries, a disqualification, notes and news; return the addresses for each visitor."""
    Contest.objects.update(wants_source=True)
    cup.contest.refresh_from_db()
    cup.heron.contest = cup.contest
    teams.change(cup.heron, "A team with a name that is rather long, really", anonymous=True)
    entry = cup.enter()
    larch = teams.create(cup.contest, "Larch", by=cup.world.bob)
    cup.enter(larch, cup.world.bob, name="an_unusually_long_name_of_a_library.so")
    bad = cup.enter(tag=b"2")
    secret = add_hidden(cup)
    finish_all()
    queue_due_runs()
    finish_all()
    jury = cup.officials["jury"]
    organising.disqualify(bad, "reads the clock through a file in /dev/shm", by=jury)
    organising.add_note(entry, "looks like the reference", by=jury)
    organising.announce(cup.contest, "Day & night", "The machine is *quiet*.", by=jury)
    follower, _ = Subscription.objects.get_or_create(contest=cup.contest, user=cup.world.alice)
    here = "/contests/cup/"
    public = ["/contests/", here, f"{here}boards/preliminary1/", f"{here}boards/preliminary2/"]
    entries = [f"{here}organise/entries/{one.pk}/" for one in (entry, bad)]
    private = (f"{here}mail/{stop_token(follower)}/", f"{here}entries/{entry.pk}/source/")
    private += (f"/submissions/{entry.submission_id}/", f"/submissions/{bad.submission_id}/")
    pages = ("organise/", "organise/announce/", "organise/roles/", "organise/log/", "edit/")
    pages += (
        "organise/teams/",
        "organise/hidden/",
        f"organise/hidden/{secret.pk}/",
        f"boards/{secret.slug}/?live=1",
    )
    return {
        "alice": [*public, f"{here}team/", f"{here}submit/", *private],
        "tim": [here],
        "olga": [*entries, f"{here}team/", f"{here}join/{cup.heron.token}/", "/contests/new"]
        + [here + page for page in pages],
    }


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_every_page_of_a_contest_is_accessible_and_fits(
    browser: Browser,
    live_server: LiveServer,
    cup: Cup,
    width: int,
    theme: Literal["light", "dark"],
) -> None:
    found = []
    for user, paths in fill_the_contest(cup).items():
        context = open_context(browser, live_server, width=width, theme=theme)
        page = context.new_page()
        log_in(page, live_server.url, user, PASSWORD)
        found += [text for path in paths for text in complaints(page, path)]
        context.close()
    assert found == []


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_the_pages_of_a_superseded_board_are_accessible_and_fit(
    browser: Browser,
    live_server: LiveServer,
    world: World,
    width: int,
    theme: Literal["light", "dark"],
) -> None:
    fill_the_site(world)
    outdate_boards()
    context = open_context(browser, live_server, width=width, theme=theme)
    page = context.new_page()
    log_in(page, live_server.url, "olga", PASSWORD)
    board = "/boards/preliminary1/"
    found = complaints(page, board)
    assert "Superseded" in page.content()
    found += complaints(page, f"{board}new-version/")
    assert "The entry has not been run again." in page.content()
    context.close()
    assert found == []


def test_a_team_enters_a_contest_without_javascript(
    browser: Browser, live_server: LiveServer, cup: Cup, library_file: Path
) -> None:
    context = open_context(browser, live_server, script=False)
    page = context.new_page()
    log_in(page, live_server.url, "bob", PASSWORD)
    page.goto("/contests/")
    page.get_by_role("link", name="Autumn Cup").click()
    page.get_by_role("button", name="Enter the contest").click()
    page.get_by_label("Name").fill("Larch")
    page.get_by_role("button", name="Create the team").click()
    page.get_by_role("button", name="Submit to this contest").click()
    page.get_by_label("Shared library").set_input_files(library_file)
    page.get_by_role("button", name="Submit and enter").click()
    expect(
        page.get_by_role("status").filter(has_text="The library is submitted, and entered")
    ).to_be_visible()
    finish_all()
    page.goto("/contests/cup/boards/preliminary1/")
    expect(page.get_by_role("row", name="Larch")).to_contain_text("mine")
    context.close()
