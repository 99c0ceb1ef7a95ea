"""Tests who led a board (a ranking) from when to when, and that boards of older benchmark versions stay unchanged."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.utils import timezone

from leaderboard import board_page, services
from leaderboard.boards import board_named
from leaderboard.lead_history import note_leads
from leaderboard.models import LeadChange, Run
from leaderboard.ranking import board_entries
from leaderboard.submissions import reruns
from leaderboard.tests.conftest import Repository, Track, enter
from leaderboard.tests.test_record import ranked, timed

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from leaderboard.boards import Board

pytestmark = pytest.mark.django_db


def board() -> Board:
    found = board_named("preliminary1")
    assert found is not None
    return found


def leaders(**options: Any) -> list[str]:
    """Return the names of the leaders, newest first; a dash stands for one that is no longer public."""
    found = board_page.board_history(board(), **options)
    return [
        reign.change.run.submission.owner.username if reign.change and reign.change.run else "-"
        for reign in found.reigns
    ]


def test_a_change_of_the_lead_is_noted_once(
    alice: User, bob: User, track: Track, django_assert_num_queries: Any
) -> None:
    first = ranked(track, enter(alice))
    Run.objects.filter(pk=first.pk).update(finished_at=timezone.now() - timedelta(days=3))
    assert len(note_leads()) == 1
    # Two of the statements create and release a savepoint. PostgreSQL needs one more, which takes the lock.
    with django_assert_num_queries(6 if connection.vendor == "postgresql" else 5):
        assert note_leads() == []
    ranked(track, enter(bob, 1), ratio=0.4)
    note_leads()
    ranked(track, enter(alice, 2), ratio=0.6)
    note_leads()
    with django_assert_num_queries(2):
        assert leaders() == ["bob", "alice"]
    found = board_page.board_history(board())
    newer, older = found.reigns
    assert newer.until is None
    assert older.until == newer.since
    assert timezone.now() - older.since > timedelta(days=2)


def test_more_sessions_of_the_leader_are_no_change(alice: User, track: Track) -> None:
    ranked(track, enter(alice))
    note_leads()
    ranked(track, enter(alice), ratio=0.45)
    assert note_leads() == []


def test_the_history_comes_in_pages(alice: User, bob: User, track: Track) -> None:
    for number in range(5):
        ranked(track, enter((alice, bob)[number % 2], number), ratio=0.5 - number / 20)
        note_leads()
    first = board_page.board_history(board(), limit=2)
    second = board_page.board_history(board(), before=first.next_before, limit=2)
    third = board_page.board_history(board(), before=second.next_before, limit=2)
    every = [reign for page in (first, second, third) for reign in page.reigns]
    assert every == list(board_page.board_history(board()).reigns)
    assert len(every) == 5
    assert third.next_before is None
    assert [reign.until for reign in every[1:]] == [reign.since for reign in every[:-1]]


def test_a_deleted_leader_is_not_named(alice: User, bob: User, track: Track) -> None:
    ranked(track, enter(alice), ratio=0.4)
    note_leads()
    ranked(track, enter(bob, 1))
    services.withdraw(timed_submission(alice), by=alice)
    note_leads()
    assert leaders() == ["bob", "-"]


def test_a_board_without_entries_has_no_leader(alice: User, track: Track) -> None:
    run = ranked(track, enter(alice))
    note_leads()
    services.withdraw(run.submission, by=alice)
    (gone,) = note_leads()
    assert gone.run_id is None
    assert note_leads() == []


def timed_submission(owner: User) -> Any:
    return owner.submissions.get()


def test_the_board_of_an_older_version_stays(
    alice: User, bob: User, track: Track, repository: Repository
) -> None:
    old = ranked(track, enter(alice))
    other = ranked(track, enter(bob, 1), ratio=0.6)
    note_leads()
    repository.set_version("sigmod2009", 2)
    reruns.rerun_stale()
    board_entries.rebuild()
    shown = board_page.standings(board())
    assert (shown.benchmark_version, shown.rows, shown.versions) == (2, (), (1,))
    superseded = board_page.standings(board(), version=1)
    assert superseded.superseded
    assert [row.run_id for row in superseded.rows] == [old.pk, other.pk]
    again = track.finish(
        Run.objects.get(benchmark_version=2, submission=other.submission), ratios=[0.5] * 15
    )
    note_leads()
    shown = board_page.standings(board())
    assert [row.run_id for row in shown.rows] == [again.pk]
    assert shown.versions == (2, 1)
    assert board_page.standings(board(), version=7).benchmark_version == 2
    assert leaders() == ["bob", "alice"]
    assert board_page.board_history(board()).versions == {2: 1, 1: 2}


def test_deleting_takes_an_entry_off_the_old_board_too(
    alice: User, bob: User, track: Track, repository: Repository
) -> None:
    ranked(track, enter(alice))
    twice = ranked(track, enter(alice), ratio=0.4)
    kept = ranked(track, enter(bob, 1), ratio=0.6)
    repository.set_version("sigmod2009", 2)
    services.withdraw(twice.submission, by=alice)
    rows = board_page.standings(board(), version=1).rows
    first = timed(alice.submissions.earliest("pk"))
    assert [row.run_id for row in rows] == [first.pk, kept.pk]
    services.withdraw(first.submission, by=alice)
    (row,) = board_page.standings(board(), version=1).rows
    assert (row.run_id, row.position) == (kept.pk, 1)


def test_nothing_is_noted_without_entries(db: None) -> None:
    assert note_leads() == []
    assert not LeadChange.objects.exists()
