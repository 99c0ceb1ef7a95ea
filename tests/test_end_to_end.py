"""Tests the whole chain on a temporary site: build a library, sign up, upload the library in a browser, see it ranked.

The test starts the same programs as `./dev up`: gunicorn with collected static files, both Celery workers and the
scheduler. The SQLite database and the messages of Celery are files in a temporary folder. The web server uses a free
port.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect, sync_playwright

from runner.slots import slots_for_tests
from tests.binaries import built_settings
from tools.screenshots import launch_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[1]
PASSWORD = "a horse and a battery"
START_SECONDS = 60
RUNS_MS = 300_000  # the runs take seconds, but other tests may use the processors at the same time
STOP_SECONDS = 30
MINIMUM_WINDOWS = 50

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class Site:
    """A running site and the folder of its logs."""

    url: str
    logs: Path

    def said(self) -> str:
        """Return the end of every log, for the message of a failed test."""
        return "\n".join(
            f"--- {path.name}\n{path.read_text(errors='replace')[-4000:]}"
            for path in sorted(self.logs.glob("*.log"))
        )


def hold_port() -> socket.socket:
    """Return a socket that reserves a free port while it is open. A server with SO_REUSEPORT can use the port, too."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    holder.bind(("127.0.0.1", 0))
    return holder


def environment(var: Path) -> dict[str, str]:
    """Return the environment of a site like that of `./dev up`, with its data in `var`.

    It has none of this process's own settings except KEYDROME_BUILD.
    """
    kept = {key: value for key, value in os.environ.items() if "KEYDROME" not in key}
    for name in ("DATABASE_URL", "CELERY_BROKER_URL", "DJANGO_SETTINGS_MODULE"):
        kept.pop(name, None)
    build = {key: os.environ[key] for key in ("KEYDROME_BUILD",) if key in os.environ}
    return {
        **kept,
        **build,
        "PYTHONPATH": str(ROOT),
        "KEYDROME_VAR": str(var),
        "KEYDROME_BOARD_SCALE": "smoke",
        # The test reads pages right after a change.
        "KEYDROME_COPY_SECONDS": "0",
        # A slot is a number that gives a jail its own user. The developer's own site may use slot 0, so the test uses
        # another one.
        "KEYDROME_SLOT": str(slots_for_tests()[0]),
    }


