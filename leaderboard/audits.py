"""Audits: what was submitted, played once more in verified mode, where the driver is outside of the library's process.

An audit repeats the gates and the timed runs of a submission as runs of their own. They are never ranked: a call costs
more there, so their times compare only with each other. What they decide: an audited gate counts as any gate, and a
binary whose audit fails loses its places. What they show: how many times as fast the library was ranked as verified,
and how much time the other mode adds, in units of what it adds to the control library. Passing calls on costs everybody
the same; a library that has its work done by what it reads or writes in the player's memory has to do it then.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied
from django.db import transaction

from leaderboard import bell, catalogue, claims
from leaderboard.catalogue import Target
from leaderboard.fairness import Priority
from leaderboard.models import FINAL_STATES, BoardEntry, Run, State, Submission
from leaderboard.new_runs import new_run
from leaderboard.reruns import class_of
from leaderboard.services import Refused
from runner.contract import Verdict
from runner.manifest import Direction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    from leaderboard.boards import Board

# What an audit has to tell is coarse, and its sessions take long.
AUDIT_SESSIONS_MAX = 3
# How many others a ratio is compared with at least, and how far from them it is an outlier.
OTHERS_MIN = 5
OUTLIER_DEVIATIONS = 3.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """A timed run of a submission beside its audit. `audit` may still wait or run.

    `ratio` says how many times as fast the library was ranked as verified, by its total times.
    `added` is the time that verified mode adds, over what it adds to the control library in the same sessions: near 1.0
    for whoever does the work in both modes. `deviation` says how many standard deviations of the others' values that is
    above their mean, by logarithms; None with fewer than OTHERS_MIN others. All are None until known.
    """

    ranked: Run
    audit: Run
    ratio: float | None
    added: float | None
    deviation: float | None

    @property
    def outlier(self) -> bool:
        """Whether the library loses far more than others when it no longer shares its process with the player."""
        return self.deviation is not None and self.deviation > OUTLIER_DEVIATIONS


def order(submission: Submission, *, by: User) -> list[Run]:
    """Queue an audit of a submission, behind new submissions; return its runs. For organisers.

    Each target that has ended and was not refused is audited once at its newest version, and once more when its audit
    was lost to the machine. Raises Refused when nothing is left to audit.
    """
    if not by.is_staff:
        message = "only organisers order audits"
        raise PermissionDenied(message)
    runs = _order(submission)
    if not runs:
        raise Refused(["there is nothing to audit: what has ended was audited already"])
    return runs


def order_finals(board: Board) -> list[Run]:
    """Queue audits of all that stand on a board, and return their runs. For the site's operator."""
    entries = BoardEntry.objects.filter(
        board=board.slug,
        benchmark_version=catalogue.current_version(board.benchmark) or 0,
        position__isnull=False,
    ).select_related("run__submission")
    standing = {entry.run.submission for entry in entries}
    return [
        run for submission in sorted(standing, key=lambda s: s.pk) for run in _order(submission)
    ]


def _order(submission: Submission) -> list[Run]:
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
        transaction.on_commit(partial(bell.ring, bell.BENCH))
    return runs


def _unaudited(submission: Submission) -> list[Run]:
    """Return the newest run of each target that can be audited, gates first."""
    if submission.deleted_at is not None:
        return []
    chosen: dict[tuple[str, str, str], Run] = {}
    audited = set()
    for run in submission.runs.select_related("machine").order_by("pk"):
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


def comparisons(submission: Submission) -> list[Comparison]:
    """Return a submission's audited timed runs beside their audits, by target. 1 SQL statement and 1 per audit."""
    runs = list(submission.runs.filter(kind="performance").order_by("pk"))
    ranked = {_target(run): run for run in runs if not run.verified and run.state == State.DONE}
    audits = {_target(run): run for run in runs if run.verified}
    return [
        _compared(ranked[target], audit)
        for target, audit in sorted(audits.items())
        if target in ranked
    ]


def _target(run: Run) -> tuple[str, str, str, int]:
    return run.benchmark, run.instance, run.scale, run.benchmark_version


def _compared(ranked: Run, audit: Run) -> Comparison:
    added = added_of(ranked, audit)
    ranked_ms, audit_ms = ranked.total_ms, audit.total_ms
    return Comparison(
        ranked,
        audit,
        ratio=audit_ms / ranked_ms if ranked_ms and audit_ms else None,
        added=added,
        deviation=None if added is None else deviation_of(added, _added_to_others(ranked)),
    )


def added_of(ranked: Run, audit: Run) -> float | None:
    """Return the time that verified mode adds to a library over what it adds to the control; None if unknown."""
    control_ranked, control_audit = _control_ms(ranked), _control_ms(audit)
    if control_ranked is None or control_audit is None:
        return None
    added_ms = (audit.total_ms or 0) - (ranked.total_ms or 0)
    control_added_ms = control_audit - control_ranked
    # Where the time is fixed by what is asked (arrivals), or noise is all there is, nothing can be said.
    return added_ms / control_added_ms if added_ms > 0 and control_added_ms > 0 else None


def _control_ms(run: Run) -> float | None:
    """Return about how long the control took beside a run: its total time by the median of their ratios."""
    benchmark = catalogue.benchmarks().get(run.benchmark)
    if benchmark is None or benchmark.metric is None or not run.score or not run.total_ms:
        return None
    faster_is_less = benchmark.metric.direction is Direction.LOWER
    return run.total_ms / run.score if faster_is_less else run.total_ms * run.score


def _added_to_others(run: Run) -> list[float]:
    """Return what verified mode adds to other binaries on the same target, one value each."""
    found = Run.objects.filter(
        benchmark=run.benchmark,
        instance=run.instance,
        scale=run.scale,
        benchmark_version=run.benchmark_version,
        state=State.DONE,
        verdict=Verdict.PASSED,
        submission__deleted_at__isnull=True,
    ).exclude(
        submission__blob_sha256=run.submission.blob_sha256,
        submission__configuration=run.submission.configuration,
    )
    ranked: dict[tuple[str, str], Run] = {}
    audits: dict[tuple[str, str], Run] = {}
    for other in found.select_related("submission").order_by("pk"):
        key = (other.submission.blob_sha256, other.submission.configuration)
        (audits if other.verified else ranked)[key] = other
    added = (added_of(ranked[key], audit) for key, audit in audits.items() if key in ranked)
    return [value for value in added if value is not None]


def deviation_of(value: float, others: Sequence[float]) -> float | None:
    """Return how many of the others' standard deviations a value is above their mean, all by logarithms.

    None with fewer than OTHERS_MIN others, or when they are all alike. The value itself is left out of mean and
    deviation: with it among n values no z-score can exceed (n - 1) / sqrt(n) (Shiffler, "Maximum Z Scores and
    Outliers", 1988), which is below 3 up to ten of them.
    """
    if len(others) < OTHERS_MIN:
        return None
    logarithms = [math.log(other) for other in others]
    spread = statistics.stdev(logarithms)
    return (math.log(value) - statistics.fmean(logarithms)) / spread if spread > 0 else None
