"""Helpers for tests in a real browser: opens windows, fills the site with rows, and checks a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import expect, sync_playwright

from leaderboard import plots
from leaderboard.models import Announcement, Run
from leaderboard.queue import claims
from runner.terms import Verdict
from tools.screenshots import launch_options
from web.tests.world import World, claim, findings, finish, finish_all, run_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Literal

    from playwright.sync_api import Browser, BrowserContext, Page
    from pytest_django.live_server_helper import LiveServer

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
        started = playwright.chromium.launch(**launch_options())  # type: ignore[arg-type] # sets two of many options
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
    """Create submissions and runs in every state; return the addresses of the pages that show them."""
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
    claims.heartbeat(
        running.pk, running.attempt, 0.4, "session 1 of 1: candidate library, phase test"
    )
    Announcement.objects.create(
        title="New tests", body="They are *stricter*.", published_at=timezone.now()
    )
    shown = [good, bad, refused, waiting]
    runs = [*map(run_of, shown), run_of(bad, "unit"), running]
    others = [f"/submissions/{one.pk}/" for one in shown]
    others += [f"/submissions/{good.pk}/delete/", f"/submit/?refused={refused.pk}"]
    others.append(f"/machines/{running.machine_id}/")
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
