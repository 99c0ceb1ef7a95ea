"""Tests machine classes: a run executes only on the class that it wants, and boards never mix two classes.

A machine class is the processor model, the number of processors and the size of memory. A board ranks libraries.
"""

from typing import Any

import pytest
from django.contrib.auth.models import User

from leaderboard import board_page, boards
from leaderboard.models import BoardEntry, Machine, Run, State
from leaderboard.queue import claims
from leaderboard.queue.claims import Slot
from leaderboard.submissions import reruns
from leaderboard.tests.conftest import LibraryMaker, Repository, Track, enter
from leaderboard.tests.test_record import gates, ranked, timed
from leaderboard.tests.test_submit import submit
from leaderboard.tests.test_worker import Scripted, worker
from leaderboard.worker import jail_level
from runner.settings import SettingsError
from runner.terms import JailLevel

pytestmark = pytest.mark.django_db


@pytest.fixture
def slow(db: None) -> Machine:
    return Machine.objects.create(name="bench2", machine_class="slow")


def test_a_timed_run_goes_where_it_was_asked_for_and_gates_anywhere(
    alice: User, machine: Machine, slow: Machine, library_maker: LibraryMaker, settings: Any
) -> None:
    settings.KEYDROME_MACHINE_CLASS = "fast"
    submission = submit(alice, library_maker())
    assert {run.wanted_class for run in gates(submission)} == {""}
    assert timed(submission).wanted_class == "fast"
    script = Scripted()
    assert worker(slow, script).drain() == 2
    slow.refresh_from_db()
    assert (
        slow.refusal
        == "some waiting runs need a machine of class fast, and this machine is of class slow: "
        "an organiser must start a worker on a machine of class fast"
    )
    assert timed(submission).state == State.QUEUED
    assert worker(machine, script).drain() == 1
    assert timed(submission).machine == machine


def test_a_run_is_run_again_on_the_class_where_it_was(
    alice: User, track: Track, slow: Machine, repository: Repository
) -> None:
    run = ranked(track, enter(alice))
    again = reruns.rerun(run, by=alice)
    assert again.wanted_class == "fast"
    assert claims.claim(Slot(slow, 0)) is None
    Run.objects.filter(pk=again.pk).update(state=State.CANCELLED)
    repository.set_version("sigmod2009", 2)
    (stale,) = reruns.rerun_stale()
    assert stale.wanted_class == "fast"
    assert reruns.rerun_stale() == []


def test_a_wrong_jail_level_of_a_worker_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYDROME_JAIL_LEVEL", "strict")
    with pytest.raises(SettingsError, match="'strict', but must be one of full, weak, none"):
        jail_level()
    monkeypatch.setenv("KEYDROME_JAIL_LEVEL", "weak")
    assert jail_level() is JailLevel.WEAK


def test_a_board_never_mixes_classes(alice: User, bob: User, track: Track, slow: Machine) -> None:
    ranked(track, enter(alice))
    ranked(Track(slow), enter(bob, 1), ratio=0.1)
    assert set(BoardEntry.objects.values_list("machine_class", "user__username", "position")) == {
        ("fast", "alice", 1),
        ("slow", "bob", 1),
    }
    board = boards.board_named("preliminary1")
    assert board is not None
    for name, owner in (("fast", "alice"), ("slow", "bob")):
        shown = board_page.standings(board, name)
        assert [row.user.username for row in shown.rows] == [owner]
