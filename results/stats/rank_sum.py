"""Estimates the difference of two unpaired samples, with exact intervals and p-values of the Mann-Whitney test.

The test is also called rank-sum test. If the samples do not differ, all orderings of their values are equally likely.
For each value of the test's statistic, the code counts the orderings that have this value. It counts in integers, so
the result is exact. The code does not use SciPy, because importing SciPy takes seconds in the process that records
results. The unit tests compare the p-values here with those of SciPy.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, count
from statistics import median
from typing import TYPE_CHECKING

from runner.terms import REPORT_ERROR

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
    ascending = sorted(second)
    return sum(
        bisect_left(ascending, x + margin) + bisect_right(ascending, x + margin) for x in first
    )


@dataclass(frozen=True, slots=True)
class RankSum:
    """Computes the estimate, the interval and the p-values for how far one sample is shifted against another.

    `first` and `second` are the sizes of the samples. `differences` contains x - y for every x of the first sample and
    every y of the second. The number of differences above a bound is the U statistic for this bound, so test and
    interval never contradict each other. A difference that is equal to a bound counts against every claim.
    """

    first: int
    second: int
    differences: tuple[float, ...]  # ascending

    @property
    def count(self) -> int:
        """Return the size of the smaller sample."""
        return min(self.first, self.second)

    @property
    def evidences(self) -> int:
        """Return the number of differences."""
        return len(self.differences)

    @property
    def estimate(self) -> float:
        """Return the estimate of the shift by Hodges and Lehmann (1963)."""
        return median(self.differences)

    def interval(self, confidence: float) -> tuple[float, float, float]:
        """Return low, high, and the probability that the interval from low to high contains the true shift.

        The probability is at least `confidence`. If the samples are too small for `confidence`, the interval is the
        whole range of the differences, and the probability is lower.
        """
        cumulative = _cumulative_counts(self.first, self.second)
        allowed = (1 - confidence) / 2 * cumulative[-1]
        cut = max(bisect_right(cumulative, allowed), 1)
        coverage = max(0.0, 1 - 2 * cumulative[cut - 1] / cumulative[-1])
        return self.differences[cut - 1], self.differences[-cut], coverage

    def above_p(self, bound: float) -> float:
        """Return the one-sided p-value for the claim that the shift is above `bound`."""
        return self._tail(bisect_right(self.differences, bound))

    def below_p(self, bound: float) -> float:
        """Return the one-sided p-value for the claim that the shift is below `bound`."""
        return self._tail(len(self.differences) - bisect_left(self.differences, bound))

    def share_below(self, bound: float) -> float:
        """Return the fraction of differences below `bound`. A difference that is equal to `bound` counts one half."""
        places = bisect_left(self.differences, bound) + bisect_right(self.differences, bound)
        return places / (2 * len(self.differences))

    def wanted(self, spread: float, evidence: float) -> float:
        """Return how many values of each sample the test needs (Noether 1987).

        `evidence` is the fraction of differences that support the claim, minus one half. `spread` is the sum of the
        normal quantiles of the level and of the power.
        """
        return spread**2 / (6 * evidence**2)

    def least(self, level: float) -> int:
        """Return the fewest values of each sample with which a one-sided p-value can be `level` or less."""
        return next(size for size in count(1) if 1 / math.comb(2 * size, size) <= level)

    def _tail(self, contrary: int) -> float:
        """Return the p-value of a claim; `contrary` is the number of differences that contradict the claim."""
        cumulative = _cumulative_counts(self.first, self.second)
        return cumulative[contrary] / cumulative[-1]


def rank_sum(first: Sequence[float], second: Sequence[float]) -> RankSum:
    """Return the test of two samples. Raises ValueError if a sample is empty."""
    if not first or not second:
        raise ValueError(
            f"the libraries have {len(first)} and {len(second)} values, but each needs at least one; "
            f"{REPORT_ERROR}"
        )
    differences = sorted(x - y for x in first for y in second)
    return RankSum(len(first), len(second), tuple(differences))


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
