"""Queues further sessions of compared runs, so that a test can tell the runs apart or show that they are equal.

The sessions form complete blocks; a block is one session of each library with the same seed. All runs get the same
fresh seeds, so in a block every library plays the same operations on a machine of the same class. compared_runs.py then
compares the sessions of a block in pairs, as `keydrome compare` does. In `keydrome compare`, the libraries of a block
play one after the other. The runs that this module queues may play at very different times, and the machine may change
in between. Therefore each result is first divided by the result of the control library in the same session, which
changes with the machine.
"""

from __future__ import annotations

import secrets
from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction

from leaderboard import catalogue
from leaderboard.catalogue import Target
from leaderboard.models import State
from leaderboard.queue import claims, quotas, wakeup
from leaderboard.queue.fairness import Priority
from leaderboard.ranking.rank_intervals import MAX_POOLED_SESSIONS
from leaderboard.services import Refused, may_change
from leaderboard.submissions.new_runs import fresh_seeds, new_run
from leaderboard.submissions.reruns import class_of
from results.counts import counted, listed
from runner.terms import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    from leaderboard.models import Run

RUNS_MIN = 2
SESSIONS_MAX = MAX_POOLED_SESSIONS


def queue_blocks(runs: Sequence[Run], sessions: int, *, by: User) -> list[Run]:
    """Queue a new run with `sessions` sessions for each of these runs, and return the new runs in the same order.

    The new runs have common seeds, and a lower priority than new submissions. Boards count these runs too. The owner
    can read the seeds when the first of the runs has ended. This gains nothing, because all files have been submitted
    by then.

    Raises PermissionDenied if `by` may not change one of the submissions. Raises Refused if the runs cannot be
    compared, or if the quota is used up. `runs` must have their submissions and machines loaded.
    """
    for run in runs:
        may_change(run.submission, by)
    if not 1 <= sessions <= SESSIONS_MAX:
        raise Refused(
            [
                f"{counted(sessions, 'session is', 'sessions are')} not possible: choose 1 to {SESSIONS_MAX} sessions"
            ]
        )
    if reason := reason_against_blocks(runs):
        raise Refused([reason])
    seeds = fresh_seeds(sessions)
    with transaction.atomic():
        if reason := quotas.reason_against_repetitions(by, sessions * len(runs), runs=len(runs)):
            raise Refused([reason])
        new = [_block_run(run, seeds) for run in runs]
        # A random order, so that no library always runs first on a cool or idle machine.
        queued = secrets.SystemRandom().sample(new, len(new))
        for owner_id in dict.fromkeys(run.submission.owner_id for run in queued):
            claims.enqueue(owner_id, [run for run in queued if run.submission.owner_id == owner_id])
        transaction.on_commit(partial(wakeup.wake, wakeup.BENCH))
    return new


def _block_run(run: Run, seeds: list[str]) -> Run:
    again = new_run(
        run.submission,
        Target(run.benchmark, run.instance),
        run.scale,
        len(seeds),
        priority=Priority.RERUN,
        wanted_class=class_of(run),
    )
    again.seeds = list(seeds)
    return again


def reason_against_blocks(runs: Sequence[Run]) -> str:
    """Return why these runs cannot have further sessions in common; an empty text if they can."""
    different = f"choose at least {RUNS_MIN} runs, each of a different submission"
    if len(runs) < RUNS_MIN:
        return f"only one run is chosen: {different}"
    if same := _of_one_submission(runs):
        return f"{same} belong to the same submission: {different}"
    known = {str(choice.target) for choice in catalogue.choices()}
    if reason := next((reason for run in runs if (reason := _reason_against_one(run))), ""):
        return reason
    if differences := _differences(runs):
        return (
            f"the runs differ in {listed(differences)}: "
            "choose runs with the same benchmark, instance, scale and machine class"
        )
    missing = next((run for run in runs if f"{run.benchmark}/{run.instance}" not in known), None)
    if missing is not None:
        return (
            f"the instance {missing.benchmark}/{missing.instance} of the runs no longer exists: "
            "choose runs on another instance"
        )
    return ""


def _differences(runs: Sequence[Run]) -> list[str]:
    """Return the properties, such as "scale", in which the runs differ, although all must have the same."""
    properties = {
        "benchmark": {run.benchmark for run in runs},
        "instance": {run.instance for run in runs},
        "scale": {run.scale for run in runs},
        "machine class": {class_of(run) for run in runs},
    }
    return [name for name, values in properties.items() if len(values) > 1]


def _of_one_submission(runs: Sequence[Run]) -> str:
    """Return the names of two runs of the same submission, as text; an empty text if there are none."""
    seen: dict[int, int] = {}
    for run in runs:
        if run.submission_id in seen:
            return f"runs {seen[run.submission_id]} and {run.pk}"
        seen[run.submission_id] = run.pk
    return ""


def _reason_against_one(run: Run) -> str:
    """Return a reason against further sessions that concerns only this run; an empty text if there is none."""
    if run.is_gate or run.verified:
        return f"{_not_timed(run)}: choose timed runs"
    if run.submission.deleted_at:
        return f"the submission of run {run.pk} was deleted, so its file can no longer run: choose other runs"
    if run.score is not None:
        return ""
    wait = "" if run.is_final else "wait until it has ended, or "
    return f"{why_no_ratio(run)}: {wait}choose another run instead"


def _not_timed(run: Run) -> str:
    kind = "a correctness test" if run.is_gate else "an audit"
    return f"run {run.pk} is {kind}, which cannot be compared by time"


def why_no_ratio(run: Run) -> str:
    """Return why a run has no ratio to the control library, without advice."""
    if run.is_gate:
        return _not_timed(run)
    if not run.is_final:
        return f"run {run.pk} has not ended yet"
    if run.state == State.CANCELLED:
        return f"run {run.pk} was cancelled"
    if run.verdict != Verdict.PASSED:
        return f"run {run.pk} did not pass (verdict: {run.verdict.replace('_', ' ')})"
    return (
        f"run {run.pk} has no ratio to the control library, because the control library was not measured in the "
        "same sessions"
    )
