"""Unpaired samples: the exact Mann-Whitney p-value.

The null distribution of U is the list of Gaussian binomial coefficients, computed here in integers: exact, and without
the seconds that importing a statistics library would cost the process that records results. Tests compare with SciPy.
"""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def smaller_p(first: Sequence[float], second: Sequence[float], margin: float) -> float:
    """Return the one-sided p-value for the claim that `first + margin` lies below `second`.

    Ties count half and are rounded against the claim, so the result is never too small.
    """
    doubled = sum(
        2 * (x + margin > y) + (x + margin == y) for x in first for y in second
    )  # twice the U statistic
    statistic = (doubled + 1) // 2
    cumulated = _cumulated_counts(len(first), len(second))
    return cumulated[statistic] / cumulated[-1]


@cache
def _cumulated_counts(first: int, second: int) -> tuple[int, ...]:
    """Return for each u how many of the orders of two samples have U <= u.

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
