"""Tests which benchmark version a contest's boards show after a benchmark got a newer one, and what is run again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from leaderboard.boards import board_named
from leaderboard.contests import organising, teams
from leaderboard.contests.hidden import queue_due_runs
from leaderboard.contests.models import Contest
from leaderboard.contests.results import store_due_results
from leaderboard.contests.standings import contest_boards
from leaderboard.live_boards import make_live, staging
from leaderboard.models import BoardEntry, Run
from leaderboard.ranking import board_entries
from leaderboard.services import Refused
from leaderboard.submissions.reruns import _stale_targets, rerun_stale
from runner.terms import Verdict
from web.tests.contests.cups import add_hidden, move
from web.tests.world import BOARD, claim, finish, finish_all, outdate_boards

if TYPE_CHECKING:
    from pathlib import Path

    from django.test import Client

    from leaderboard.boards import Board
    from leaderboard.contests.models import Entry, HiddenInstance, Team
    from leaderboard.live_boards import Staging
    from web.tests.contests.cups import Cup

pytestmark = pytest.mark.django_db

CUP = "/contests/cup/"
PRELIMINARY1 = f"{CUP}boards/preliminary1/"


@dataclass(frozen=True)
class Played:
    """A contest with two teams of one entry each. Larch's entry is better. `old` is the version that both played."""

    cup: Cup
    heron: Entry
    larch: Entry
    old: int

    @property
    def new(self) -> int:
        return self.old + 1

    def shown(self, slug: str = "preliminary1", *, live: bool = False) -> tuple[int, list[str]]:
        """Return the version of a board, and its teams, best first."""
        contest = Contest.objects.get(pk=self.cup.contest.pk)
        found = contest_boards(contest, live=live, secret=True)
        (board,) = (one for one in found if one.board.slug == slug)
        return board.version, [row.team.name for row in board.rows]

    def run(self, entry: Entry, version: int, hidden: HiddenInstance | None = None) -> Run:
        """Return an entry's run on preliminary1, or on a hidden instance."""
        instance = hidden.name if hidden else BOARD.instance
        found: Run = entry.submission.runs.get(instance=instance, benchmark_version=version)
        return found

    def finish_runs_of(self, entry: Entry, verdict: Verdict = Verdict.PASSED) -> None:
        """Finish all queued runs of one entry."""
        waiting = Run.objects.filter(state="queued")
        others = list(waiting.exclude(submission=entry.submission_id).values_list("pk", "priority"))
        Run.objects.filter(pk__in=[pk for pk, _ in others]).update(priority=90)
        while waiting.filter(submission=entry.submission_id).exists():
            finish(claim(), verdict)
        for pk, priority in others:
            Run.objects.filter(pk=pk).update(priority=priority)


@pytest.fixture
def played(cup: Cup) -> Played:
    heron = cup.enter(name="heron.so")
    finish_all()
    team: Team = teams.create(cup.contest, "Larch", by=cup.world.bob)
    larch = cup.enter(team, cup.world.bob, tag=b"l", name="larch.so")
    while larch.submission.runs.filter(state="queued").exists():
        finish(claim(), slower=0.5)
    newest = heron.submission.runs.get(instance=BOARD.instance).benchmark_version
    return Played(cup, heron, larch, newest - 1)


def bump(played: Played) -> list[Run]:
    """Make all runs so far runs of the version before, and queue them again."""
    outdate_boards()
    runs = rerun_stale()
    board_entries.rebuild()
    assert not Run.objects.filter(eligible=True, benchmark_version=played.old).exists()
    return runs


def board() -> Board:
    found = board_named("preliminary1")
    assert found is not None
    return found


def staged(played: Played) -> Staging:
    found = staging(board(), played.cup.world.olga)
    assert found is not None
    return found


def text(client: Client, path: str) -> str:
    return " ".join(client.get(path).content.decode().split())


def test_the_board_keeps_all_teams_until_the_new_version_is_live(
    played: Played, client: Client
) -> None:
    assert played.shown() == (played.new, ["Larch", "Heron"])
    bump(played)
    assert played.shown() == (played.old, ["Larch", "Heron"])
    played.finish_runs_of(played.heron)
    assert played.shown() == (played.old, ["Larch", "Heron"])
    sentence = (
        f"Version {played.new} of the benchmark is being run for the entries; this board shows version {played.old} "
        f"until an organiser makes version {played.new} live."
    )
    assert sentence in text(client, PRELIMINARY1)
    assert f"version {played.old}; version {played.new} is being run" in text(client, CUP)
    with pytest.raises(Refused):
        make_live(board(), by=played.cup.world.olga)
    finish_all()
    make_live(board(), by=played.cup.world.olga)
    version, names = played.shown()
    assert (version, sorted(names)) == (played.new, ["Heron", "Larch"])
    assert "is being run" not in text(client, PRELIMINARY1)
    assert played.shown("preliminary2")[0] == played.old


