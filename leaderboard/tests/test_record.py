# Tests how stored results, deletions and newer benchmark versions change the rows of the boards. A board ranks
# libraries. A gate is a correctness test that a board requires. A run consists of sessions (repetitions).

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard import board_page, boards, queries, services
from leaderboard.boards import board_named
from leaderboard.models import BoardEntry, Machine, Run, RunDetail, State, Submission
from leaderboard.queue import claims
from leaderboard.queue.claims import Slot
from leaderboard.ranking import board_entries
from leaderboard.ranking_status import RankStatus, ranking_status
from leaderboard.submissions import reruns
from leaderboard.tests.conftest import PRELIMINARY1, PRELIMINARY2, Repository, Track, enter
from leaderboard.tests.reports import make_report, warning
from runner.report import Finding
from runner.terms import Severity, Verdict

pytestmark = pytest.mark.django_db

# The reasons against a run whose required tests have not passed.
NOT_YET = [
    f"the {gate} tests have not passed yet: wait until they have ended; if none is queued or running, "
    "submit the library again"
    for gate in ("unit", "phantom")
]


def timed(submission: Submission) -> Run:
    return submission.runs.select_related("submission", "machine").get(instance="preliminary1")


def gates(submission: Submission) -> list[Run]:
    return list(submission.runs.filter(kind="correctness").order_by("id"))


def ranked(track: Track, submission: Submission, ratio: float = 0.5) -> Run:
    """Let all runs of a submission pass. The ratios of the timed run's sessions start at `ratio` and grow by 0.001."""
    for gate in gates(submission):
        track.finish(gate)
    return track.finish(timed(submission), ratios=[ratio + i / 1000 for i in range(15)])


def status_of(run: Run) -> RankStatus:
    """Return the ranks of a run as the public sees them."""
    stranger = AnonymousUser()
    return ranking_status(run, stranger, queries.visible_runs(stranger))


def rows() -> list[BoardEntry]:
    board = board_named("preliminary1")
    assert board is not None
    return list(board_page.standings(board).rows)


def test_a_passed_library_gets_a_row(alice: User, track: Track) -> None:
    submission = enter(alice)
    run = ranked(track, submission)
    assert run.eligible
    assert run.why_not == []
    assert run.score == pytest.approx(0.507)
    assert run.total_ms == pytest.approx(50.7)
    assert (run.deadlocks, run.transactions_failed, run.transactions_completed) == (30, 0, 15000)
    assert not run.provisional
    (row,) = rows()
    assert (row.run_id, row.user_id, row.position, row.rank_low, row.rank_high) == (
        run.pk,
        alice.pk,
        1,
        1,
        1,
    )
    assert row.blob_sha256 == submission.blob_sha256
    assert row.run.jail_level == "full"
    assert row.score_low < row.score < row.score_high


def test_the_gates_may_come_last(alice: User, track: Track) -> None:
    submission = enter(alice)
    run = track.finish(timed(submission))
    assert run.why_not == NOT_YET
    assert rows() == []
    first, second = gates(submission)
    track.finish(first)
    assert rows() == []
    track.finish(second)
    assert [row.run_id for row in rows()] == [run.pk]


