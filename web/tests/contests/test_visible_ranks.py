"""Tests that every viewer gets ranks without gaps, and no link to a run that the viewer may not see."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from leaderboard import boards
from leaderboard.contests import teams
from leaderboard.contests.models import Contest
from leaderboard.models import BoardEntry
from runner.terms import Verdict
from web.tests.contests.cups import move
from web.tests.contests.test_hidden import EVERYONE, OUTSIDERS
from web.tests.world import claim, finish, run_of

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import DjangoAssertNumQueries
    from pytest_django.fixtures import Settings

    from leaderboard.models import Run, Submission
    from web.tests.contests.cups import Cup

pytestmark = pytest.mark.django_db

BOARD_PATH = "/boards/preliminary1/"


def finish_as(slower: float, verdicts: dict[str, Verdict] | None = None) -> None:
    """Finish all queued runs. `slower` multiplies the times of their libraries."""
    while True:
        try:
            run = claim()
        except AssertionError:
            return
        finish(run, (verdicts or {}).get(run.benchmark, Verdict.PASSED), slower=slower)


def public_entry(cup: Cup, slower: float) -> Run:
    """Return the ranked run of a new public submission of Bob."""
    mine = cup.world.submit(
        cup.world.bob, name=f"open{slower}.so", content=cup.world.library + str(slower).encode()
    )
    finish_as(slower)
    return run_of(mine)


@pytest.fixture
def ranked(cup: Cup, settings: Settings) -> dict[str, Run]:
    """A board with three entries: the best is Alice's, which the contest hides; the two others are Bob's."""
    settings.KEYDROME_SESSIONS = 8
    Contest.objects.update(runs_private=True)
    worst = public_entry(cup, 1.0)
    hidden = cup.enter(name="zebra.so").submission
    finish_as(0.5)
    middle = public_entry(cup, 0.7)
    run = hidden.runs.get(instance="preliminary1")
    return {"hidden": run, "middle": middle, "worst": worst}


def ranks(browser: Client) -> dict[int, tuple[int, int, int]]:
    """Return the position and the rank interval of each run in the board's export."""
    rows = browser.get("/boards/preliminary1.json").json()["rows"]
    return {
        int(row["run"].split("/")[2]): (row["position"], row["rank_low"], row["rank_high"])
        for row in rows
    }


def on_configuration_board(browser: Client) -> set[int]:
    """Return the runs on the configuration board of the SIGMOD 2009 contest."""
    page = browser.get("/boards/configurations/sigmod2009/").content.decode()
    return {
        int(run)
        for run in re.findall(r'<td role="cell" class="cell[^>]*><a href="/runs/(\d+)/"', page)
    }


def test_ranks_have_no_gaps_for_any_viewer(cup: Cup, ranked: dict[str, Run]) -> None:
    order = [ranked[name].pk for name in ("hidden", "middle", "worst")]
    assert BoardEntry.objects.get(run=ranked["middle"]).position == 2
    for who in EVERYONE:
        seen = order[1:] if who in OUTSIDERS else order
        expected = {run: (place, place, place) for place, run in enumerate(seen, 1)}
        assert ranks(cup.browser(who)) == expected, who
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    assert list(ranks(cup.browser("anonymous"))) == order


def test_pages_of_runs_and_lists_agree_with_the_board(cup: Cup, ranked: dict[str, Run]) -> None:
    middle = ranked["middle"]
    for who in EVERYONE:
        browser = cup.browser(who)
        place = 1 if who in OUTSIDERS else 2
        text = " ".join(browser.get(f"/runs/{middle.pk}/").content.decode().split())
        assert f"Rank {place} on <a" in text, who
        text = " ".join(
            browser.get(f"/submissions/{middle.submission_id}/").content.decode().split()
        )
        assert f"{place} on <a" in text, who
        text = browser.get("/boards/").content.decode()
        assert f"/runs/{middle.pk}/" in text, who  # every visitor sees the public's lists
        row = browser.get("/boards/users/bob/").content.decode()
        assert "<strong>1</strong>" in row, who
        assert "<strong>3</strong>" not in row, who


