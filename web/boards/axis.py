"""Places the ratios of a board (a ranking of libraries) on a logarithmic axis, for the small plot in each row.

A ratio is a library's result divided by the result of the control library (the baseline).
All positions are in per cent of the plot's width. The template draws them as SVG without a view box, so that lines and
text keep their size on every screen, and the page needs no inline style.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CONTROL = 1.0  # the control library's ratio to itself
# On the worse side, the axis contains only ratios up to this many times worse than the control's. If even the best
# entry is worse than the control, the limit is relative to the best entry. Entries beyond the end become arrows, which
# leaves space for the others.
WORSE = 2.2
# The axis always contains the ratios that are this many times better and worse than the control's.
BETTER = 1.25
# Free space at both ends, as a share of the logarithmic width.
PADDING = 0.04
# The values that may have a label, the most useful ones first.
LABELS = (
    *(10.0**power for power in (-1, 1, -2, 2, -3, 3)),
    *(0.5, 2.0, 0.2, 5.0, 0.02, 20.0, 0.05, 50.0, 0.3, 3.0, 0.7, 1.5, 0.4, 4.0),
    *(0.8, 0.9, 1.2, 1.1, 0.95, 1.05),
)
# The smallest distance between two labels, in per cent of the width. The label of the control needs more space.
LABEL_DISTANCE = 11.0
CONTROL_DISTANCE = 15.0


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled line of the axis."""

    label: str
    x: float


@dataclass(frozen=True, slots=True)
class Mark:
    """An entry's dot and whisker. `beyond` is "low" or "high" if the dot lies outside of the axis, and otherwise ""."""

    x: float
    low: float
    high: float
    beyond: str


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic axis of ratios from `low` to `high`, which contains 1, the control."""

    low: float
    high: float

    def x(self, ratio: float) -> float:
        """Return the position of a ratio, from 0 to 100."""
        share = math.log(ratio / self.low) / math.log(self.high / self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)

    @property
    def control(self) -> float:
        """Return the position of the control."""
        return self.x(CONTROL)

    def ticks(self) -> tuple[Tick, ...]:
        """Return the labelled lines except the control's, from left to right. No label is too close to another one."""
        return _ticks(self)

    def mark(self, ratio: float, low: float, high: float) -> Mark:
        """Return the dot and whisker of a ratio and its interval."""
        beyond = "low" if ratio < self.low else "high" if ratio > self.high else ""
        return Mark(self.x(ratio), self.x(low), self.x(high), beyond)


@lru_cache(maxsize=256)
def _ticks(axis: Axis) -> tuple[Tick, ...]:
    """Return the ticks of an axis. Each row of a table draws them, so they are kept."""
    chosen: list[Tick] = []
    for value in LABELS:
        tick = Tick(f"{value:g}", axis.x(value))
        if (
            axis.low < value < axis.high
            and abs(tick.x - axis.control) >= CONTROL_DISTANCE
            and all(abs(tick.x - other.x) >= LABEL_DISTANCE for other in chosen)
        ):
            chosen.append(tick)
    return tuple(sorted(chosen, key=lambda tick: tick.x))


def axis_for(intervals: Iterable[tuple[float, float]], *, lower_is_better: bool) -> Axis:
    """Return an axis for entries with these intervals (low, high), and for the control.

    The axis contains the control and every entry on the better side. On the worse side, WORSE limits the axis.
    """
    ends = list(intervals)
    lows = [low for low, _ in ends]
    highs = [high for _, high in ends]
    if lower_is_better:
        least = min([*lows, CONTROL / BETTER])
        limit = max(CONTROL, min(highs, default=CONTROL)) * WORSE
        most = min(max([*highs, CONTROL * BETTER]), limit)
    else:
        most = max([*highs, CONTROL * BETTER])
        limit = min(CONTROL, max(lows, default=CONTROL)) / WORSE
        least = max(min([*lows, CONTROL / BETTER]), limit)
    room = (most / least) ** PADDING
    return Axis(least / room, most * room)
