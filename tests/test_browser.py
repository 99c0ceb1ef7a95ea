"""Tests of the site in a real browser: accessibility, window widths, light and dark, keyboard, and no JavaScript."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from leaderboard import catalogue
from leaderboard.live_curve import live_json
from leaderboard.models import Run
from leaderboard.queue import claims
from runner.contract import SessionCurves
from runner.report import Throughput
from tests.browsing import EXCESS, complaints, fill_the_site, open_context
from tools.screenshots import log_in
from web.tests.world import (
    BOARD,
    PASSWORD,
    World,
    claim,
    finish,
    finish_all,
    run_of,
)

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Literal

    from playwright.sync_api import Browser, Page
    from pytest_django.live_server_helper import LiveServer


pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("embedded_site"),
]

PUBLIC = [
    "/",
    "/about/",
    "/news/",
    "/status/",
    "/boards/",
    "/boards/preliminary1/",
    "/boards/preliminary1/?sort=-entry&q=mine&user=alice",
    "/boards/preliminary1/history/",
    "/boards/preliminary2/",
    "/boards/configurations/sigmod2009/",
    "/boards/users/alice/",
    "/boards/structures/mine/",
    "/compare/",
    "/account/login/",
    "/account/signup/",
    "/account/password/reset/",
    "/no/such/page/",
]
PRIVATE = [
    "/submit/",
    "/submissions/",
    "/account/",
    "/account/password/change/",
    "/account/email/",
    "/account/2fa/",
    "/account/2fa/totp/activate/",
    "/account/sessions/",
    "/account/logout/",
]


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_every_page_is_accessible_and_fits(
    browser: Browser,
    live_server: LiveServer,
    world: World,
    width: int,
    theme: Literal["light", "dark"],
) -> None:
    paths = fill_the_site(world)
    context = open_context(browser, live_server, width=width, theme=theme)
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    found = [text for path in PUBLIC for text in complaints(page, path)]
    log_in(page, live_server.url, "alice", PASSWORD)
    found += [text for path in (*PRIVATE, *paths) for text in complaints(page, path)]
    context.close()
    assert found == []
    # Only the missing page may log an error. A violation of the Content-Security-Policy would be logged too.
    assert [error for error in errors if "404" not in error] == []


def test_signing_up_and_submitting(page: Page, world: World, library_file: Path) -> None:
    page.goto("/")
    page.get_by_role("main").get_by_role("button", name="Sign up").click()
    page.get_by_label("Username").fill("dora")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("button", name="Submit a library").click()
    page.get_by_label("Shared library").set_input_files(library_file)
    page.get_by_label("Description").fill("from a browser")
    page.get_by_role("button", name="Submit and run").click()
    expect(page.get_by_role("status").filter(has_text="Submitted.")).to_be_visible()
    expect(page.get_by_role("row", name="from a browser").first).to_be_visible()


def test_a_wrong_file_is_reported_in_the_form_and_can_be_corrected(
    page: Page, live_server: LiveServer, world: World, library_file: Path
) -> None:
    log_in(page, live_server.url, "alice", PASSWORD)
    page.goto("/submit/")
    wrong = {"name": "notes.so", "mimeType": "text/plain", "buffer": b"hello\n" * 20}
    page.get_by_label("Shared library").set_input_files(wrong)  # type: ignore[arg-type] # a FilePayload
    page.get_by_label("Description").fill("kept")
    page.get_by_role("button", name="Submit and run").click()
    expect(page.get_by_role("alert")).to_contain_text("not an ELF file; it looks like a text file")
    expect(page.get_by_label("Description")).to_have_value("kept")
    page.get_by_role("link", name="The refused run").click()
    expect(page.locator("#run")).to_contain_text(
        "Not ranked because the run did not pass (verdict: refused)."
    )
    page.go_back()
    page.get_by_label("Shared library").set_input_files(library_file)
    page.get_by_role("button", name="Submit and run").click()
    page.wait_for_url("**/submissions/")
    rows = page.get_by_role("row", name="kept")
    expect(rows.first).to_contain_text("queued")
    expect(rows.last).to_contain_text("The file is not an ELF file")


def test_states_change_without_a_reload_and_polling_stops(
    page: Page, live_server: LiveServer, world: World
) -> None:
    run = run_of(world.submit())
    log_in(page, live_server.url, "alice", PASSWORD)
    page.goto(f"/runs/{run.pk}/")
    page.evaluate("window.keydromeMark = 'same page'")
    body = page.locator("#run")
    gates = len(catalogue.gate_targets())
    expect(body).to_contain_text(f"number {gates + 1} in the queue")
    for _ in range(gates):
        finish(claim())
    mine = claim()
    claims.heartbeat(mine.pk, mine.attempt, 0.5, "session 2 of 3: control, test")
    expect(body.get_by_role("progressbar")).to_have_attribute("value", "0.5")
    expect(page.locator("#live")).to_have_text("The state of the run is now: running")
    finish(mine)
    expect(page.locator("#live")).to_have_text("The state of the run is now: passed")
    plot = page.get_by_role("img", name="Transactions per second over time")
    expect(plot).to_be_visible()
    expect(plot.locator("polyline")).to_have_count(2)  # the library and the control library
    expect(body).not_to_have_attribute("hx-trigger", "every 2s")
    assert page.evaluate("window.keydromeMark") == "same page"


def test_a_wide_table_scrolls_in_its_own_box(
    browser: Browser, live_server: LiveServer, world: World
) -> None:
    """A text for screen readers in the last column must not make the page wider."""
    context = open_context(browser, live_server, width=360)
    page = context.new_page()
    page.goto("/about/")
    page.evaluate("""
        const table = '<table><tr>' + '<td>123456789012</td>'.repeat(9) +
            '<td>1<span class="hidden"> (best)</span></td></tr></table>';
        document.querySelector('main').innerHTML = '<div class="scroll">' + table + '</div>';
    """)
    assert page.evaluate("document.querySelector('.scroll').scrollWidth") > 360
    assert page.evaluate(EXCESS) == 0
    context.close()


OVERLAPPING_LABELS = """
    [...document.querySelectorAll("svg.axis-head")].flatMap((head) => {
        const labels = [...head.querySelectorAll("text")].slice(1)  // the first one has a line of its own
            .map((label) => ({text: label.textContent, place: label.getBoundingClientRect()}))
            .sort((one, other) => one.place.left - other.place.left);
        return labels.slice(1).filter((label, i) => labels[i].place.right > label.place.left)
            .map((label) => label.text);
    })
