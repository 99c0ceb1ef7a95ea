"""Computes the exact p-value of the Mann-Whitney test (rank-sum test) for two unpaired samples.

If the samples do not differ, all orderings of their values are equally likely. The code counts, with integers, the
orderings with each value of the test's statistic, so the result is exact. The code does not use SciPy, because
importing SciPy takes seconds in the process that records results. The unit tests compare the p-values here with those
of SciPy.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def smaller_p(first: Sequence[float], second: Sequence[float], margin: float) -> float:
    """Return the one-sided p-value for the claim that `first` is smaller than `second` by more than `margin`.

    The statistic U counts the pairs (x, y) that contradict the claim: x + margin > y. A pair with x + margin = y counts
    one half. If U is not a whole number, it is rounded up, so the p-value is never too small.
    """
    doubled = _doubled_contradictions(first, second, margin)
    statistic = (doubled + 1) // 2
    cumulative = _cumulative_counts(len(first), len(second))
    return cumulative[statistic] / cumulative[-1]


def share_smaller(first: Sequence[float], second: Sequence[float], margin: float) -> float:
    """Return the share of the pairs (x, y) in which x is smaller than y by more than `margin`; a tie is half a pair."""
    return 1 - _doubled_contradictions(first, second, margin) / (2 * len(first) * len(second))


def _doubled_contradictions(first: Sequence[float], second: Sequence[float], margin: float) -> int:
    """Return twice the U statistic of the claim that `first` is smaller than `second` by more than `margin`."""
    return sum(2 * (x + margin > y) + (x + margin == y) for x in first for y in second)


@cache
def _cumulative_counts(first: int, second: int) -> tuple[int, ...]:
    """Return a tuple whose element u is the number of orderings of two samples of these sizes with U <= u.

    The number of orderings with U = u is the coefficient of q^u in a Gaussian binomial coefficient: the product of
    (1 - q^(first+i)) / (1 - q^i) for i = 1..second.
    """
    size = first * second + 1
    counts = [1] + [0] * (size - 1)
    for i in range(1, second + 1):
        step = first + i
        for degree in range(size - 1, step - 1, -1):
            counts[degree] -= counts[degree - step]
        for degree in range(i, size):
            counts[degree] += counts[degree - i]
    return tuple(accumulate(counts))
