"""Queues audits: runs that repeat a submission in verified mode, where a trusted process makes every call.

An audit repeats the timed runs and the gates (required correctness tests) of a submission as separate runs. The runs of
an audit are never ranked on a board (a ranking of libraries), because a call takes longer in verified mode. The gates
of an audit count like other gates. A binary that fails an audit loses its ranks. comparison.py compares the times of an
audit with the times of the ranked runs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied
from django.db import transaction

from leaderboard import catalogue
from leaderboard.catalogue import Target
from leaderboard.models import FINAL_STATES, BoardEntry, Run, State, Submission
from leaderboard.queue import claims, wakeup
from leaderboard.queue.fairness import Priority
from leaderboard.services import Refused
from leaderboard.submissions.new_runs import new_run
from leaderboard.submissions.reruns import class_of
from results.look_ahead import PAIRS_MIN
from runner.terms import Verdict

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from leaderboard.boards import Board

# The largest number of sessions (repetitions) of an audited run. An audit looks only for large differences, as
# the warning `look_ahead` does (results/look_ahead.py). So both need the same small number of sessions. More would take
# too long, because verified mode is slow.
AUDIT_SESSIONS_MAX = PAIRS_MIN


def audit_submission(submission: Submission, *, by: User) -> list[Run]:
    """Queue an audit of a submission, at a lower priority than new submissions, and return the audit's runs.

    Audits each benchmark instance on which a run of the newest benchmark version has ended. Leaves out instances that
    already have an audit, and runs whose file was refused. An audit that was cancelled, or that ended with the verdict
    infrastructure (a failure of the site), does not count. Raises PermissionDenied if `by` is not an organiser, and
    Refused if nothing is left to audit.
    """
    if not by.is_staff:
        message = "only organisers can queue audits: ask an organiser"
        raise PermissionDenied(message)
    runs = _queue_audit(submission)
    if not runs:
        raise Refused(
            [
                "no run is left to audit: every finished run with the newest benchmark version has an audit already"
            ]
        )
    return runs


def audit_board(board: Board) -> list[Run]:
    """Queue audits of all entries shown on a board; return the audits' runs. Only the command `audit` calls this."""
    entries = BoardEntry.objects.filter(
        board=board.slug,
        benchmark_version=catalogue.current_version(board.benchmark) or 0,
        position__isnull=False,
    ).select_related("run__submission")
    shown = {entry.run.submission for entry in entries}
    return [
        run for submission in sorted(shown, key=lambda s: s.pk) for run in _queue_audit(submission)
    ]


def _queue_audit(submission: Submission) -> list[Run]:
    with transaction.atomic():
        runs = [
            new_run(
                submission,
                Target(run.benchmark, run.instance),
                run.scale,
                min(run.sessions, AUDIT_SESSIONS_MAX),
                priority=Priority.RERUN,
                wanted_class="" if run.is_gate else class_of(run),
                verified=True,
            )
            for run in _unaudited(submission)
        ]
        if not runs:
            return []
        claims.enqueue(submission.owner_id, runs)
        transaction.on_commit(partial(wakeup.wake, wakeup.BENCH))
    return runs


def _unaudited(submission: Submission) -> list[Run]:
    """Return the newest finished run of each benchmark instance that has no audit yet, gates first.

    Leaves out runs of older benchmark versions, of hidden instances (whose parameters a contest keeps secret), and runs
    whose file was refused.
    """
    if submission.deleted_at is not None:
        return []
    chosen: dict[tuple[str, str, str], Run] = {}
    audited = set()
    for run in submission.runs.filter(hidden=None).select_related("machine").order_by("pk"):
        key = (run.benchmark, run.instance, run.scale)
        if run.benchmark_version != catalogue.current_version(run.benchmark):
            continue
        if run.verified:
            open_or_judged = run.state not in FINAL_STATES or run.verdict not in {
                "",
                Verdict.INFRASTRUCTURE,
            }
            if open_or_judged:
                audited.add(key)
        elif run.state == State.DONE and run.verdict != Verdict.REFUSED:
            chosen[key] = run
    left = [run for key, run in chosen.items() if key not in audited]
    return sorted(left, key=lambda run: (not run.is_gate, run.pk))
