"""Tests the pages with which an organiser switches a board (a ranking) to a new version of its benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leaderboard.models import Run
from web.tests.world import finish_all, outdate_boards, run_of

if TYPE_CHECKING:
    from django.test import Client

    from web.tests.world import World

pytestmark = pytest.mark.django_db

PATH = "/boards/preliminary1/"
STAGED = f"{PATH}new-version/"


@pytest.fixture
def bumped(world: World) -> Run:
    """A ranked run whose benchmark got a newer version after the run had ended."""
    run = run_of(world.submit(name="mine.so"))
    finish_all()
    outdate_boards()
    return Run.objects.get(pk=run.pk)


def text(browser: Client, path: str) -> str:
    return " ".join(browser.get(path).content.decode().split())


def test_an_organiser_repeats_the_runs_compares_and_switches(
    alice: Client, olga: Client, bumped: Run
) -> None:
    for browser in (alice, olga):
        page = text(browser, PATH)
        assert "<strong>Superseded:</strong> the benchmark has a newer version." in page
        assert f'href="/runs/{bumped.pk}/"' in page
        assert ("Compare the ranks" in page) == (browser is olga)
    assert "Rank 1 on" in text(alice, f"/runs/{bumped.pk}/")
    page = text(olga, STAGED)
    assert "0 of 1 entry has been run again" in page
    assert "The entry has not been run again." in page
    assert "Make version" not in page
    assert "1 of 1 entry has not been run again" in text_after(olga, f"{STAGED}live/")
    assert "Queued 1 run." in text_after(olga, f"{STAGED}repeat/")
    page = text(olga, STAGED)
    assert "The runs of the entry have not ended yet." in page
    assert "All missing runs are already in the queue." in page
    assert "Queue the missing runs" not in page
    finish_all()
    again = Run.objects.latest("pk")
    version = again.benchmark_version
    assert "an organiser can switch the board to version" in text(alice, f"/runs/{again.pk}/")
    staged = text(alice, f"{PATH}?version={version}")
    assert "<strong>Not live yet:</strong>" in staged
    assert f'href="/runs/{again.pk}/"' in staged
    assert f"Make version {version} live" in text(olga, STAGED)
    assert f"The board now shows version {version} of its benchmark." in text_after(
        olga, f"{STAGED}live/"
    )
    page = text(alice, PATH)
    assert "Superseded" not in page
    assert f'href="/runs/{again.pk}/"' in page
    old = text(alice, f"{PATH}?version={version - 1}")
    assert "as it was when a newer version replaced it" in old
    assert f'href="/runs/{bumped.pk}/"' in old
    assert f"version={version - 1}" in text(alice, f"{PATH}history/")
    page = text(alice, f"/runs/{bumped.pk}/")
    assert "Rank 1 on" not in page
    assert f"the run used version {version - 1} of the benchmark" in page
    assert "The board shows the newest version of its benchmark." in text(olga, STAGED)


def text_after(browser: Client, path: str) -> str:
    """Return the page to which a button leads."""
    return " ".join(browser.post(path, follow=True).content.decode().split())


def test_the_exports_show_the_live_version(client: Client, bumped: Run) -> None:
    found = client.get("/boards/preliminary1.json").json()
    assert found["benchmark_version"] == bumped.benchmark_version
    assert [row["run"] for row in found["rows"]] == [f"/runs/{bumped.pk}/"]


def test_lists_show_the_live_version(client: Client, bumped: Run) -> None:
    for path in ("/", "/boards/", "/boards/users/alice/", "/boards/configurations/sigmod2009/"):
        assert "mine" in text(client, path), path
