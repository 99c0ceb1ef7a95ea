"""Tests that a contest stores its result when it closes, and that later changes do not change it."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from leaderboard import services
from leaderboard.contests import organising, results, teams
from leaderboard.contests.models import Contest, Result
from leaderboard.contests.results import contest_standing, store_due_results
from leaderboard.contests.standings import contest_boards
from leaderboard.models import Run
from leaderboard.ranking import board_entries
from web.tests.contests.cups import move
from web.tests.world import claim, finish, finish_all

if TYPE_CHECKING:
    from pathlib import Path

    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

    from leaderboard.contests.models import Entry
    from leaderboard.contests.results import ContestStanding
    from web.tests.contests.cups import Cup

pytestmark = pytest.mark.django_db

CUP = "/contests/cup/"
PRELIMINARY1 = f"{CUP}boards/preliminary1/"


@pytest.fixture
def played(cup: Cup) -> dict[str, Entry]:
    """A contest with two teams, Heron and Larch, of one entry each. The entry of Larch is better."""
    heron = cup.enter(name="heron.so")
    finish_all()
    larch = cup.enter(
        teams.create(cup.contest, "Larch", by=cup.world.bob), cup.world.bob, tag=b"l", name="l.so"
    )
    while larch.submission.runs.filter(state="queued").exists():
        finish(claim(), slower=0.5)
    return {"heron": heron, "larch": larch}


def close(cup: Cup) -> None:
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    store_due_results()


def shown(found: ContestStanding) -> list[object]:
    """Return the ranks and scores that the pages show, so that a test can compare them before and after a change."""
    boards: list[object] = [
        (
            board.board.slug,
            [
                f"{row.rank.low}-{row.rank.high} {row.team.name} {row.file_name}"
                for row in board.rows
            ],
            [row.entry for row in board.rows],
        )
        for board in found.boards
    ]
    return [*boards, *((row.team.name, row.score) for row in found.combined)]


def test_the_result_is_what_the_boards_showed(cup: Cup, played: dict[str, Entry]) -> None:
    assert store_due_results() == []
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    before = shown(contest_standing(cup.contest))
    (result,) = store_due_results()
    assert (result.version, result.reason) == (1, "")
    after = contest_standing(cup.contest)
    assert after.result == result
    assert shown(after) == before
    assert store_due_results() == []


def without_links(client: Client, path: str) -> str:
    """Return the text of a page without what leads to runs, because nothing leads to deleted runs.

    These are links to runs, and the check boxes and the button that compare runs.
    """
    page = client.get(path).content.decode()
    page = re.sub(r'<a href="/runs/\d+/">(.*?)</a>', r"\1", page)
    page = re.sub(r'<th [^>]*><span class="hidden">Compare</span></th>', "", page)
    page = re.sub(r'<td role="cell" class="pick">.*?</td>', "", page, flags=re.DOTALL)
    page = re.sub(r'<form id="compare".*?</form>', "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", page)


def test_a_stored_result_links_only_runs_that_still_have_a_page(
    cup: Cup,
    played: dict[str, Entry],
    client: Client,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    close(cup)
    links = re.findall(r"/runs/\d+/", client.get(PRELIMINARY1).content.decode())
    services.withdraw(played["larch"].submission, by=cup.world.bob)
    with django_assert_num_queries(4):
        page = client.get(PRELIMINARY1).content.decode()
    left = re.findall(r"/runs/\d+/", page)
    assert len(left) == len(links) - 1
    assert all(client.get(link).status_code == 200 for link in left)
    (gone,) = set(links) - set(left)
    assert client.get(gone).status_code == 404
    organiser = cup.browser("staff").get(PRELIMINARY1).content.decode()
    assert gone in organiser
    assert cup.browser("staff").get(gone).status_code == 200


def test_a_board_offers_to_compare_the_runs_that_the_visitor_can_open(
    cup: Cup, played: dict[str, Entry], client: Client
) -> None:
    runs = Run.objects.filter(benchmark="sigmod2009", instance="preliminary1")
    page = client.get(PRELIMINARY1).content.decode()
    for run in runs:
        assert f'<input type="checkbox" name="runs" value="{run.pk}" form="compare"' in page
    assert page.count('action="/compare/"') == 1
    assert client.get("/compare/", {"runs": [run.pk for run in runs]}).status_code == 200
    Contest.objects.update(runs_private=True)
    for who in ("anonymous", "contestant"):  # of the two runs, they can open none and one
        page = cup.browser(who).get(PRELIMINARY1).content.decode()
        assert 'form="compare"' not in page
        assert 'action="/compare/"' not in page
    assert 'form="compare"' in cup.browser("jury").get(PRELIMINARY1).content.decode()


def test_later_changes_do_not_change_a_finished_contest(
    cup: Cup, played: dict[str, Entry], client: Client
) -> None:
    close(cup)
    paths = (CUP, PRELIMINARY1, f"{CUP}result.json")
    before = [without_links(client, path) for path in paths]
    services.withdraw(played["larch"].submission, by=cup.world.bob)
    cup.heron.name = "Renamed"
    cup.heron.save()
    Run.objects.update(eligible=False, ranked_on=[], score=9.0)
    board_entries.rebuild()
    Contest.objects.update(boards=["preliminary1"])
    assert [without_links(client, path) for path in paths] == before
    cup.contest.refresh_from_db()
    assert len(contest_boards(cup.contest)[0].rows) < 2  # the current runs would give another board


def test_the_result_waits_for_open_runs(cup: Cup, played: dict[str, Entry], client: Client) -> None:
    cup.enter(tag=b"late", name="late.so")
    close(cup)
    assert not Result.objects.exists()
    assert "Not final yet:" in client.get(CUP).content.decode()
    assert client.get(f"{CUP}result.json").status_code == 404
    finish_all()
    assert len(store_due_results()) == 1
    page = client.get(CUP).content.decode()
    assert "Final result of" in page
    assert "Not final yet:" not in page
    assert "late.so" in str(client.get(f"{CUP}result.json").json())


def test_a_decision_after_the_end_makes_a_further_version(
    cup: Cup, played: dict[str, Entry], client: Client
) -> None:
    close(cup)
    jury = cup.officials["jury"]
    Run.objects.update(eligible=False, ranked_on=[])  # the stored result counts instead
    organising.disqualify(played["larch"], "it read the clock", by=jury)
    page = client.get(PRELIMINARY1).content.decode()
    assert "Larch" not in page
    assert "Heron" in page
    front = client.get(CUP).content.decode()
    assert "This is version 2: the jury has changed the result. Reason: It read the clock." in front
    organising.restore(played["larch"], "it did not", by=jury)
    assert client.get(f"{CUP}result.json").json()["version"] == 3
    stored = [result.content for result in Result.objects.order_by("version")]
    assert stored[0] == stored[2] != stored[1]


def test_a_decision_before_the_end_stores_nothing(cup: Cup, played: dict[str, Entry]) -> None:
    organising.disqualify(played["larch"], "it read the clock", by=cup.officials["jury"])
    assert not Result.objects.exists()
    close(cup)
    assert [row.team.name for row in contest_standing(cup.contest).boards[0].rows] == ["Heron"]
    organising.restore(played["larch"], "it did not", by=cup.officials["jury"])
    names = [row.team.name for row in contest_standing(cup.contest).boards[0].rows]
    assert sorted(names) == ["Heron", "Larch"]


def test_a_moved_end_makes_a_new_result(cup: Cup, played: dict[str, Entry]) -> None:
    close(cup)
    move(cup.contest, results_at=20)
    assert results.newest_result(cup.contest) is None
    cup.enter(tag=b"2", name="second.so")
    finish_all()
    close(cup)
    newest = results.newest_result(cup.contest)
    assert newest is not None
    assert newest.version == 2
    assert "second.so" in str(newest.content)


def test_a_stored_result_costs_one_statement(
    cup: Cup, played: dict[str, Entry], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    close(cup)
    with django_assert_num_queries(1):
        contest_standing(cup.contest)
    with django_assert_num_queries(1):
        assert store_due_results() == []


def test_the_archive_shows_the_stored_result(
    cup: Cup, played: dict[str, Entry], tmp_path: Path
) -> None:
    waiting = cup.enter(tag=b"late")
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    folder = tmp_path / "archive"
    with pytest.raises(CommandError, match="2 runs of the contest have not ended"):
        call_command("archive_contest", "cup", str(folder))
    waiting.submission.runs.update(state="cancelled")
    call_command("archive_contest", "cup", str(folder), stdout=io.StringIO())
    services.withdraw(played["larch"].submission, by=cup.world.bob)
    again = tmp_path / "again"
    call_command("archive_contest", "cup", str(again), stdout=io.StringIO())
    for page in ("index.html", "board-preliminary1.html"):
        assert (folder / page).read_text() == (again / page).read_text()
    assert "Final result of" in (folder / "index.html").read_text()
    assert "Larch" in (again / "board-preliminary1.html").read_text()


def test_a_team_that_leads_twice_is_named_once(cup: Cup, client: Client) -> None:
    cup.enter(name="first.so")
    cup.enter(name="second.so", tag=b"2")
    finish_all()
    page = client.get(CUP).content.decode()
    assert "Heron, Heron" not in page
    assert '<td role="cell" data-label="Leader"><span>Heron</span></td>' in page


def test_the_archive_marks_no_phase_as_the_current_one(
    cup: Cup, played: dict[str, Entry], tmp_path: Path
) -> None:
    close(cup)
    call_command("archive_contest", "cup", str(tmp_path / "archive"), stdout=io.StringIO())
    assert ">now<" not in (tmp_path / "archive" / "index.html").read_text()
