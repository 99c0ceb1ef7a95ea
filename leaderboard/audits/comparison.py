"""Computes how much time verified mode adds to a library, compared with other libraries. The pages show the result.

An audit repeats a timed run in verified mode. In this mode the driver, a separate trusted process, makes every call
over shared memory. The second process adds about the same time to every call of every library. In a normal run a
library could cheat by reading or writing the memory of the process that calls it. In verified mode the library cannot
access the caller's memory, so a library that cheated loses more time than other libraries.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaderboard import catalogue
from leaderboard.models import Run, State, Submission
from runner.manifest import Direction
from runner.terms import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

# A deviation is computed only if there are at least this many other libraries.
OTHERS_MIN = 5
# A library with a larger deviation is an outlier.
OUTLIER_DEVIATIONS = 3.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """A timed run of a submission, and the audit of this run. Unknown numbers are None.

    The audit may still be queued or running.

    - `ratio`: the audit's total time divided by the total time of the timed run (`ranked`).
    - `added`: the time that verified mode adds to the library, divided by the time that verified mode adds to the
      control library (the baseline). A library that does the same work in both modes has a value near 1.0.
    - `deviation`: how far log(`added`) is above the mean of log(`added`) of the other libraries, in standard
      deviations. None with fewer than OTHERS_MIN other libraries.
    """

    ranked: Run
    audit: Run
    ratio: float | None
    added: float | None
    deviation: float | None

    @property
    def outlier(self) -> bool:
        """Return True if verified mode adds far more time to this library than to other libraries."""
        return self.deviation is not None and self.deviation > OUTLIER_DEVIATIONS


def comparisons(submission: Submission) -> list[Comparison]:
    """Return each audited timed run of a submission with its audit, in the order of benchmark and instance.

    1 SQL statement, and at most 1 for each audit.
    """
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
    """Return the time that verified mode adds to a library, divided by the time added to the control library.

    Returns None if a time is unknown or if one of the two added times is not positive. An added time may be zero or
    negative if the workload fixes the duration (arrivals at a given rate), or if noise is larger than the added time.
    """
    control_ranked, control_audit = _control_ms(ranked), _control_ms(audit)
    if control_ranked is None or control_audit is None:
        return None
    added_ms = (audit.total_ms or 0) - (ranked.total_ms or 0)
    control_added_ms = control_audit - control_ranked
    return added_ms / control_added_ms if added_ms > 0 and control_added_ms > 0 else None


def _control_ms(run: Run) -> float | None:
    """Estimate the control's total time in a run from the run's score and the candidate's (library's) total time.

    The score is the candidate's metric divided by the control's. If a lower metric is better, the metric is a time, so
    the control's time is the candidate's time divided by the score. Otherwise the metric is a rate, so the control's
    time is the candidate's time multiplied by the score.
    """
    benchmark = catalogue.benchmarks().get(run.benchmark)
    if benchmark is None or benchmark.metric is None or not run.score or not run.total_ms:
        return None
    faster_is_less = benchmark.metric.direction is Direction.LOWER
    return run.total_ms / run.score if faster_is_less else run.total_ms * run.score


def _added_to_others(run: Run) -> list[float]:
    """Return the ratio `added` of the other audited binaries on the same benchmark instance. 1 SQL statement.

    The same binary under another configuration counts as another binary.
    """
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
    """Return how many standard deviations log(value) is above the mean of the logarithms of `others`.

    Returns None if `others` has fewer than OTHERS_MIN values, or if all of them are equal. The mean and the standard
    deviation leave out the value itself. If they included the value, its z-score could not exceed (n - 1) / sqrt(n)
    for n values (Shiffler, "Maximum Z Scores and Outliers", 1988). With 10 values or fewer this bound is below
    OUTLIER_DEVIATIONS, so no library could be an outlier.
    """
    if len(others) < OTHERS_MIN:
        return None
    logarithms = [math.log(other) for other in others]
    spread = statistics.stdev(logarithms)
    return (math.log(value) - statistics.fmean(logarithms)) / spread if spread > 0 else None
