"""Tests audits: which runs an audit queues, how it affects ranks, and how its times compare with the ranked run.

An audit repeats the runs of a submission in verified mode. In this mode a process other than the library's makes every
call, so every call takes longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from leaderboard import queries, services
from leaderboard.audits import comparison, schedule
from leaderboard.boards import board_named
from leaderboard.models import BoardEntry, Run, State
from leaderboard.queue import quotas
from leaderboard.submissions import reruns
from leaderboard.tests.conftest import enter
from leaderboard.worker import make_job
from runner.terms import Verdict

if TYPE_CHECKING:
    from typing import Any

    from django.contrib.auth.models import User

    from leaderboard.models import Submission
    from leaderboard.tests.conftest import Track

pytestmark = pytest.mark.django_db


def judged(track: Track, submission: Submission, ratio: float = 0.5) -> Run:
    """Let every run of a submission pass, and return its timed run."""
    for run in submission.runs.order_by("-kind").filter(state=State.QUEUED, kind="correctness"):
        track.finish(run)
    timed = submission.runs.get(kind="performance", verified=False)
    return track.finish(timed, ratios=[ratio] * 15)


def audited(track: Track, submission: Submission, organiser: User, ratio: float) -> Run:
    """Queue an audit, let all its runs pass, and return its timed run.

    The control library, which every timed run measures too, takes 1,100 ms in the audit and 100 ms in a ranked run.
    """
    *gates, timed = schedule.audit_submission(submission, by=organiser)
    for gate in gates:
        track.finish(gate)
    return track.finish(timed, ratios=[ratio] * timed.sessions, control_ms=1100.0)


def test_an_audit_repeats_gates_and_timed_runs(alice: User, organiser: User, track: Track) -> None:
    submission = enter(alice)
    assert comparison.comparisons(submission) == []
    with pytest.raises(services.Refused, match="no run is left to audit"):
        schedule.audit_submission(submission, by=organiser)
    judged(track, submission)
    with pytest.raises(PermissionDenied):
        schedule.audit_submission(submission, by=alice)

    runs = schedule.audit_submission(submission, by=organiser)
    assert [(run.benchmark, run.instance, run.sessions) for run in runs] == [
        ("phantom", "phantom", 1),
        ("unit", "unit", 1),
        ("sigmod2009", "preliminary1", schedule.AUDIT_SESSIONS_MAX),
    ]
    for run in runs:
        assert run.verified
        assert run.state == State.QUEUED
        run.attempt = 1
        assert make_job(run).verified
    assert runs[2].wanted_class == "fast"
    with pytest.raises(services.Refused, match="no run is left to audit"):
        schedule.audit_submission(submission, by=organiser)


def test_an_audit_is_not_charged_to_the_owner(
    alice: User, organiser: User, track: Track, settings: Any
) -> None:
    settings.KEYDROME_SUBMISSIONS_OPEN = 1
    submission = enter(alice)
    assert "1 of your submissions has not ended yet" in quotas.reason_against(alice)
    judged(track, submission)
    assert quotas.reason_against(alice) == ""
    schedule.audit_submission(submission, by=organiser)
    assert quotas.reason_against(alice) == ""


def test_an_audit_that_the_machine_failed_is_repeated(
    alice: User, organiser: User, track: Track
) -> None:
    submission = enter(alice)
    judged(track, submission)
    first = schedule.audit_submission(submission, by=organiser)
    track.finish(first[0], verdict=Verdict.INFRASTRUCTURE)
    again = schedule.audit_submission(submission, by=organiser)
    assert [(run.benchmark, run.verified) for run in again] == [(first[0].benchmark, True)]


def test_an_audit_is_never_ranked_and_changes_no_rank(
    alice: User, organiser: User, track: Track
) -> None:
    submission = enter(alice)
    ranked = judged(track, submission)
    assert not BoardEntry.objects.get(board="preliminary1").audited
    audit = audited(track, submission, organiser, ratio=0.01)
    assert not audit.eligible
    assert audit.why_not == [
        "the run is an audit, in which every call takes longer: its times can be compared only with other audits"
    ]
    ranked.refresh_from_db()
    assert ranked.eligible
    entry = BoardEntry.objects.get(board="preliminary1")
    assert entry.run == ranked
    assert set(entry.ratios) == {0.5}
    assert entry.audited
    assert reruns.rerun_stale() == []


@pytest.mark.parametrize("target", ["sigmod2009", "unit"])
def test_a_failed_audit_takes_the_rank_permanently(
    target: str, alice: User, organiser: User, track: Track
) -> None:
    submission = enter(alice)
    ranked = judged(track, submission)
    assert BoardEntry.objects.filter(run=ranked).exists()
    runs = {run.benchmark: run for run in schedule.audit_submission(submission, by=organiser)}
    failed = track.finish(runs[target], verdict=Verdict.FAILED, reason="a record is missing")
    ranked.refresh_from_db()
    expected = {
        "sigmod2009": "an audit of this library, in which another process makes the calls, "
        "did not pass (verdict: failed)",
        "unit": "the unit tests did not pass (verdict: failed)",
    }
    assert ranked.why_not == [expected[target]]
    assert not BoardEntry.objects.exists()

    track.finish(reruns.rerun(failed, by=alice))
    ranked.refresh_from_db()
    assert not ranked.eligible, "a later pass does not help a binary that failed once"


def test_the_leaders_of_a_board_are_audited(
    alice: User, bob: User, organiser: User, track: Track
) -> None:
    judged(track, enter(alice, 1))
    audited(track, enter_judged(bob, track), organiser, ratio=2.0)
    call_command("audit", "preliminary1")
    waiting = Run.objects.filter(verified=True, state=State.QUEUED)
    assert {run.submission.owner for run in waiting} == {alice}
    assert waiting.count() == 3
    board = board_named("preliminary1")
    assert board is not None
    assert schedule.audit_board(board) == []


def enter_judged(owner: User, track: Track) -> Submission:
    submission = enter(owner, 2)
    judged(track, submission)
    return submission


def test_time_is_added_in_units_of_the_control(alice: User, organiser: User, track: Track) -> None:
    """The audit adds 500 ms to the library's ranked time of 50 ms, and 1,000 ms to the control's of 100 ms."""
    submission = enter(alice)
    judged(track, submission, ratio=0.5)
    audited(track, submission, organiser, ratio=0.5)
    (pair,) = comparison.comparisons(submission)
    assert pair.ratio == pytest.approx(11.0)
    assert pair.added == pytest.approx(0.5)
    assert pair.deviation is None, "no other library has an audit"
    assert not pair.outlier


def test_a_library_that_loses_far_more_than_others_is_an_outlier(
    alice: User, organiser: User, track: Track
) -> None:
    """Verified mode adds about the same time to all honest libraries, fast or slow.

    Verified mode adds more time to a cheating library, because this library must then do the real work.
    """
    for variant, ranked_ratio in enumerate([0.2, 0.5, 1.0, 2.0, 8.0], start=1):
        submission = enter(alice, variant)
        judged(track, submission, ratio=ranked_ratio)
        noise_ms = 10 * variant
        audited(track, submission, organiser, (100 * ranked_ratio + 1000 + noise_ms) / 1100)
    fast = enter(alice, 8)
    judged(track, fast, ratio=0.1)
    audited(track, fast, organiser, ratio=(10 + 1000) / 1100)
    (pair,) = comparison.comparisons(fast)
    assert pair.ratio == pytest.approx(101.0)
    assert not pair.outlier, "a fast library that works in both modes is no outlier"

    cheat = enter(alice, 9)
    ranked = judged(track, cheat, ratio=0.1)
    audited(track, cheat, organiser, ratio=(10 + 1500) / 1100)
    page = queries.run_page(ranked.pk, alice)
    assert page is not None
    (pair,) = page.audits
    assert pair.added == pytest.approx(1.5)
    assert pair.outlier
    assert not page.may_audit


def test_no_deviation_without_enough_others() -> None:
    assert comparison.deviation_of(2.0, [1.0] * 4) is None
    assert comparison.deviation_of(2.0, [1.0] * 9) is None, (
        "equal values have no standard deviation"
    )


@given(
    others=st.lists(st.floats(0.1, 10.0), min_size=comparison.OTHERS_MIN, max_size=40),
    ratio=st.floats(0.1, 10.0),
    factor=st.floats(0.5, 2.0),
)
def test_deviations_do_not_depend_on_the_unit(
    others: list[float], ratio: float, factor: float
) -> None:
    plain = comparison.deviation_of(ratio, others)
    scaled = comparison.deviation_of(ratio * factor, [other * factor for other in others])
    if plain is not None and scaled is not None and abs(plain) < 1e6:
        assert scaled == pytest.approx(plain, rel=1e-3, abs=1e-3)
