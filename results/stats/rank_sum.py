"""Computes the exact p-value of the Mann-Whitney test (rank-sum test) for two unpaired samples.

The null distribution of the statistic U consists of Gaussian binomial coefficients. The code computes them as integers,
so the result is exact. It does not use SciPy, because importing SciPy takes seconds in the process that records
results. The unit tests compare the p-values here with those of SciPy.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def smaller_p(first: Sequence[float], second: Sequence[float], margin: float) -> float:
    """Return the one-sided p-value for the claim that `first` is smaller than `second` by more than `margin`.

    U counts the pairs (x, y) that contradict the claim: x + margin > y. A pair with x + margin = y counts one half. If
    the sum has a half, it is rounded up, so the p-value is never too small.
    """
    doubled = sum(
        2 * (x + margin > y) + (x + margin == y) for x in first for y in second
    )  # twice the U statistic
    statistic = (doubled + 1) // 2
    cumulative = _cumulative_counts(len(first), len(second))
    return cumulative[statistic] / cumulative[-1]


@cache
def _cumulative_counts(first: int, second: int) -> tuple[int, ...]:
    """Return a tuple: its element u says how many orderings of two samples of these sizes have U <= u.

    The counts of U = u are the coefficients of the product of (1 - q^(first+i)) / (1 - q^i) for i = 1..second.
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
