"""Tests that the site cancels a submission's waiting correctness tests (gates) after a crash, a hang or many findings.

The command `keydrome check` uses the same rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leaderboard.audits import schedule
from leaderboard.models import Run, State
from leaderboard.queue import claims
from leaderboard.submissions.reruns import rerun
from leaderboard.tests.conftest import enter
from leaderboard.tests.test_record import gates, ranked, timed
from runner.gate_end import REQUIRED_FINDINGS_MAX, STALLED_MAX, why_gate_ends
from runner.report import Finding
from runner.terms import Severity, Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from leaderboard.tests.conftest import Track

pytestmark = pytest.mark.django_db


def required(count: int) -> tuple[Finding, ...]:
    return tuple(
        Finding("phantom", f"finding_{n}", Severity.REQUIRED, "wrong") for n in range(count)
    )


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict.CRASHED, "the library crashed in the test “phantom”"),
        (Verdict.TIMED_OUT, "the library did not return in time in the test “phantom”"),
        (
            Verdict.OUT_OF_MEMORY,
            "the library needed more than its memory limit in the test “phantom”",
        ),
    ],
)
def test_a_crash_or_a_hang_ends_the_gate(
    verdict: Verdict, words: str, alice: User, track: Track
) -> None:
    submission = enter(alice)
    first, second = gates(submission)
    track.finish(first, verdict=verdict)
    second.refresh_from_db()
    assert (second.state, second.verdict) == (State.CANCELLED, "")
    assert second.finished_at is not None
    assert second.reason == (
        f"this test was not run, because {words} (run {first.pk}): correct the library and submit it again"
    )
    run = timed(submission)
    assert run.state == State.QUEUED, "timed runs are not part of the gate"
    assert claims.claim(claims.Slot(track.machine, 0)) == run


def test_enough_required_findings_end_the_gate(alice: User, track: Track) -> None:
    submission = enter(alice)
    first, second = gates(submission)
    findings = required(REQUIRED_FINDINGS_MAX)
    track.finish(first, verdict=Verdict.FAILED, findings=findings)
    second.refresh_from_db()
    assert second.state == State.CANCELLED
    assert second.reason.startswith(
        "this test was not run, because the tests have already found 12 faults that make the library fail "
        f"(most recently in the test “phantom”, run {first.pk}): correct the library"
    )


def test_tests_without_progress_end_the_gate(
    alice: User, track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.gate_end.STALLED_MAX", 1)  # the fixture has only two tests
    first, second = gates(enter(alice))
    stalled = Finding("phantom", "no_progress", Severity.REQUIRED, "wrong")
    track.finish(first, verdict=Verdict.FAILED, findings=(stalled,))
    second.refresh_from_db()
    assert second.state == State.CANCELLED
    why = "in 1 test a transaction failed every time that the test repeated it"
    assert second.reason.startswith(f"this test was not run, because {why} (")


@pytest.mark.parametrize(
    ("verdict", "count"),
    [(Verdict.FAILED, REQUIRED_FINDINGS_MAX - 1), (Verdict.PASSED, 0), (Verdict.INFRASTRUCTURE, 0)],
)
def test_other_ends_leave_the_gate_running(
    verdict: Verdict, count: int, alice: User, track: Track
) -> None:
    submission, other = enter(alice), enter(alice, 1)
    first, second = gates(submission)
    track.finish(first, verdict=verdict, findings=required(count))
    second.refresh_from_db()
    assert (second.state, second.reason) == (State.QUEUED, "")
    assert not other.runs.exclude(state=State.QUEUED).exists()


def test_another_submission_keeps_its_gate(alice: User, bob: User, track: Track) -> None:
    other = enter(bob, 1)
    track.finish(gates(enter(alice))[0], verdict=Verdict.CRASHED)
    assert not other.runs.exclude(state=State.QUEUED).exists()


def test_a_test_that_was_not_run_can_be_run(alice: User, track: Track) -> None:
    submission = enter(alice)
    first, second = gates(submission)
    track.finish(first, verdict=Verdict.CRASHED)
    second.refresh_from_db()
    new = rerun(second, by=alice)
    assert track.finish(new).verdict == Verdict.PASSED


def test_an_audit_continues(alice: User, organiser: User, track: Track) -> None:
    submission = enter(alice)
    ranked(track, submission)
    first, *_ = schedule.audit_submission(submission, by=organiser)
    track.finish(first, verdict=Verdict.CRASHED)
    assert not Run.objects.filter(state=State.CANCELLED).exists()


def test_the_rules() -> None:
    assert why_gate_ends(Verdict.FAILED, REQUIRED_FINDINGS_MAX - 1) == ""
    assert why_gate_ends(Verdict.REFUSED, 0) == ""
    assert why_gate_ends(Verdict.FAILED, 4, STALLED_MAX - 1) == ""
    stalled = "in each of 3 tests a transaction failed every time that the test repeated it"
    assert why_gate_ends(Verdict.FAILED, 4, STALLED_MAX) == stalled
    assert why_gate_ends(Verdict.CRASHED, 0) == "the library crashed"