def test_hidden_entries_take_no_place_from_others(
    cup: Cup, ranked: dict[str, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    published = tuple(replace(board, top=2) for board in boards._published())
    monkeypatch.setattr(boards, "_published", lambda: published)
    public_entry(cup, 1.4)
    best = {ranked["middle"].pk, ranked["worst"].pk}
    assert ranks(cup.browser("anonymous")).keys() == best
    assert ranks(cup.browser("staff")).keys() == {ranked["hidden"].pk, ranked["middle"].pk}
    page = cup.browser("staff").get(f"/runs/{ranked['worst'].pk}/").content.decode()
    assert "the library is not among the best 2 on Preliminary 1" in page
    page = cup.browser("anonymous").get(f"/runs/{ranked['worst'].pk}/").content.decode()
    assert "Rank 2 on" in " ".join(page.split())


def gate_links(browser: Client, run: Run) -> list[str]:
    """Return the runs that the reasons on a run's page link to."""
    page = browser.get(f"/runs/{run.pk}/").content.decode()
    return re.findall(r'href="/runs/(\d+)/">the unit tests', page)


def test_a_reason_links_only_runs_that_the_viewer_may_see(cup: Cup) -> None:
    """Bob submits the same binary as Alice, whose hidden entry has failed a gate (a required correctness test).

    The failure of the binary also prevents the ranking of Bob's entry.
    """
    Contest.objects.update(runs_private=True)
    hidden = cup.enter(name="zebra.so").submission
    finish_as(1.0, {"unit": Verdict.FAILED})
    mine: Submission = cup.world.submit(cup.world.bob, name="copy.so")
    finish_as(1.0)
    failed, timed = run_of(hidden, "unit"), run_of(mine)
    assert timed.why_not == ["the unit tests did not pass (verdict: failed)"]
    for who in EVERYONE:
        expected = [] if who in OUTSIDERS else [str(failed.pk)]
        assert gate_links(cup.browser(who), timed) == expected, who
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    assert gate_links(cup.browser("anonymous"), timed) == [str(failed.pk)]


def test_an_eligible_run_without_rank_says_why(cup: Cup, client: Client) -> None:
    runs = []
    for number in range(4):
        mine = cup.world.submit(cup.world.bob, content=cup.world.library + bytes([number]))
        finish_as(1.0 + number / 10)
        runs.append(run_of(mine))
    reason = (
        "the owner has 3 better libraries on Preliminary 1, as many as the board ranks for one user"
    )
    link = f'<a href="/runs/{runs[0].pk}/">{reason}</a>'
    for path in (f"/runs/{runs[3].pk}/", f"/submissions/{runs[3].submission_id}/"):
        assert link in client.get(path).content.decode(), path
    assert link in cup.browser("stranger").get("/submissions/").content.decode()


def test_hidden_entries_do_not_use_up_the_public_limit_per_user(cup: Cup) -> None:
    """The contest hides Alice's three best entries. The public sees her two others, as if she had no better ones."""
    Contest.objects.update(runs_private=True)
    public = []
    for number, slower in enumerate((1.0, 1.2)):
        mine = cup.world.submit(
            cup.world.alice, name=f"own{number}.so", content=cup.world.library + bytes([number])
        )
        finish_as(slower)
        public.append(run_of(mine))
    hidden = []
    for number in range(3):
        entry = cup.enter(name=f"zebra{number}.so", tag=b"z" + bytes([number]))
        finish_as(0.4 + number / 10)
        hidden.append(entry.submission.runs.get(instance="preliminary1"))
    for who in EVERYONE:
        browser = cup.browser(who)
        expected = public if who in OUTSIDERS else hidden
        assert list(ranks(browser)) == [run.pk for run in expected], who
        page = browser.get(f"/runs/{public[0].pk}/").content.decode()
        limited = "the owner has 3 better libraries on Preliminary 1" in page
        assert limited == (who not in OUTSIDERS), who
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    assert list(ranks(cup.browser("anonymous"))) == [run.pk for run in hidden]


def test_the_limit_per_user_holds_among_public_entries(cup: Cup) -> None:
    """A board ranks three entries of each user. The hidden entry does not count, so the public sees three others."""
    Contest.objects.update(runs_private=True)
    cup.enter(name="zebra.so")
    finish_as(0.4)
    public = []
    for number in range(4):
        mine = cup.world.submit(cup.world.alice, content=cup.world.library + bytes([number]))
        finish_as(1.0 + number / 10)
        public.append(run_of(mine).pk)
    assert list(ranks(cup.browser("anonymous"))) == public[:3]
    assert len(ranks(cup.browser("contestant"))) == 3
    assert list(ranks(cup.browser("contestant")))[1:] == public[:2]
    assert on_configuration_board(cup.browser("anonymous")) == set(public[:3])


def test_hidden_entries_cost_two_statements(
    cup: Cup,
    ranked: dict[str, Run],
    client: Client,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(4):
        client.get(BOARD_PATH)
    with django_assert_num_queries(6):
        client.get("/boards/")
    teams.change(cup.heron, "Heron", anonymous=True)
    cup.enter(name="zebra2.so", tag=b"2")
    finish_as(0.4)
    with django_assert_num_queries(4):
        client.get(BOARD_PATH)


def test_a_board_with_only_hidden_entries_is_empty_for_outsiders(cup: Cup) -> None:
    Contest.objects.update(runs_private=True)
    cup.enter(name="zebra.so")
    finish_as(1.0)
    for who in EVERYONE:
        page = cup.browser(who).get(BOARD_PATH).content.decode()
        assert ("No library is ranked here yet." in page) == (who in OUTSIDERS), who
        assert ("2 cores of a test" in page) == (who not in OUTSIDERS), who