def test_pages_of_runs_and_of_the_contest_agree(played: Played, client: Client) -> None:
    bump(played)
    finish_all()

    def pages(entry: Entry) -> tuple[bool, ...]:
        """Return what pages show: whether the contest's board links to the old run, and whether this run has a rank.

        Also return whether the board links to the new run, and whether that run's page says that its version is not
        live yet.
        """
        old, new = played.run(entry, played.old), played.run(entry, played.new)
        shown = text(client, PRELIMINARY1)
        return (
            f'href="/runs/{old.pk}/"' in shown,
            re.search(r"Rank [12]\S* on", text(client, f"/runs/{old.pk}/")) is not None,
            f'href="/runs/{new.pk}/"' in shown,
            "an organiser can switch the board to version" in text(client, f"/runs/{new.pk}/"),
        )

    for entry in (played.heron, played.larch):
        assert pages(entry) == (True, True, False, True)
        assert "an organiser can switch the board to version" in text(
            client, f"/submissions/{entry.submission_id}/"
        )
    make_live(board(), by=played.cup.world.olga)
    for entry in (played.heron, played.larch):
        assert pages(entry) == (False, False, True, False)


def test_a_frozen_board_keeps_the_version_of_the_freeze(played: Played, client: Client) -> None:
    move(played.cup.contest, freezes_at=0)
    bump(played)
    assert "is being run" not in text(client, PRELIMINARY1)
    finish_all()
    make_live(board(), by=played.cup.world.olga)
    assert played.shown() == (played.old, ["Larch", "Heron"])
    assert played.shown(live=True)[0] == played.new
    move(played.cup.contest, freezes_at=-1, closes_at=-1, results_at=1)
    assert played.shown()[0] == played.old


