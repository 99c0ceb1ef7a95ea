"""From sessions to the numbers that are shown. Pure: the same sessions give the same summary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.contract import Session

# With fewer sessions no two of ten entries can be told apart after Holm's correction.
RANKED_SESSIONS_MIN = 11
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """Two order statistics that hold the true median with probability `coverage`, whatever the distribution."""

    low: float
    high: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Summary:
    """What a series of sessions comes to.

    `ratio` is the median over sessions of candidate / control in the benchmark's metric; None without a control.
    `medians` and `control_medians` hold the median of each metric over the sessions that reported it.
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
    """Return the summary of a series without its void sessions. `metric` names what the benchmark is ranked by."""
    sessions = [session for session in sessions if not session.void]
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


def session_ratio(session: Session, metric: str) -> float | None:
    """Return candidate / control in `metric`, None when either number is missing or not positive."""
    candidate = session.candidate["metrics"].get(metric)
    control = control_number(session, metric)
    return float(candidate / control) if candidate and candidate > 0 and control else None


def control_number(session: Session, metric: str) -> float | None:
    """Return the control's number in a session, None where it is missing.

    Of runs before and after the candidate it is the geometric mean: a steady drift of the machine cancels.
    """
    values = [report["metrics"].get(metric) for report in session.controls]
    if not values or not all(value and value > 0 for value in values):
        return None
    return float(values[0] if len(values) == 1 else geometric_mean(values))


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return the narrowest symmetric pair of order statistics that covers the median with `confidence`.

    Exact for any continuous distribution: the k-th smallest and k-th largest of n values hold the median with
    probability 1 - 2 P(Binomial(n, 1/2) < k). Where n is too small for `confidence` (below 6 for 95 %), it is the
    whole range, and `coverage` says what that is worth. ValueError without values.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values, so no median")
    count = len(ordered)
    best = 1
    while 2 * (best + 1) <= count + 1 and _coverage(count, best + 1) >= confidence:
        best += 1
    return Interval(ordered[best - 1], ordered[count - best], max(_coverage(count, best), 0.0))


def _coverage(count: int, rank: int) -> float:
    below = sum(math.comb(count, k) for k in range(rank))
    return 1 - 2 * below / (1 << count)


def _ratios(sessions: Iterable[Session], metric: str) -> Iterable[float]:
    for session in sessions:
        ratio = session_ratio(session, metric)
        if ratio is not None:
            yield ratio


def _medians(reports: Iterable[dict[str, Any]]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for report in reports:
        for name, value in report["metrics"].items():
            values.setdefault(name, []).append(float(value))
    return {name: median(found) for name, found in sorted(values.items())}
