"""Summarises the sessions of a run: the median of each metric, and the ratio of candidate to control with its interval.

A session is one repetition of a run. The candidate is the library that the run judges. The control library, a fixed
baseline, runs in the same sessions, so that noise of the machine cancels in the ratio. The same sessions always give
the same summary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist, fmean, geometric_mean, median, stdev
from typing import TYPE_CHECKING, Any

from runner.terms import REPORT_ERROR

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.contract import Session
    from runner.report import Report

# If `keydrome compare` compares ten libraries in fewer sessions than this, no difference can be significant. The
# smallest possible p-value of the signed-rank test is then too large after Holm's correction.
RANKED_SESSIONS_MIN = 11
# After the timed phases, the final scan reads all records. If it takes more than this many times the CPU time of the
# control's final scan, the result has a note.
LONG_FINAL_SCAN = 3
CONFIDENCE = 0.95
# sessions_to_differ() forecasts up to this many sessions.
SESSIONS_MAX = 200
_POWER = 0.8


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval whose ends are two values of a sample. It contains the true median with probability `coverage`."""

    low: float
    high: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a run. Discarded sessions are not included, and `sessions` does not count them.

    `ratios` contains candidate / control in the benchmark's metric for each session that measured both. `ratio` is the
    median of `ratios`, or None if there are no ratios. `medians` and `control_medians` contain the median of each
    metric over the sessions that reported it. `provisional` is True if there are fewer than RANKED_SESSIONS_MIN
    sessions.
    """

    sessions: int
    provisional: bool
    metric: str | None
    ratios: tuple[float, ...]
    ratio: float | None
    interval: Interval | None
    medians: dict[str, float]
    control_medians: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form (harness/schema/bench.v1.schema.json)."""
        interval = self.interval
        return {
            "sessions": self.sessions,
            "provisional": self.provisional,
            "metric": self.metric,
            "ratios": list(self.ratios),
            "ratio": self.ratio,
            "ratio_interval": None
            if interval is None
            else {"low": interval.low, "high": interval.high, "coverage": interval.coverage},
            "medians": self.medians,
            "control_medians": self.control_medians,
        }


def summarise(sessions: Sequence[Session], metric: str | None) -> Summary:
    """Return the summary of the sessions that are not discarded. `metric` is the metric that ranks libraries."""
    sessions = [session for session in sessions if not session.discarded]
    ratios = tuple(_ratios(sessions, metric)) if metric else ()
    return Summary(
        sessions=len(sessions),
        provisional=len(sessions) < RANKED_SESSIONS_MIN,
        metric=metric,
        ratios=ratios,
        ratio=median(ratios) if ratios else None,
        interval=median_interval(ratios) if ratios else None,
        medians=_medians(session.candidate for session in sessions),
        control_medians=_medians(report for session in sessions for report in session.controls),
    )


def final_scan_note(summary: Summary) -> str | None:
    """Return a note if the candidate's final scan takes far more CPU time than the control's, or None.

    The final scan is not timed, so a library may postpone work to it.
    """
    candidate, control = (
        medians.get("final_scan_cpu_us") for medians in (summary.medians, summary.control_medians)
    )
    if not candidate or not control or candidate <= LONG_FINAL_SCAN * control:
        return None
    return (
        f"The library's final scan used {candidate / control:.1f} times as much CPU time as that of the control "
        "library, a fixed library for comparison. The final scan does not count in the result. Either scans of the "
        "library are slow, or it has delayed work until the final scan. This note does not change the verdict."
    )


def session_ratio(session: Session, metric: str) -> float | None:
    """Return candidate / control in `metric`, or None if one of the values is missing or not positive."""
    candidate = session.candidate.metrics.get(metric)
    control = control_number(session, metric)
    return float(candidate / control) if candidate and candidate > 0 and control else None


def control_number(session: Session, metric: str) -> float | None:
    """Return the control's metric in a session, or None if a value is missing or not positive.

    If the control ran before and after the candidate, the result is the geometric mean of the two values, so that a
    steady drift of the machine cancels.
    """
    values = [report.metrics.get(metric, 0.0) for report in session.controls]
    if not values or min(values) <= 0:
        return None
    return float(values[0] if len(values) == 1 else geometric_mean(values))


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return an interval that contains the true median with a probability of at least `confidence`.

    The interval extends from the k-th smallest to the k-th largest value, with the largest k that gives this
    probability. It contains the true median with probability 1 - 2 P(Binomial(n, 1/2) < k), where n is the number of
    values. This probability is exact for every continuous distribution. If there are too few values for `confidence`
    (below 6 for 95 %), the interval is the whole range, and `coverage` is lower than `confidence`. Raises ValueError if
    there are no values.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError(f"there are no values to take the median of; {REPORT_ERROR}")
    count = len(ordered)
    best = 1
    while 2 * (best + 1) <= count + 1 and _coverage(count, best + 1) >= confidence:
        best += 1
    return Interval(ordered[best - 1], ordered[count - best], max(_coverage(count, best), 0.0))


def sessions_to_differ(ratios: Sequence[float]) -> int | None:
    """Estimate how many sessions are needed to show that the ratio differs from 1.

    Call this function if the given sessions do not show it. The result is larger than their number. With that many
    sessions, median_interval() excludes 1 with a probability of 80 %, if the logarithms of the ratios are normally
    distributed. Returns None if the result would be above SESSIONS_MAX. A single ratio has no scatter; for it, the
    result is the smallest number of sessions that can show a difference.
    """
    logs = [math.log(ratio) for ratio in ratios]
    count = len(logs)
    spread = stdev(logs) * math.sqrt(1 + 1 / count) if count > 1 else 0.0
    # The probability that the next ratio is on the same side of 1 as the mean of the given ratios.
    same = NormalDist().cdf(abs(fmean(logs)) / spread) if spread > 0 else 1.0
    for sessions in range(count + 1, SESSIONS_MAX + 1):
        others = _others_allowed(sessions)
        if others is not None and _at_most(others, sessions, 1 - same) >= _POWER:
            return sessions
    return None


def _others_allowed(count: int) -> int | None:
    """Return how many of `count` values may be on the other side of 1 if the interval of the median excludes 1.

    Returns None if the interval always contains 1, because there are too few values.
    """
    allowed, below = None, 0
    for others in range(count):
        below += math.comb(count, others)
        if 1 - 2 * below / (1 << count) < CONFIDENCE:
            break
        allowed = others
    return allowed


def _at_most(successes: int, count: int, probability: float) -> float:
    """Return the probability of at most this many successes in `count` trials."""
    return math.fsum(
        math.comb(count, k) * probability**k * (1 - probability) ** (count - k)
        for k in range(successes + 1)
    )


def _coverage(count: int, rank: int) -> float:
    below = sum(math.comb(count, k) for k in range(rank))
    return 1 - 2 * below / (1 << count)


def _ratios(sessions: Iterable[Session], metric: str) -> Iterable[float]:
    for session in sessions:
        ratio = session_ratio(session, metric)
        if ratio is not None:
            yield ratio


def _medians(reports: Iterable[Report]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for report in reports:
        for name, value in report.metrics.items():
            values.setdefault(name, []).append(float(value))
    return {name: median(found) for name, found in sorted(values.items())}
