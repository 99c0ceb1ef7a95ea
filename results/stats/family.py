"""Handles several comparisons at once: corrects p-values, and computes ranks from significant differences.

The file also defines two limits for the command line and the site. SIGNIFICANCE is the level of significance.
MARGIN_RATIO is the ratio below which two values count as equal, and MARGIN is the logarithm of MARGIN_RATIO.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SIGNIFICANCE = 0.05
# Two values count as equal if the larger one is less than MARGIN_RATIO times the smaller one.
MARGIN_RATIO = 1.03
MARGIN = math.log(MARGIN_RATIO)


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank of an entry. `position` is its rank by score. The data allow every rank from `low` to `high`."""

    position: int
    low: int
    high: int


def holm(p_values: Sequence[float]) -> list[float]:
    """Return each p-value adjusted by Holm's step-down procedure (Holm 1979).

    Each p-value belongs to a claim, such as "these two libraries differ". Suppose that exactly the claims with an
    adjusted value of at most SIGNIFICANCE are made. Then the probability that at least one of them is wrong is at most
    SIGNIFICANCE, even if the claims depend on each other.
    """
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for step, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - step) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def ranks(count: int, sure: Iterable[tuple[int, int]]) -> list[Rank]:
    """Return the ranks of `count` entries, which are sorted by score, best first.

    `sure` contains the indices (winner, loser) of each pair that differs significantly. If b entries are significantly
    better than an entry and w entries are significantly worse, its rank interval is 1 + b to count - w. The interval
    is extended where necessary, so that it contains the entry's own position.
    """
    better = [0] * count  # number of entries that are significantly better
    worse = [0] * count
    for winner, loser in sure:
        worse[winner] += 1
        better[loser] += 1
    return [
        Rank(place, min(place, 1 + better[place - 1]), max(place, count - worse[place - 1]))
        for place in range(1, count + 1)
    ]
