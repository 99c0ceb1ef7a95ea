"""Is a machine steady enough to rank on? Decides by the control library's history alone. Pure.

Beside every timed run the control library does the same work, in long series before and after each candidate. Two
numbers come of that. *Noise*: how far two equal measurements in one minute lie apart, as a robust standard deviation of
one of them (1.4826 times the median size of the logarithms of after / before, over the square root of 2, since both
stray). *Drift*: how far the control's level moved from what it was before on the same target. Neither depends on any
candidate, so taking a machine out of ranking favours nobody.

runner/stats/drift.py voids single sessions by what is usual on a machine; this says when the usual is not good enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Pairs of equal measurements that noise is judged by: at least so many, of the newest series that have them.
CHANGES_MIN = 20
# Series that drift is judged by: the newest ones, each against at least so many earlier ones of its target.
DRIFT_SERIES = 5
EARLIER_MIN = 3
# Further back nobody looks.
SERIES_MAX = 60
_ROBUST = 1.4826


@dataclass(frozen=True, slots=True)
class Series:
    """What the control did beside one run: its median in the benchmark's metric, and its changes within sessions.

    `changes` are logarithms of after / before, void sessions included; series of few sessions have none.
    """

    target: tuple[str, int, str, str]  # benchmark, version, instance, scale
    level: float
    changes: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a machine that ranks may stray, as shares: 0.1 is 10 %."""

    noise: float
    drift: float


@dataclass(frozen=True, slots=True)
class Steadiness:
    """What the history says; None: too little is known. `reason` is empty for a machine that ranks."""

    noise: float | None
    drift: float | None
    reason: str


def judge(history: Sequence[Series], limits: Limits) -> Steadiness:
    """Return how steady a machine is whose series are `history`, newest first.

    A machine of which too little is known ranks: its sessions are judged one by one all the same.
    """
    noise = _noise(history)
    drift = _drift(history)
    reasons = []
    if noise is not None and noise > limits.noise:
        reasons.append(
            f"equal measurements of the control library differ by {_percent(noise)}, allowed {_percent(limits.noise)}"
        )
    if drift is not None and abs(drift) > limits.drift:
        reasons.append(
            f"the control library's level moved by {_percent(drift)}, allowed {_percent(limits.drift)}"
        )
    return Steadiness(noise, drift, "; ".join(reasons))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _noise(history: Sequence[Series]) -> float | None:
    changes: list[float] = []
    for series in history:
        if len(changes) >= CHANGES_MIN:
            break
        changes += series.changes
    if len(changes) < CHANGES_MIN:
        return None
    spread = _ROBUST * median(abs(change) for change in changes) / math.sqrt(2)
    return math.expm1(spread)


def _drift(history: Sequence[Series]) -> float | None:
    """Return the median move of the newest series: positive when the control's numbers grew."""
    long = [series for series in history if series.changes]
    moves = list(_moves(long))
    return math.expm1(median(moves)) if len(moves) == DRIFT_SERIES else None


def _moves(long: Sequence[Series]) -> Iterable[float]:
    for series in long[:DRIFT_SERIES]:
        earlier = [past.level for past in long[DRIFT_SERIES:] if past.target == series.target]
        if len(earlier) >= EARLIER_MIN:
            yield math.log(series.level / median(earlier))
