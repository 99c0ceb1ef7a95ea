"""Was the machine steady? Decides by the control library alone which sessions or blocks are void.

The control runs before and after the candidates, with the same operations: it should take the same time. How far it
strays says what the machine did, and nothing about the candidates, so leaving out a session favours nobody. What counts
as far depends on the machine: a rack server strays by 2 %, a shared virtual machine by 20 %. The band is therefore
three robust standard deviations of the control's own changes (1.4826 times their median size, Hampel 1974), but never
narrower than 10 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BAND_MIN = math.log(1.10)
SPREADS = 3 * 1.4826
# With fewer values nobody can say which of them is odd.
VALUES_MIN = 5


@dataclass(frozen=True, slots=True)
class Drift:
    """How far the control strayed in each session, as a logarithm, and how far it may."""

    band: float
    changes: tuple[float, ...]

    def is_void(self, index: int) -> bool:
        """Whether the session of that index does not count."""
        return abs(self.changes[index]) > self.band

    @property
    def void(self) -> tuple[int, ...]:
        """Return the indices of the sessions that do not count."""
        return tuple(index for index in range(len(self.changes)) if self.is_void(index))

    def reason(self, index: int) -> str:
        """Return why a session is void; empty when it counts."""
        if not self.is_void(index):
            return ""
        change = self.changes[index]
        way = "slower" if change > 0 else "faster"
        return f"control {math.exp(abs(change)):.2f} times {way}, allowed {math.exp(self.band):.2f}"


def judge_drift(changes: Sequence[float]) -> Drift:
    """Return which of the control's changes (logarithms of second / first number) are too large.

    Depends on nothing but the changes, and not on their order. Less than half of them are ever void: the band is
    more than their median.
    """
    if len(changes) < VALUES_MIN:
        return Drift(math.inf, tuple(changes))
    spread = SPREADS * median(abs(change) for change in changes)
    return Drift(max(BAND_MIN, spread), tuple(changes))