@pytest.mark.parametrize(("gate_scale", "counts"), [("paper", True), ("smoke", False)])
def test_a_gate_counts_if_its_scale_is_at_least_that_of_the_run(
    gate_scale: str, counts: bool, alice: User, track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = tuple(replace(board, scales=("laptop",)) for board in boards._published())
    monkeypatch.setattr(boards, "_published", lambda: changed)
    submission = enter(alice, scale="laptop")
    submission.runs.filter(kind="correctness").update(scale=gate_scale)
    run = ranked(track, submission)
    assert run.eligible is counts
    assert len(rows()) == counts


def test_a_failed_gate_takes_the_row_away(alice: User, track: Track) -> None:
    run = ranked(track, enter(alice))
    again = enter(alice)
    track.finish(gates(again)[1], verdict=Verdict.CRASHED, reason="signal 11")
    run.refresh_from_db()
    assert run.why_not == ["the unit tests did not pass (verdict: crashed)"]
    assert rows() == []


def test_each_board_decides_whether_it_accepts_a_stale_read(
    alice: User, track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    lenient = board_named("preliminary1")
    assert lenient is not None
    strict = replace(lenient, slug="strict", title="Strict", strict=True)
    monkeypatch.setattr(boards, "_published", lambda: (lenient, strict))
    submission = enter(alice)
    stale = Finding("phantom", "stale_read", Severity.REQUIRED, "it saw an old state")
    first, second = gates(submission)
    track.finish(first)
    track.finish(second, verdict=Verdict.FAILED, reason="stale", findings=(stale,))
    run = track.finish(timed(submission), ratios=[0.5] * 15)
    assert (run.eligible, run.ranked_on) == (True, ["preliminary1"])
    assert list(BoardEntry.objects.values_list("board", flat=True)) == ["preliminary1"]
    status = status_of(run)
    assert [place.board.slug for place in status.ranks] == ["preliminary1"]
    assert len(status.why_not) == 1
    assert status.why_not[0].text.endswith("which the board Strict does not accept")
    page = queries.run_page(second.pk, alice)
    assert page is not None
    assert [board.slug for board in page.accepted_on] == ["preliminary1"]


def test_a_gate_that_the_machine_failed_does_not_remove_the_row(alice: User, track: Track) -> None:
    run = ranked(track, enter(alice))
    again = enter(alice)
    track.finish(gates(again)[0], verdict=Verdict.INFRASTRUCTURE, ratios=[])
    assert [row.run_id for row in rows()] == [run.pk]


def test_a_refusal_is_not_held_against_the_same_file_of_somebody_else(
    alice: User, bob: User, track: Track
) -> None:
    """A contestant's copy of a reference library is refused if it links shared objects that only references may link.

    The refusal must not affect the reference library itself.
    """
    run = ranked(track, enter(alice))
    for gate in gates(enter(bob)):
        track.finish(gate, verdict=Verdict.REFUSED, ratios=[])
    assert [row.run_id for row in rows()] == [run.pk]


def test_another_configuration_is_another_entry(alice: User, track: Track) -> None:
    """Gates that passed under one configuration do not count for another configuration."""
    submission = enter(alice)
    for gate in gates(submission):
        track.finish(gate)
    other = enter(alice, configuration="rw")
    run = track.finish(timed(other))
    assert run.why_not == NOT_YET


def test_failed_transactions_keep_a_run_off_the_board(alice: User, track: Track) -> None:
    submission = enter(alice)
    for gate in gates(submission):
        track.finish(gate)
    run = track.finish(timed(submission), failed=1)
    assert run.why_not == [
        (
            "15 of 15,000 transactions failed (did not end as the benchmark demands), and a board requires that all "
            "complete: correct the library and submit it again"
        )
    ]
    assert rows() == []


def test_discarded_sessions_are_shown_and_do_not_count(alice: User, track: Track) -> None:
    submission = enter(alice)
    for gate in gates(submission):
        track.finish(gate)
    run = track.finish(timed(submission), ratios=[0.5, 9.0, *[0.5] * 10, 9.0], void=(1, 12))
    detail = RunDetail.objects.get(pk=run.pk)
    assert detail.ratios == [0.5] * 11
    assert (run.score, run.total_ms, run.provisional, run.eligible) == (0.5, 50.0, False, True)
    voided = [number for number, row in enumerate(detail.sessions) if row["void"]]
    assert voided == [1, 12]
    assert detail.series["session"] not in {2, 13}


def test_the_same_binary_is_one_entry_with_more_sessions(alice: User, track: Track) -> None:
    ranked(track, enter(alice))
    newest = ranked(track, enter(alice), ratio=0.4)
    (row,) = rows()
    assert row.run_id == newest.pk
    assert len(row.ratios) == 30
    assert 0.41 < row.score < 0.52


def test_no_user_has_more_than_three_rows_and_ten_are_shown(
    alice: User, bob: User, track: Track, django_user_model: type[User]
) -> None:
    for variant in range(4):
        ranked(track, enter(alice, variant), ratio=0.5 + variant / 10)
    assert [row.user_id for row in rows()] == [alice.pk] * 3
    slowest = timed(Submission.objects.latest("id"))
    assert tuple(map(str, status_of(slowest).why_not)) == (
        "the owner has 3 better libraries on Preliminary 1, as many as the board ranks for one user",
    )
    people = [bob, *(django_user_model.objects.create_user(f"user{i}") for i in range(8))]
    for number, person in enumerate(people):
        ranked(track, enter(person, 10 + number), ratio=1.0 + number / 10)
    shown = rows()
    assert len(shown) == 10
    assert [row.position for row in shown] == list(range(1, 11))
    last = timed(Submission.objects.latest("id"))
    assert tuple(map(str, status_of(last).why_not)) == (
        "the library is not among the best 10 on Preliminary 1",
    )
    # Alice's fourth library is stored, too. A viewer from whom a contest hides a better library of hers sees its rank.
    assert BoardEntry.objects.count() == 13


def test_only_entries_whose_ranks_change_are_written(alice: User, bob: User, track: Track) -> None:
    first = ranked(track, enter(alice), 0.4)
    with CaptureQueriesContext(connection) as captured:
        last = ranked(track, enter(bob, 1), 0.8)
    assert [(row.run_id, row.rank_high) for row in rows()] == [(first.pk, 1), (last.pk, 2)]
    # PostgreSQL's statement has the expression in brackets, with a cast.
    sets_positions = re.compile(r'"position" = \(?CASE')
    written = [q["sql"] for q in captured.captured_queries if sets_positions.search(q["sql"])]
    # The statement sets three columns of each row.
    assert [sql.count("WHEN") for sql in written] == [3]


def test_a_structure_has_a_row_for_each_configuration_but_takes_one_place(
    alice: User, track: Track, django_user_model: type[User]
) -> None:
    for number, configuration in enumerate(("exclusive", "rw", "exclusive", "rw")):
        ranked(
            track, enter(alice, number // 2, configuration=configuration), ratio=2.0 - number / 10
        )
    for number in range(9):
        person = django_user_model.objects.create_user(f"user{number}")
        ranked(track, enter(person, 10 + number), ratio=0.5 + number / 10)
    shown = rows()
    assert [row.configuration for row in shown if row.user_id == alice.pk] == ["rw", "exclusive"]
    assert len({(row.user_id, row.blob_sha256) for row in shown}) == 10
    assert [row.position for row in shown] == list(range(1, 12))
    assert BoardEntry.objects.filter(user=alice, position=None).count() == 2


def test_the_machine_classes_are_kept_apart(alice: User, bob: User, track: Track) -> None:
    ranked(track, enter(alice))
    slow = Machine.objects.create(name="bench2", machine_class="slow")
    ranked(Track(slow), enter(bob, 1))
    board = board_named("preliminary1")
    assert board is not None
    newest = board_page.standings(board)
    assert (newest.machine_class, newest.classes) == ("slow", ("slow", "fast"))
    assert [row.user_id for row in newest.rows] == [bob.pk]
    assert [row.user_id for row in board_page.standings(board, "fast").rows] == [alice.pk]


def test_a_report_is_recorded_once(alice: User, machine: Machine) -> None:
    enter(alice)
    run = claims.claim(Slot(machine, 0))
    assert run is not None
    assert services.record(make_report(run))
    assert not services.record(make_report(run, verdict=Verdict.FAILED))
    run.refresh_from_db()
    assert (run.state, run.verdict) == (State.DONE, "passed")
    assert RunDetail.objects.count() == 1


def test_the_report_of_an_attempt_that_lost_its_lease_is_discarded(
    alice: User, machine: Machine
) -> None:
    enter(alice)
    first = claims.claim(Slot(machine, 0))
    assert first is not None
    Run.objects.filter(pk=first.pk).update(lease_until=timezone.now() - timedelta(1))
    assert services.recover_and_wake().requeued == (first.pk,)
    Run.objects.filter(pk=first.pk).update(not_before=None)
    assert not services.record(make_report(first))
    second = claims.claim(Slot(machine, 0))
    assert second is not None
    assert (second.pk, second.attempt) == (first.pk, 2)
    assert not services.record(make_report(first, verdict=Verdict.FAILED))
    assert services.record(make_report(second))
    second.refresh_from_db()
    assert second.verdict == "passed"


def test_untrusted_output_is_made_storable_and_capped(alice: User, machine: Machine) -> None:
    enter(alice)
    run = claims.claim(Slot(machine, 0))
    assert run is not None
    log = "\0\ud800" + "x" * 100_000
    assert services.record(make_report(run, log=log, findings=(warning("payload \0 seen"),)))
    detail = RunDetail.objects.get(pk=run.pk)
    assert detail.log.startswith("\ufffd")
    assert "\0" not in detail.log
    assert len(detail.log) < 66_000
    assert "bytes left out" in detail.log
    assert detail.findings[0]["detail"] == "payload \ufffd seen"


def test_few_sessions_are_provisional(alice: User, track: Track) -> None:
    submission = enter(alice, sessions=3)
    run = track.finish(timed(submission))
    assert run.provisional
    assert run.why_not[0] == (
        "the run has 3 sessions (repetitions of the benchmark); the board Preliminary 1 requires at least 11. "
        "Ask an organiser for a run with more sessions"
    )


@pytest.mark.parametrize(
    ("scale", "provisional"), [("smoke", True), ("laptop", False), ("paper", False)]
)
def test_smoke_scale_is_provisional(
    scale: str, provisional: bool, alice: User, track: Track
) -> None:
    """Boards rank at laptop and at paper scale."""
    assert track.finish(timed(enter(alice, scale=scale))).provisional is provisional


def test_the_embedded_board_takes_smoke_runs_and_says_so(
    alice: User, track: Track, settings: Any
) -> None:
    settings.KEYDROME_BOARD_SCALE = "smoke"
    submission = enter(alice, scale="smoke", sessions=3)
    for gate in gates(submission):
        track.finish(gate)
    run = track.finish(timed(submission))
    assert run.eligible
    (row,) = rows()
    assert row.provisional


def test_deleting_takes_the_row_from_the_board_and_keeps_the_files(
    alice: User,
    bob: User,
    organiser: User,
    track: Track,
) -> None:
    best = enter(alice)
    gone = ranked(track, best)
    stays = ranked(track, enter(bob, 1), ratio=0.9)
    with pytest.raises(PermissionDenied):
        services.withdraw(best, by=bob)
    assert services.withdraw(best, by=alice)
    assert not services.withdraw(best, by=alice)
    assert [(row.run_id, row.position) for row in rows()] == [(stays.pk, 1)]
    gone.refresh_from_db()
    assert gone.why_not == ["the owner deleted the submission"]
    assert queries.run_page(gone.pk, alice) is None
    assert queries.run_page(gone.pk, organiser) is not None
    assert Submission.objects.filter(pk=best.pk, blob_sha256=best.blob_sha256).exists()


def test_deleting_stops_what_has_not_finished(alice: User, machine: Machine) -> None:
    submission = enter(alice)
    running = claims.claim(Slot(machine, 0))
    assert running is not None
    assert services.withdraw(submission, by=alice)
    states = set(submission.runs.exclude(pk=running.pk).values_list("state", flat=True))
    assert states == {State.CANCELLED}
    assert claims.heartbeat(running.pk, running.attempt, 0.5, "") is claims.Heartbeat.CANCEL


def test_the_gates_of_a_deleted_submission_do_not_count_for_another(
    alice: User, bob: User, track: Track
) -> None:
    theirs = enter(alice)
    for gate in gates(theirs):
        track.finish(gate)
    mine = track.finish(timed(enter(bob)))
    assert mine.eligible
    services.withdraw(theirs, by=alice)
    mine.refresh_from_db()
    assert mine.why_not == NOT_YET
    assert rows() == []


def test_a_newer_benchmark_runs_the_board_again(
    alice: User, track: Track, repository: Repository
) -> None:
    submission = enter(alice, targets=(PRELIMINARY1, PRELIMINARY2))
    old = ranked(track, submission)
    assert reruns.rerun_stale() == []
    repository.set_version("sigmod2009", 2)
    assert rows() == []
    new = reruns.rerun_stale()
    assert {(run.instance, run.benchmark_version, run.sessions) for run in new} == {
        ("preliminary1", 2, 15),
        ("preliminary2", 2, 15),
    }
    assert reruns.rerun_stale() == []
    old.refresh_from_db()
    assert old.why_not == [
        "the run used version 1 of the benchmark; the newest is version 2: repeat the run"
    ]
    run = track.finish(submission.runs.get(instance="preliminary1", benchmark_version=2))
    assert [row.run_id for row in rows()] == [run.pk]


def test_a_newer_gate_empties_the_board_until_it_is_passed(
    alice: User, track: Track, repository: Repository
) -> None:
    submission = enter(alice)
    run = ranked(track, submission)
    repository.set_version("unit", 2)
    (gate,) = reruns.rerun_stale()
    assert (gate.benchmark, gate.benchmark_version) == ("unit", 2)
    assert rows() == []
    assert reruns.rerun_stale() == []
    track.finish(gate)
    assert [row.run_id for row in rows()] == [run.pk]


def test_the_boards_can_be_rebuilt_from_the_runs(alice: User, bob: User, track: Track) -> None:
    ranked(track, enter(alice))
    ranked(track, enter(bob, 1), ratio=0.9)

    def content() -> list[tuple[Any, ...]]:
        return list(
            BoardEntry.objects.order_by("position").values_list(
                "board",
                "user_id",
                "user_rank",
                "run_id",
                "score",
                "position",
                "rank_low",
                "rank_high",
            )
        )

    before = content()
    Run.objects.update(eligible=False, why_not=["damaged"])
    BoardEntry.objects.all().delete()
    assert board_entries.rebuild() == 2
    assert content() == before
