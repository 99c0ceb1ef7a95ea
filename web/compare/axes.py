"""Computes where values lie on the axes of the comparison's plots. Places are percentages of the axis's length."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_TICKS_MAX = 6
# Sets of round values for the labels of a logarithmic axis, as multiples of a power of ten. The set with the fewest
# values comes first.
_DECADE_STEPS = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 5.0, 7.0))
# The distances between round values on an axis that is too short for the sets above.
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
# Free space beyond the lowest and the highest value, as a fraction of the axis.
_MARGIN = 0.06


@dataclass(frozen=True, slots=True)
class Tick:
    """A value with a label, at a place on an axis in per cent."""

    place: float
    label: str


@dataclass(frozen=True, slots=True)
class LogAxis:
    """A logarithmic axis from `low` to `high`, which are positive."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return where a value lies, in per cent of the length. Values beyond an end lie at this end."""
        inside = min(max(value, self.low), self.high)
        return round(100 * math.log(inside / self.low) / math.log(self.high / self.low), 2)

    def ticks(self) -> list[Tick]:
        """Return ticks with round values: as many as possible up to _TICKS_MAX. A very short axis may have none."""
        found: list[float] = []
        for values in (*map(self._decades, _DECADE_STEPS), *map(self._even, reversed(_STEPS))):
            if len(found) < len(values) <= _TICKS_MAX:
                found = values
        return [Tick(self.place(value), f"{value:,g}") for value in found]

    def _decades(self, steps: Iterable[float]) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.floor(math.log10(self.high))
        values = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        return [value for value in values if self.low <= value <= self.high]

    def _even(self, step: float) -> list[float]:
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        if last - first >= _TICKS_MAX:
            return []
        return [round(number * step, 10) for number in range(first, last + 1)]


def ratio_axis(values: Iterable[float]) -> LogAxis:
    """Return an axis for ratios: it contains all values and 1, with some free space at both ends."""
    logs = [0.0, *(math.log(value) for value in values)]
    low, high = min(logs), max(logs)
    free = _MARGIN * max(high - low, 0.1)
    return LogAxis(math.exp(low - free), math.exp(high + free))


def even_ticks(end: float) -> list[Tick]:
    """Return round ticks of a linear axis from 0 to `end`, at most _TICKS_MAX."""
    if end <= 0:
        return [Tick(0, "0")]
    rough = end / (_TICKS_MAX - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
    count = math.floor(end / step)
    return [
        Tick(round(100 * n * step / end, 2), f"{round(n * step, 10):,g}") for n in range(count + 1)
    ]
