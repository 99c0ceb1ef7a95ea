"""Many comparisons at once: Holm's correction, and the ranks that the sure ones leave open.

Here is also what everybody who judges numbers agrees on: how sure one has to be, and which difference is none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SIGNIFICANCE = 0.05
MARGIN_RATIO = 1.03
MARGIN = math.log(MARGIN_RATIO)


@dataclass(frozen=True, slots=True)
class Rank:
    """A place: `position` orders by score, [low, high] are the ranks that cannot be told apart."""

    position: int
    low: int
    high: int


def holm(p_values: Sequence[float]) -> list[float]:
    """Return each p-value adjusted by Holm's step-down procedure (Holm 1979).

    Claims whose adjusted value is at most SIGNIFICANCE are together wrong with at most that probability, however they
    depend on each other.
    """
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for step, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def ranks(count: int, sure: Iterable[tuple[int, int]]) -> list[Rank]:
    """Return the ranks of `count` entries, best score first; `sure` has (winner, loser) for pairs that are apart.

    The interval of an entry starts after all entries that are surely better and ends before all that are surely
    worse; it always holds the entry's own position.
    """
    better = [0] * count  # how many are surely better than this one
    worse = [0] * count
    for winner, loser in sure:
        worse[winner] += 1
        better[loser] += 1
    return [
        Rank(place, min(place, 1 + better[place - 1]), max(place, count - worse[place - 1]))
        for place in range(1, count + 1)
    ]
