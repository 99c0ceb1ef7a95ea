"""Ends the correctness tests of a submission early: tests that would tell the contestant nothing new leave the queue.

The tests are the runs of the gates, the correctness benchmarks that a library must pass before a board ranks it.
runner/gate_end.py has the rules: the tests end after a crash, for example, or after many required findings, which are
faults that make the library fail. The command `keydrome check` uses the same rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models.functions import Now

from leaderboard.models import Run, RunDetail, State
from runner.gate_end import has_stalled, why_gate_ends
from runner.terms import Severity, Verdict

if TYPE_CHECKING:
    from leaderboard.models import Submission

SUBMIT_AGAIN = "correct the library and submit it again"


def end_gate_early(run: Run) -> int:
    """End the submission's waiting correctness tests if `run`, which has just ended, makes them unnecessary.

    Returns how many tests were ended. These tests are cancelled, and store the reason why they were not run. Tests that
    are running already continue, and so do the tests of audits. An audit repeats runs in verified mode, in which a
    process other than the library's makes every call. Call this inside the transaction that stored the run's result. At
    most 2 SQL statements.
    """
    if not run.is_gate or run.verified or run.verdict in {Verdict.PASSED, Verdict.INFRASTRUCTURE}:
        return 0
    why = why_gate_ends(Verdict(run.verdict), *_required_and_stalled(run.submission))
    if not why:
        return 0
    where = (
        f"in the test “{run.instance}” (run {run.pk})"
        if run.verdict != Verdict.FAILED
        else f"(most recently in the test “{run.instance}”, run {run.pk})"
    )
    waiting = run.submission.runs.filter(
        kind=run.kind, verified=False, scale=run.scale, state=State.QUEUED
    )
    return waiting.update(
        state=State.CANCELLED,
        finished_at=Now(),
        reason=f"this test was not run, because {why} {where}: {SUBMIT_AGAIN}",
    )


def _required_and_stalled(submission: Submission) -> tuple[int, int]:
    """Return two numbers about the submission's correctness tests so far.

    The first is the number of different required findings: faults that make the library fail. The second is the number
    of tests in which the library made no progress.
    """
    runs = submission.runs.filter(kind="correctness", verified=False, state=State.DONE)
    stored = list(RunDetail.objects.filter(run__in=runs).values_list("findings", flat=True))
    required = {
        (finding["suite"], finding["name"])
        for findings in stored
        for finding in findings
        if finding["severity"] == Severity.REQUIRED
    }
    stalled = sum(has_stalled((one["name"], one["severity"]) for one in each) for each in stored)
    return len(required), stalled
