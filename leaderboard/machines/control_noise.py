"""Decides from the control library's results whether a machine is too noisy for its runs to be ranked.

A session is one repetition of a timed run. In a full session the control library (the baseline) does the same work
once before and once after the candidate (the library that the run judges). The control's results give two numbers that
do not depend on any candidate, so excluding a machine favours no library:

- *Noise*: how much two measurements of the same work within one session differ. Noise is the robust standard deviation
  of one measurement: 1.4826 times the median of |log(after / before)|, divided by sqrt(2) because both times vary.
- *Drift*: how much the control's level (its median result in a run) has changed since earlier runs of the same
  benchmark instance.

runner/drift.py discards single sessions that are unusual for their machine. This module decides whether the usual noise
or the drift of a machine is too large. It uses no database.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# A series contains the control's results in one run. Noise is computed from the newest series: just enough of them to
# contain at least this many measurement pairs (before and after a candidate).
CHANGES_MIN = 20
# Drift is computed from this many newest series. The level of each is compared with the median level of earlier series
# of the same benchmark instance. The median of these changes is the drift.
DRIFT_SERIES = 5
# Drift is unknown if one of the newest series has fewer earlier series than this.
EARLIER_MIN = 3
# judge() gets at most this many series, the newest ones (history() in control_history.py).
SERIES_MAX = 60
# For normally distributed values, the standard deviation is this factor times the median absolute deviation.
_ROBUST = 1.4826


@dataclass(frozen=True, slots=True)
class Series:
    """The control's results in one run. `level` is the median of its values in the benchmark's metric.

    `changes` contains log(after / before) for each session that ran the control twice, including discarded sessions.
    `changes` is empty if every session ran the control only once.
    """

    target: tuple[str, int, str, str]  # benchmark, version, instance, scale
    level: float
    changes: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest noise and drift with which a machine's runs may be ranked, as fractions: 0.1 is 10 %."""

    noise: float
    drift: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """A machine's noise and drift, and why the machine is excluded from ranking.

    A number is None if there are too few results. The reason is empty if the machine's runs may be ranked.
    """

    noise: float | None
    drift: float | None
    reason: str


def judge(history: Sequence[Series], limits: Limits) -> Judgement:
    """Return a machine's noise and drift, and why it is excluded. `history` lists the machine's series, newest first.

    A machine with too few results is not excluded, because runner/drift.py still checks its sessions one by one.
    """
    noise = _noise(history)
    drift = _drift(history)
    reasons = []
    if noise is not None and noise > limits.noise:
        reasons.append(
            "repeated measurements of the control library, a fixed library for comparison, "
            f"differ by {_percent(noise)} (limit {_percent(limits.noise)})"
        )
    if drift is not None and abs(drift) > limits.drift:
        reasons.append(
            "the results of the control library, a fixed library for comparison, "
            f"changed by {_percent(drift)} since earlier runs "
            f"(limit {_percent(limits.drift)})"
        )
    return Judgement(noise, drift, "; ".join(reasons))


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f} %"


def _noise(history: Sequence[Series]) -> float | None:
    """Return the noise as a fraction, or None if all series together have fewer than CHANGES_MIN changes."""
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
    """Return the relative change of the control's level in the newest series; positive if the level grew.

    Leaves out series in which no session ran the control twice. Returns None if one of the DRIFT_SERIES
    newest series cannot be compared with earlier series.
    """
    long = [series for series in history if series.changes]
    moves = list(_moves(long))
    return math.expm1(median(moves)) if len(moves) == DRIFT_SERIES else None


def _moves(long: Sequence[Series]) -> Iterable[float]:
    """Yield log(level / earlier level) for each of the newest series with at least EARLIER_MIN earlier series."""
    for series in long[:DRIFT_SERIES]:
        earlier = [past.level for past in long[DRIFT_SERIES:] if past.target == series.target]
        if len(earlier) >= EARLIER_MIN:
            yield math.log(series.level / median(earlier))