"""


def test_a_board_can_be_read_and_used_at_every_width(page: Page, world: World) -> None:
    for number, slower in enumerate((1.0, 0.24)):
        world.submit(content=world.library + bytes([number]))
        for _ in catalogue.gate_targets():
            finish(claim())
        finish(claim(), slower=slower)
    for path in ("/boards/preliminary1/", "/"):
        for width in (320, 375, 700, 800, 1000, 1023, 1024, 1280):
            page.set_viewport_size({"width": width, "height": 300})
            page.goto(path)
            assert page.locator("svg.axis-head text").count() > 3, (path, width)
            assert page.evaluate(OVERLAPPING_LABELS) == [], (path, width)
    page.set_viewport_size({"width": 375, "height": 300})
    page.goto("/boards/preliminary1/")
    compare = page.get_by_role("button", name="Compare the chosen runs")
    boxes = page.locator('input[form="compare"]')
    boxes.first.focus()
    expect(compare).not_to_be_in_viewport()
    boxes.first.check()
    expect(compare).to_be_in_viewport()


def test_updates_keep_focus_and_scroll_place(
    page: Page, live_server: LiveServer, world: World
) -> None:
    run = run_of(world.submit())
    for _ in catalogue.gate_targets():
        finish(claim())
    mine = claim()
    log_in(page, live_server.url, "alice", PASSWORD)
    page.set_viewport_size({"width": 360, "height": 300})
    page.goto(f"/runs/{run.pk}/")
    button = page.get_by_role("button", name="Cancel this run")
    button.focus()
    page.evaluate("window.scrollTo(0, 150)")
    place = page.evaluate("window.scrollY")
    assert place > 0
    for session in (1, 2):
        curve = Throughput("test", 1_000_000, (10, 20, 30 * session))
        live = live_json(SessionCurves(session, curve, curve))
        claims.heartbeat(mine.pk, mine.attempt, session / 3, "session", live)
        expect(page.locator("#run")).to_contain_text(f"Throughput in session {session}")
        expect(button).to_be_focused()
        if session == 1:
            page.evaluate("window.scrollTo(0, 150)")
    assert page.evaluate("window.scrollY") == place
    expect(page.get_by_role("img", name="Transactions per second over time")).to_be_visible()
    finish(mine)
    expect(page.locator("#live")).to_have_text("The state of the run is now: passed")
    expect(page.locator("#run")).to_be_focused()


def test_an_unchanged_page_is_answered_304_and_left_alone(
    page: Page, live_server: LiveServer, world: World
) -> None:
    run = run_of(world.submit())
    log_in(page, live_server.url, "alice", PASSWORD)
    page.goto(f"/runs/{run.pk}/")
    page.get_by_role("button", name="Cancel this run").focus()
    for _ in range(2):
        with page.expect_response(lambda answer: "/state/" in answer.url) as answer:
            pass
        assert answer.value.status == 304
    expect(page.get_by_role("button", name="Cancel this run")).to_be_focused()


def test_runs_of_a_board_are_compared_without_javascript(
    browser: Browser, live_server: LiveServer, world: World
) -> None:
    runs = [run_of(world.submit(content=world.library + tag)) for tag in (b"1", b"2", b"3")]
    finish_all()
    context = open_context(browser, live_server, script=False)
    page = context.new_page()
    page.goto("/boards/preliminary1/")
    for run in runs[:2]:
        page.get_by_role("checkbox", name=f"run {run.pk}").check()
    page.get_by_role("button", name="Compare the chosen runs").press("Enter")
    expect(page.get_by_role("heading", name="Compare 2 runs")).to_be_visible()
    expect(page.get_by_role("img", name="Transactions per second over time")).to_be_visible()
    page.get_by_role("checkbox", name=f"run {runs[2].pk}").check()
    page.get_by_role("button", name="Compare").press("Enter")
    expect(page.get_by_role("heading", name="Compare 3 runs")).to_be_visible()
    page.get_by_role("link", name=f"Remove run {runs[0].pk}").press("Enter")
    expect(page.get_by_role("heading", name="Compare 2 runs")).to_be_visible()
    assert page.url.endswith(f"/compare/?runs={runs[1].pk}%2C{runs[2].pk}")
    context.close()


def test_a_board_is_sorted_and_filtered_without_javascript(
    browser: Browser, live_server: LiveServer, world: World
) -> None:
    for number, user in enumerate((world.alice, world.bob, world.alice)):
        world.submit(user, name=f"lib{number}.so", content=world.library + bytes([number]))
    finish_all()
    context = open_context(browser, live_server, script=False, width=360)
    page = context.new_page()
    page.goto("/boards/preliminary1/")
    page.get_by_role("columnheader", name="Entry").get_by_role("link").press("Enter")
    page.get_by_role("columnheader", name="Entry").get_by_role("link").press("Enter")
    table = page.get_by_role("table").first
    expect(table.get_by_role("rowheader")).to_contain_text(["lib2", "lib1", "lib0"])
    expect(page.locator("th[aria-sort=descending]")).to_have_text("Entry ▼")
    page.get_by_role("combobox", name="User").select_option("alice")
    page.get_by_role("button", name="Show").press("Enter")
    expect(page.get_by_role("status")).to_contain_text("2 of 3 entries.")
    expect(table.get_by_role("rowheader")).to_contain_text(["lib2", "lib0"])
    page.get_by_role("link", name="Show all entries").press("Enter")
    expect(table.get_by_role("rowheader")).to_contain_text(["lib0", "lib1", "lib2"])
    context.close()


def test_the_page_of_a_submission_follows_its_runs(
    page: Page, live_server: LiveServer, world: World
) -> None:
    submission = world.submit()
    log_in(page, live_server.url, "alice", PASSWORD)
    page.goto(f"/submissions/{submission.pk}/")
    part = page.locator("#state")
    expect(part).to_contain_text("queued")
    finish_all()
    expect(part).to_contain_text("1 on Preliminary 1")
    expect(page.locator("#live")).to_have_text("Runs not finished: 0")
    expect(page.locator("#state[hx-get]")).to_have_count(0)


def test_the_status_page_follows_the_heartbeats(page: Page, world: World) -> None:
    world.submit()
    run = claim()
    page.goto("/status/")
    Run.objects.filter(pk=run.pk).update(heartbeat_at=datetime(2099, 1, 2, tzinfo=UTC))
    expect(page.locator("#status")).to_contain_text("2099-01-02 00:00:00")
    page.get_by_role("link", name="bench1").click()
    Run.objects.filter(pk=run.pk).update(heartbeat_at=datetime(2099, 1, 3, tzinfo=UTC))
    expect(page.locator("#last-seen")).to_have_text("2099-01-03 00:00:00")


def test_the_focus_is_visible_in_the_header_of_a_phone(
    browser: Browser, live_server: LiveServer, world: World
) -> None:
    context = open_context(browser, live_server, width=375)
    page = context.new_page()
    log_in(page, live_server.url, "alice", PASSWORD)
    page.goto("/about/")
    page.keyboard.press("Tab")  # the link that skips to the content
    for _ in range(page.locator(".site-nav a").count()):
        page.keyboard.press("Tab")
        name, left, right = page.evaluate(
            "(e => [e.innerText, e.getBoundingClientRect().left, e.getBoundingClientRect().right])"
            "(document.activeElement)"
        )
        assert left >= 0, name
        assert right <= 375, name
    context.close()


def test_submitting_by_keyboard_alone(
    page: Page, live_server: LiveServer, world: World, library_file: Path
) -> None:
    log_in(page, live_server.url, "alice", PASSWORD)
    page.goto("/submit/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    seen = []
    for _ in range(12 + len(catalogue.choices())):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate("document.activeElement.name || document.activeElement.type || ''")
        )
        if seen[-1] == "file":
            # The file chooser belongs to the operating system, so the test sets the file directly.
            page.locator(":focus").set_input_files(library_file)
        if seen[-1] == "description":
            page.keyboard.type("typed")
        if seen[-1] == "targets" and seen.count("targets") == 1:
            page.keyboard.press("Space")
        if seen[-1] == "submit":
            break
    order = [name for name in dict.fromkeys(seen) if name]
    assert order == [
        "file",
        "description",
        "targets",
        "configurations",
        "all_configurations",
        "submit",
    ]
    page.keyboard.press("Enter")
    page.wait_for_url("**/submissions/")
    assert Run.objects.filter(submission__description="typed").exists()
    # The space key deselected the first benchmark.
    assert not Run.objects.filter(instance=BOARD.instance).exists()


def test_everything_works_without_script(
    browser: Browser, live_server: LiveServer, world: World, library_file: Path
) -> None:
    context = open_context(browser, live_server, script=False, width=360)
    page = context.new_page()
    log_in(page, live_server.url, "alice", PASSWORD)
    page.goto("/submit/")
    page.get_by_label("Shared library").set_input_files(library_file)
    page.get_by_role("button", name="Submit and run").click()
    page.wait_for_url("**/submissions/")
    expect(page.locator("#submissions")).to_contain_text("queued")
    finish_all()
    # The page reloads itself.
    expect(page.locator("#submissions")).to_contain_text("rank 1")
    page.get_by_role("link", name="Preliminary 1").last.click()
    expect(page.locator("#run")).to_contain_text("Rank 1 on")
    page.get_by_role("link", name="Delete the submission").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("main")).to_contain_text("You have not submitted a library yet")
    context.close()


def test_admin_works_under_the_content_policy(
    page: Page, live_server: LiveServer, world: World
) -> None:
    errors: list[str] = []
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    world.submit()
    finish_all()
    log_in(page, live_server.url, "olga", PASSWORD)
    for path in ("/admin/", "/admin/leaderboard/run/", "/admin/leaderboard/announcement/add/"):
        page.goto(path)
        expect(page.locator("#site-name")).to_be_visible()
    page.get_by_label("Title").fill("From the back room")
    page.get_by_role("link", name="Today").click()
    page.get_by_role("link", name="Now").click()
    page.get_by_label("Body").fill("*hello*")
    page.get_by_role("button", name="Save", exact=True).click()
    page.goto("/news/")
    expect(page.get_by_role("heading", name="From the back room")).to_be_visible()
    assert json.dumps(errors) == "[]"
