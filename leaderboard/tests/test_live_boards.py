"""Tests that the site shows the board (ranking) of an older benchmark version until an organiser switches it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied

from leaderboard import board_page, live_boards, overview, services
from leaderboard.boards import all_boards
from leaderboard.lead_history import note_leads
from leaderboard.live_boards import make_live, note_live_versions, staging
from leaderboard.models import FINAL_STATES, LiveVersion, Machine, Run, State
from leaderboard.queries import visible_runs
from leaderboard.queue import claims
from leaderboard.ranking import board_entries
from leaderboard.ranking_status import RankStatus, ranking_status
from leaderboard.services import Refused
from leaderboard.submissions import reruns
from leaderboard.tests.conftest import Repository, Track, enter
from leaderboard.tests.reports import make_report
from leaderboard.tests.test_board_history import board
from leaderboard.tests.test_record import gates, ranked, timed
from runner.terms import Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db


def bump(repository: Repository) -> None:
    """Store which version each board shows, publish version 2 of the benchmark, and queue new runs of all entries."""
    note_live_versions()
    repository.set_version("sigmod2009", 2)
    reruns.rerun_stale()
    board_entries.rebuild()


def again(run: Run) -> Run:
    return Run.objects.get(benchmark_version=2, submission=run.submission)


def status_of(run: Run) -> RankStatus:
    run = Run.objects.select_related("submission").get(pk=run.pk)
    return ranking_status(run, AnonymousUser(), visible_runs(AnonymousUser()))


def shown() -> tuple[int | None, list[int]]:
    found = board_page.standings(board())
    return found.benchmark_version, [row.run_id for row in found.rows]


def test_the_old_board_stays_until_the_new_one_is_made_live(
    alice: User, bob: User, organiser: User, track: Track, repository: Repository
) -> None:
    first, second = ranked(track, enter(alice), ratio=0.4), ranked(track, enter(bob, 1), ratio=0.6)
    bump(repository)
    assert shown() == (1, [first.pk, second.pk])
    assert str(status_of(first).ranks[0]) == "1 on Preliminary 1"
    assert status_of(first).why_not == ()
    track.finish(again(first), ratios=[0.7] * 15)
    assert shown() == (1, [first.pk, second.pk])
    (reason,) = status_of(again(first)).why_not
    assert str(reason).startswith(
        "the run used version 2 of the benchmark, and the board Preliminary 1 still shows version 1"
    )
    with pytest.raises(Refused, match="1 of 2 entries has not been run again"):
        make_live(board(), by=organiser)
    track.finish(again(second), ratios=[0.5] * 15)
    make_live(board(), by=organiser)
    assert shown() == (2, [again(second).pk, again(first).pk])
    assert status_of(first).ranks == ()
    assert "the run used version 1 of the benchmark" in str(status_of(first).why_not[0])
    assert str(status_of(again(second)).ranks[0]) == "1 on Preliminary 1"
    old = board_page.standings(board(), version=1)
    assert [row.run_id for row in old.rows] == [first.pk, second.pk]
    assert (old.superseded, old.is_live) == (True, False)
    history = board_page.board_history(board())
    assert (history.live, history.versions) == (2, {2: 2, 1: 2})
    with pytest.raises(Refused, match="shows the newest version of its benchmark already"):
        make_live(board(), by=organiser)


def test_pages_of_all_boards_show_the_live_version(
    alice: User, organiser: User, track: Track, repository: Repository
) -> None:
    first = ranked(track, enter(alice))
    note_leads()
    bump(repository)
    track.finish(again(first), ratios=[0.7] * 15)
    assert note_leads() == []
    (lead,) = [one for one in overview.leads(all_boards()) if one.board == board()]
    assert [entry.run_id for entry in lead.entries] == [first.pk]
    assert [entry.run_id for entry in overview.entries_of(user="alice")] == [first.pk]
    make_live(board(), by=organiser)
    (lead,) = [one for one in overview.leads(all_boards()) if one.board == board()]
    assert [entry.run_id for entry in lead.entries] == [again(first).pk]
    (change,) = note_leads()
    assert change.benchmark_version == 2


def test_the_comparison_says_who_falls_out_and_why(
    alice: User, bob: User, organiser: User, track: Track, repository: Repository
) -> None:
    first, second = ranked(track, enter(alice), ratio=0.4), ranked(track, enter(bob, 1), ratio=0.6)
    bump(repository)
    newcomer = ranked(track, enter(bob, 2), ratio=0.8)
    track.finish(again(second), ratios=[0.5] * 15)
    found = staging(board(), organiser)
    assert found is not None
    (changes,) = found.changes.values()
    assert [(one.old, one.new, one.reason) for one in changes] == [
        ("1", "", "the runs of the entry have not ended yet"),
        ("2", "1", ""),
        ("", "2", ""),
    ]
    assert [one.entry.run_id for one in changes] == [first.pk, second.pk, newcomer.pk]
    track.finish(again(first), ratios=[0.7] * 15, verdict=Verdict.FAILED, reason="wrong")
    found = staging(board(), organiser)
    assert found is not None
    assert found.complete
    assert found.changes["fast"][0].reason == "the run did not pass (verdict: failed)"


def test_a_cancelled_or_deleted_run_does_not_block(
    alice: User, bob: User, organiser: User, track: Track, repository: Repository
) -> None:
    first, second = ranked(track, enter(alice)), ranked(track, enter(bob, 1), ratio=0.6)
    bump(repository)
    services.cancel(again(first), by=alice)
    services.withdraw(second.submission, by=bob)
    found = staging(board(), organiser)
    assert found is not None
    assert (found.entries, found.missing) == (1, 0)
    assert found.changes["fast"][0].reason == "the run of the entry was cancelled"
    make_live(board(), by=organiser)
    assert shown() == (2, [])


def test_an_entry_that_a_new_version_overtakes_is_run_again(
    alice: User, bob: User, machine: Machine, track: Track, repository: Repository
) -> None:
    entered, running = enter(alice), enter(bob, 1)
    Run.objects.filter(submission=entered).update(priority=50)
    for gate in gates(running):
        claimed = claims.claim(claims.Slot(machine, 0))
        assert claimed == gate
        services.record(make_report(claimed))
    active = claims.claim(claims.Slot(machine, 0))
    assert active == timed(running)
    bump(repository)
    # No worker can start the queued run of the old version, so it is cancelled. The running one continues. Both
    # submissions get a run of the new version.
    (old,) = entered.runs.filter(benchmark_version=1, benchmark="sigmod2009")
    assert old.state == State.CANCELLED
    assert old.reason.startswith("not run, because the benchmark has a newer version now")
    assert again(old).state == State.QUEUED
    active.refresh_from_db()
    assert active.state not in FINAL_STATES
    assert again(active).state == State.QUEUED
    assert reruns.rerun_stale() == []


def test_open_gates_block(
    alice: User, organiser: User, track: Track, repository: Repository
) -> None:
    ranked(track, enter(alice))
    note_live_versions()
    repository.set_version("unit", 2)
    repository.set_version("sigmod2009", 2)
    reruns.rerun_stale()
    runs = {run.benchmark: run for run in Run.objects.filter(benchmark_version=2)}
    track.finish(runs["sigmod2009"], ratios=[0.7] * 15)
    found = staging(board(), organiser)
    assert found is not None
    assert found.missing == 1
    track.finish(runs["unit"])
    found = staging(board(), organiser)
    assert found is not None
    assert found.missing == 0
    assert found.changes["fast"][0].new == "1"


def test_a_run_that_was_never_ranked_claims_no_rank_of_its_binary(
    alice: User, track: Track, repository: Repository
) -> None:
    """Two runs of one binary: the failed one must not show the rank that the other one has on the old board."""
    good = ranked(track, enter(alice))
    other = enter(alice)
    bad = track.finish(other.runs.get(kind="performance"), verdict=Verdict.FAILED, reason="wrong")
    bump(repository)
    assert status_of(good).ranks != ()
    assert status_of(bad).ranks == ()


def test_only_organisers_make_a_version_live(
    alice: User, track: Track, repository: Repository
) -> None:
    ranked(track, enter(alice))
    bump(repository)
    with pytest.raises(PermissionDenied):
        make_live(board(), by=alice)


def test_a_board_keeps_the_version_of_its_first_entries(
    alice: User,
    organiser: User,
    track: Track,
    repository: Repository,
    django_assert_num_queries: Any,
) -> None:
    """Even if the board's version is stored only after the benchmark was updated, the board keeps the older version."""
    first = ranked(track, enter(alice))
    repository.set_version("sigmod2009", 2)
    reruns.rerun_stale()
    track.finish(again(first), ratios=[0.7] * 15)
    (row,) = note_live_versions()
    assert (row.board, row.version, row.by) == ("preliminary1", 1, None)
    with django_assert_num_queries(1):
        assert note_live_versions() == []
    assert LiveVersion.objects.count() == 1
    live = live_boards.live_versions()
    assert (live["preliminary1"], live["preliminary2"]) == (1, 2)
    with django_assert_num_queries(5):
        assert staging(board(), organiser) is not None