@pytest.mark.parametrize("stored", [True, False])
def test_a_closed_contest_keeps_its_version(
    played: Played, client: Client, tmp_path: Path, stored: bool
) -> None:
    """The result has the version that was live at the end of the contest, even if it is stored after a switch."""
    move(played.cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    if stored:
        store_due_results()
    before = played.shown()[1]
    bump(played)
    finish_all()
    make_live(board(), by=played.cup.world.olga)
    store_due_results()
    result = client.get(f"{CUP}result.json").json()
    found = result["boards"][0]
    assert found["benchmark_version"] == (played.new if stored else played.old)
    assert [row["file_name"] for row in found["rows"]] == ["larch.so", "heron.so"]
    assert before == ["Larch", "Heron"]
    page = text(client, PRELIMINARY1)
    call_command("archive_contest", "cup", str(tmp_path / "archive"))
    archive = (tmp_path / "archive" / "board-preliminary1.html").read_text()
    for shown in (page, " ".join(archive.split())):
        assert f"version {found['benchmark_version']}, on machine class" in shown
        assert "is being run" not in shown


def test_the_result_does_not_wait_for_a_version_that_is_not_live(played: Played) -> None:
    assert len(bump(played)) == 4
    move(played.cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    Run.objects.update(created_at=played.cup.contest.opens_at)
    (result,) = store_due_results()
    found = result.content["boards"][0]
    assert (found["benchmark_version"], len(found["rows"])) == (played.old, 2)


def test_an_older_result_without_a_version_has_a_page(played: Played, client: Client) -> None:
    move(played.cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    (result,) = store_due_results()
    for one in result.content["boards"]:
        del one["benchmark_version"]
    result.save()
    page = text(client, PRELIMINARY1)
    assert "Larch" in page
    assert "version" not in page.split("<caption>")[1].split("</caption>")[0]


@pytest.fixture
def hidden(played: Played) -> HiddenInstance:
    """A hidden instance of the benchmark of the boards, which both teams have played."""
    found = add_hidden(played.cup, target=BOARD, parameters={"threads": 7})
    assert len(queue_due_runs()) == 2
    finish_all()
    return found


def test_a_hidden_instance_switches_when_all_entries_have_been_judged(
    played: Played, hidden: HiddenInstance
) -> None:
    assert played.shown(hidden.slug)[0] == played.new
    bump(played)
    assert sorted(played.shown(hidden.slug)[1]) == ["Heron", "Larch"]
    played.finish_runs_of(played.heron)
    version, names = played.shown(hidden.slug)
    assert (version, sorted(names)) == (played.old, ["Heron", "Larch"])
    jury = played.cup.browser("jury")
    page = text(jury, f"{CUP}boards/{hidden.slug}/?live=1")
    assert f"this board shows version {played.old} until all entries have been run again" in page
    played.finish_runs_of(played.larch)
    version, names = played.shown(hidden.slug)
    assert (version, sorted(names)) == (played.new, ["Heron", "Larch"])


@pytest.mark.parametrize(
    ("verdict", "switches"), [(Verdict.FAILED, True), (Verdict.INFRASTRUCTURE, False)]
)
def test_only_a_verdict_about_the_library_ends_the_wait(
    played: Played, hidden: HiddenInstance, verdict: Verdict, switches: bool
) -> None:
    bump(played)
    played.finish_runs_of(played.heron)
    played.finish_runs_of(played.larch, verdict)
    assert played.run(played.larch, played.new, hidden).verdict == verdict
    version, names = played.shown(hidden.slug)
    assert version == (played.new if switches else played.old)
    assert names == (["Heron"] if switches else names)


def test_a_disqualified_entry_does_not_hold_up_the_switch(
    played: Played, hidden: HiddenInstance
) -> None:
    bump(played)
    played.finish_runs_of(played.heron)
    organising.disqualify(played.larch, "cheats", by=played.cup.officials["jury"])
    assert played.shown(hidden.slug) == (played.new, ["Heron"])
    move(played.cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    Run.objects.filter(state="queued").delete()
    (result,) = store_due_results()
    (found,) = (one for one in result.content["boards"] if one["board"]["slug"] == hidden.slug)
    assert (found["benchmark_version"], len(found["rows"])) == (played.new, 1)


def test_an_old_run_on_a_hidden_instance_gives_no_wrong_reason(
    played: Played, hidden: HiddenInstance
) -> None:
    bump(played)
    run = played.run(played.heron, played.old, hidden)
    jury = played.cup.browser("jury")
    for path in (f"/runs/{run.pk}/", f"/submissions/{run.submission_id}/"):
        assert f"the run used version {played.old} of the benchmark" not in text(jury, path)


def test_a_new_hidden_instance_is_played_by_entries_of_the_shown_version(played: Played) -> None:
    bump(played)
    add_hidden(played.cup)
    assert {run.submission_id for run in queue_due_runs()} == {
        played.heron.submission_id,
        played.larch.submission_id,
    }


def test_entries_of_running_contests_are_queued_once(
    played: Played, hidden: HiddenInstance
) -> None:
    """Entries of contests are run again even if no board of the site shows them."""
    BoardEntry.objects.all().delete()
    runs = bump(played)
    assert {(run.submission_id, run.instance) for run in runs} == {
        (entry.submission_id, instance)
        for entry in (played.heron, played.larch)
        for instance in ("preliminary1", "preliminary2", hidden.name)
    }
    assert len(runs) == 6
    assert {run.hidden_id for run in runs if run.instance == hidden.name} == {hidden.pk}
    assert all(run.benchmark_version == played.new for run in runs)
    assert rerun_stale() == []


def test_what_no_longer_counts_is_not_queued(played: Played, hidden: HiddenInstance) -> None:
    BoardEntry.objects.all().delete()
    outdate_boards()
    organising.disqualify(played.larch, "cheats", by=played.cup.officials["jury"])
    type(hidden).objects.update(removed_at=F("added_at"))
    runs = rerun_stale()
    assert {run.submission_id for run in runs} == {played.heron.submission_id}
    assert {run.instance for run in runs} == {"preliminary1", "preliminary2"}
    Run.objects.filter(pk__in=[run.pk for run in runs]).delete()
    move(played.cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    assert rerun_stale() == []


def test_looking_for_stale_entries_costs_the_same_for_any_number(
    played: Played, hidden: HiddenInstance
) -> None:
    outdate_boards()

    def cost() -> int:
        with CaptureQueriesContext(connection) as found:
            assert list(_stale_targets())
        return len(found)

    before = cost()
    for number in range(3):
        played.cup.enter(tag=bytes([number]))
    finish_all()
    outdate_boards()
    assert cost() == before


def test_the_switch_waits_for_running_contests(played: Played, hidden: HiddenInstance) -> None:
    """The switch waits for an entry that a contest counts, even if the site's board does not have it."""
    outdate_boards()
    BoardEntry.objects.all().delete()
    found = staged(played)
    assert (found.entries, found.contests.results) == (0, 4)
    assert (found.contests.missing, found.contests.unqueued, found.complete) == (4, 4, False)
    olga = played.cup.browser("staff")
    page = text(olga, "/boards/preliminary1/new-version/")
    assert (
        "Unfinished contests use 4 results of this benchmark, those on hidden instances included; for 0 of these, the"
        in page
    )
    assert "Queue the missing runs" in page
    assert "Make version" not in page
    rerun_stale()
    assert (staged(played).contests.missing, staged(played).contests.unqueued) == (4, 0)
    played.finish_runs_of(played.heron)
    assert staged(played).contests.missing == 2
    with pytest.raises(
        Refused, match="for 2 of 4 results that unfinished contests use, the runs with version"
    ):
        make_live(board(), by=played.cup.world.olga)
    finish_all()
    assert staged(played).complete
    assert "Make version" in text(olga, "/boards/preliminary1/new-version/")


def test_a_closed_contest_does_not_hold_up_the_switch(
    played: Played, hidden: HiddenInstance
) -> None:
    outdate_boards()
    BoardEntry.objects.all().delete()
    move(played.cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    assert (staged(played).contests.results, staged(played).complete) == (0, True)
