"""Tests of the site in a real browser: accessibility, window widths, light and dark, keyboard, and no JavaScript."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import expect, sync_playwright

from leaderboard import catalogue, plots
from leaderboard.contests import organising, teams
from leaderboard.contests.hidden import queue_due_runs
from leaderboard.contests.mail import stop_token
from leaderboard.contests.models import Contest, Subscription
from leaderboard.live_curve import live_json
from leaderboard.models import Announcement, Run
from leaderboard.queue import claims
from runner.contract import SessionCurves
from runner.report import Throughput
from runner.terms import Verdict
from tools.screenshots import launch_options, log_in
from web.tests.contests.cups import add_hidden
from web.tests.world import (
    BOARD,
    PASSWORD,
    World,
    claim,
    findings,
    finish,
    finish_all,
    outdate_boards,
    run_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Literal

    from playwright.sync_api import Browser, BrowserContext, Page
    from pytest_django.live_server_helper import LiveServer

    from web.tests.contests.cups import Cup

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
TIMEOUT_MS = 20_000
SMALL_PHONE = 320
EXCESS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Debian's Chromium.

    DJANGO_ALLOW_ASYNC_UNSAFE is set, because Playwright runs an event loop in this thread. Django would otherwise
    refuse to use the database.
    """
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        expect.set_options(timeout=TIMEOUT_MS)
        started = playwright.chromium.launch(**launch_options())  # type: ignore[arg-type] # two of many options
        yield started
        started.close()


def open_context(
    browser: Browser,
    live_server: LiveServer,
    *,
    width: int = 1280,
    theme: Literal["light", "dark"] = "light",
    script: bool = True,
) -> BrowserContext:
    """Return a new browser window without cookies."""
    context = browser.new_context(
        base_url=live_server.url,
        viewport={"width": width, "height": 800},
        color_scheme=theme,
        java_script_enabled=script,
    )
    context.set_default_timeout(TIMEOUT_MS)
    return context


@pytest.fixture
def page(browser: Browser, live_server: LiveServer) -> Iterator[Page]:
    """Open a page in a new window."""
    context = open_context(browser, live_server)
    yield context.new_page()
    context.close()


@pytest.fixture
def library_file(tmp_path: Path, library: bytes) -> Path:
    """Write the library file to upload, and return its path."""
    path = tmp_path / "mine.so"
    path.write_bytes(library)
    return path


def fill_the_site(world: World) -> list[str]:
    """Create every kind of row and state; return the addresses of the pages that show them."""
    good = world.submit(description="a prefix tree with a description that is rather long")
    finish_all()
    refused = world.submit(content=b"\x7fELF" + bytes(100), description="not even a library")
    bad = world.submit(content=world.library + b"x", name="an_unusually_long_name_of_a_library.so")
    while Run.objects.filter(state="queued", kind="correctness").exists():
        finish(claim(), Verdict.FAILED, findings=findings(), reason="A required check failed.")
    finish(claim(), Verdict.TIMED_OUT, sessions=(), reason="The phase test took too long.")
    plots.draw_missing()
    waiting = world.submit(content=world.library + b"y")
    running = claim()
    claims.heartbeat(running.pk, running.attempt, 0.4, "session 1 of 1: candidate, phase test")
    Announcement.objects.create(
        title="New tests", body="They are *stricter*.", published_at=timezone.now()
    )
    shown = [good, bad, refused, waiting]
    runs = [*map(run_of, shown), run_of(bad, "unit"), running]
    others = [f"/submissions/{one.pk}/" for one in shown]
    others += [f"/submissions/{good.pk}/delete/", f"/submit/?refused={refused.pk}"]
    compared = ",".join(str(run.pk) for run in map(run_of, shown))
    return [f"/runs/{run.pk}/" for run in runs] + others + [f"/compare/?runs={compared}"]


def complaints(page: Page, path: str) -> list[str]:
    """Return the accessibility findings of axe for a page, and complaints if the page is wider than its window."""
    page.goto(path)
    for details in page.locator("details").all():
        details.evaluate("element => element.open = true")
    found = [
        f"{path}: {violation['id']}: {[node['target'] for node in violation['nodes']]}"
        for violation in Axe().run(page).response["violations"]
    ]
    usual = page.viewport_size
    assert usual is not None
    for width in (usual["width"], SMALL_PHONE):
        page.set_viewport_size({"width": width, "height": usual["height"]})
        if (excess := page.evaluate(EXCESS)) > 0:
            found.append(f"{path}: {excess} px too wide for a window of {width}")
    page.set_viewport_size(usual)
    return found


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
        "Not ranked because it did not pass (verdict: refused)."
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
    plots.draw_missing()
    expect(page.get_by_role("img", name="Committed transactions")).to_be_visible()
    expect(body).not_to_have_attribute("hx-trigger", "every 2s")
    plot = page.get_by_role("img", name="Committed transactions")
    # decode() waits until the image is there.
    width = plot.evaluate("i => i.decode().then(() => i.naturalWidth)")
    assert width > 0, "the plot was not drawn by the browser"
    assert page.evaluate("window.keydromeMark") == "same page"


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
    pages = ("organise/", "organise/announce/", "organise/roles/", "organise/log/", "edit/")
    pages += ("organise/hidden/", f"organise/hidden/{secret.pk}/", f"boards/{secret.slug}/?live=1")
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
    assert "It has not been run again." in page.content()
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
    page.get_by_role("link", name="Enter the contest").click()
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
