"""Decides which sessions or blocks to discard because the machine was too noisy.

A session measures one library; a block measures several. These libraries are the candidates. A session or block also
runs a fixed library, the control, before and after the candidates, with the same operations. So the two runs of the
control should take the same time. A difference between these two times is noise of the machine; the candidates do not
cause it. Therefore discarding a session because of this difference favours no candidate.

The normal change depends on the machine: about 2 % on a rack server, 20 % on a shared virtual machine. The largest
allowed change is therefore computed from the control's changes in the same series. It is three robust standard
deviations, and at least 10 %. A robust standard deviation is 1.4826 times the median of the absolute changes (Hampel
1974).

This limit grows with the noise, so on a very busy machine it would discard nothing. Therefore the median change has a
limit of its own, BUSY_MIN. Above it, no session counts: the machine is too busy to measure on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# If the second result of the control is between 1 / 1.10 and 1.10 times the first one, the session is never discarded.
BAND_MIN = math.log(1.10)
# Three robust standard deviations, in units of the median absolute change.
SPREADS = 3 * 1.4826
# If the control's result changes by more than this in half of the sessions, the machine is too busy to measure on.
BUSY_MIN = math.log(1.20)
# With fewer changes than this, outliers cannot be recognised, so no session is discarded.
VALUES_MIN = 5


@dataclass(frozen=True, slots=True)
class Drift:
    """The change of the control's metric (measured result) in each session or block, and the largest allowed change.

    A change is log(second value / first value). `band` is the largest allowed absolute value of a change.
    """

    band: float
    changes: tuple[float, ...]

    def is_discarded(self, index: int) -> bool:
        """Return True if the session with this index is discarded."""
        return abs(self.changes[index]) > self.band

    @property
    def discarded(self) -> tuple[int, ...]:
        """Return the indices of the discarded sessions."""
        return tuple(index for index in range(len(self.changes)) if self.is_discarded(index))

    def reason(self, index: int) -> str:
        """Return the reason why the session is discarded, or an empty string if it is valid."""
        if not self.is_discarded(index):
            return ""
        change, band = math.exp(self.changes[index]), math.exp(self.band)
        return (
            f"the control library ran twice, and its second result is {change:.2f} times its first "
            f"(allowed: {1 / band:.2f} to {band:.2f})"
        )


def why_too_busy(changes: Sequence[float], *, on_site: bool = False) -> str:
    """Return why the machine is too busy to measure on, or an empty string if it is not.

    The result is also empty for fewer than VALUES_MIN changes, because the median of so few changes says too little.
    If `on_site` is True, the text is for users of a site, who cannot stop other work on its machine.
    """
    if len(changes) < VALUES_MIN:
        return ""
    typical = median(abs(change) for change in changes)
    if typical <= BUSY_MIN:
        return ""
    machine = "the site's machine was" if on_site else "this machine is"
    advice = "" if on_site else "; stop other work on the machine and run again"
    return (
        f"{machine} too busy to measure on: the control library's result for the same work changed by "
        f"{_percent(typical)} (median of {len(changes)} changes, at most {_percent(BUSY_MIN)} allowed){advice}"
    )


def _percent(change: float) -> str:
    return f"{100 * math.expm1(change):.0f} %"


def judge_drift(changes: Sequence[float]) -> Drift:
    """Return which of the control's changes, each log(second metric / first metric), are too large.

    The result does not depend on the order of the changes. Fewer than half of the sessions are discarded, because the
    band is wider than the median of the absolute changes.
    """
    if len(changes) < VALUES_MIN:
        return Drift(math.inf, tuple(changes))
    spread = SPREADS * median(abs(change) for change in changes)
    return Drift(max(BAND_MIN, spread), tuple(changes))