@contextmanager
def process(command: list[str], log: Path, env: dict[str, str]) -> Iterator[None]:
    """Run a command in the background and stop it at the end. Fail the test if the command ended by itself."""
    with log.open("wb") as out:
        started = subprocess.Popen(
            command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    try:
        yield
        assert started.poll() is None, f"{command[0]} ended: {log.read_text(errors='replace')}"
    finally:
        started.terminate()
        try:
            started.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def wait_for(url: str, log: Path) -> None:
    """Wait until the site answers."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310 - our own address
                return
        except (urllib.error.URLError, OSError):
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.1)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Start a whole site as `./dev up` does; stop it after the test."""
    built_settings()
    var, logs = tmp_path / "site", tmp_path / "logs"
    var.mkdir(mode=0o700)
    logs.mkdir()
    env = environment(var)
    for command in (["migrate", "--no-input", "-v0"], ["collectstatic", "--no-input", "-v0"]):
        subprocess.run(
            [sys.executable, "-m", "web.manage", *command], cwd=ROOT, env=env, check=True
        )
    holder = hold_port()
    url = f"http://127.0.0.1:{holder.getsockname()[1]}"
    celery = [sys.executable, "-m", "celery", "-A", "web.celery"]
    worker = [*celery, "worker", "-P", "solo", "--without-gossip", "--without-mingle", "-Q"]
    gunicorn = [sys.executable, "-m", "gunicorn", "web.wsgi", "-k", "gthread", "--threads", "8"]
    commands = {
        "web": [
            *gunicorn,
            "--no-control-socket",
            "--reuse-port",
            "-b",
            url.removeprefix("http://"),
        ],
        "bench": [*worker, "bench", "-n", "bench@%h"],
        "results": [*worker, "results", "-n", "results@%h"],
        "beat": [*celery, "beat", "-s", str(var / "beat")],
    }
    with holder, ExitStack() as running:
        for name, command in commands.items():
            running.enter_context(process(command, logs / f"{name}.log", env))
        wait_for(url, logs / "web.log")
        yield Site(url, logs)


def build_example(folder: Path, command: str) -> Path:
    """Copy the example and build it with the command that the site shows."""
    shutil.copy(ROOT / "api" / "examples" / "minimal.c", folder)
    (folder / "api").symlink_to(ROOT / "api")
    subprocess.run(shlex.split(command), cwd=folder, check=True)
    return folder / "minimal.so"


def rows(site: Site, board: str) -> list[dict[str, Any]]:
    """Return the rows of a board through its export."""
    address = f"{site.url}/boards/{board}.json"
    with urllib.request.urlopen(address, timeout=10) as answer:  # noqa: S310 - our own address
        found: list[dict[str, Any]] = json.load(answer)["rows"]
    return found


def sign_up(page: Page) -> None:
    """Create an account through the form."""
    page.goto("/account/signup/")
    page.get_by_label("Username").fill("dora")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.wait_for_url("**/submissions/")


def follow_to_the_end(page: Page) -> None:
    """Wait on the page of submissions, which must update itself without a reload, until every run has passed."""
    page.evaluate("window.keydromeMark = 'same page'")
    table = page.locator("#submissions")
    expect(table).not_to_have_attribute("hx-trigger", re.compile(".*"), timeout=RUNS_MS)
    assert page.evaluate("window.keydromeMark") == "same page"
    # A test or run that did not pass would have a badge with its verdict.
    badges = table.locator("tbody .badge").all_inner_texts()
    assert set(badges) <= {"provisional"}, badges
    expect(table).to_contain_text("rank 1")


def look_at_the_run(page: Page, digest: str) -> None:
    """Check the page of the run: it shows the rank, the digest, and both plots as curves and as numbers."""
    expect(page.locator("#run")).to_contain_text("Rank")
    expect(page.locator("#run")).to_contain_text(digest)
    for name in ("Transactions per second over time", "Latency of"):
        picture = page.get_by_role("img", name=name).first
        expect(picture).to_be_visible(timeout=RUNS_MS)
        expect(picture.locator("polyline")).to_have_count(2)  # the library and the control library
    # A table has at most 40 rows, so each row has two or more windows.
    windows = page.locator('[aria-label^="Throughput of"] tbody tr').count()
    assert windows >= MINIMUM_WINDOWS // 2, windows
    assert page.locator('[aria-label="Latency"] tbody tr').count() >= 1


def replay_the_run(page: Page, site: Site, library: Path, folder: Path) -> None:
    """Download the bundle of the run and play it again. The verdict must be the same; the ratio may differ."""
    with page.expect_download() as download:
        page.get_by_role("link", name="signed bundle").click()
    bundle, result = folder / "run.zip", folder / "replay.json"
    download.value.save_as(bundle)
    with urllib.request.urlopen(f"{site.url}/bundle-key.txt", timeout=10) as answer:  # noqa: S310 - our own address
        key = answer.read().decode().strip()
    command = [
        sys.executable,
        "-m",
        "cli",
        "replay",
        bundle,
        library,
        "--key",
        key,
        "--json",
        result,
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    confirmed = "verdict: passed in the bundle, passed in the replay"
    assert confirmed in done.stdout, done.stdout + done.stderr
    found = json.loads(result.read_text())
    assert done.returncode == (0 if found["confirmed"] else 1)
    assert found["original"]["machine_class"] == found["replay"]["machine_class"]
    assert found["replay"]["summary"]["sessions"] == len(found["replay"]["summary"]["ratios"]) > 0


def test_from_the_example_to_a_ranked_row(site: Site, tmp_path: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options())  # type: ignore[arg-type] # sets two of many options
        page = browser.new_page(base_url=site.url)
        page.goto("/about/")
        library = build_example(tmp_path, page.get_by_label("Build command").inner_text())
        digest = hashlib.sha256(library.read_bytes()).hexdigest()
        sign_up(page)
        page.goto("/submit/")
        page.get_by_label("Shared library").set_input_files(library)
        page.get_by_label("Description").fill("the example")
        page.get_by_label("Preliminary 2").uncheck()
        page.get_by_role("button", name="Submit and run").click()
        page.wait_for_url("**/submissions/")
        try:
            follow_to_the_end(page)
            (row,) = rows(site, "preliminary1")
            assert (row["user"], row["digest"], row["rank_low"]) == ("dora", digest, 1)
            assert row["jail_level"] == "full"
            assert row["transactions_failed"] == 0
            assert row["provisional"] is True
            page.goto("/boards/preliminary1/")
            page.get_by_role("row", name="the example").get_by_role("link").first.click()
            page.wait_for_url("**/runs/*/")
            look_at_the_run(page, digest)
            replay_the_run(page, site, library, tmp_path)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{site.said()}") from error
        browser.close()
