"""Estimates the difference of paired samples (Hodges-Lehmann), with its exact interval and exact p-values.

Estimate, interval and p-values are computed from one sorted list: the Walsh averages (d_i + d_j) / 2 for all i <= j,
where d_1, d_2, ... are the differences. The median of the list is the estimate (Hodges and Lehmann 1963). The number of
Walsh averages above a bound is the signed-rank statistic for this bound (Tukey 1949). Test and interval use the same
list, so they never contradict each other.

Test and interval are exact if the differences are symmetric about their centre. The differences are symmetric if the
noise of both samples has the same distribution. A Walsh average that is equal to a bound counts against the claim, and
intervals include their end points (Noether 1967). So equal values make p-values larger and intervals wider, never the
reverse.

The unit tests compare the p-values here with those of SciPy. SciPy has no function for the estimate or the interval.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, combinations_with_replacement
from statistics import median
from typing import TYPE_CHECKING

from runner.terms import REPORT_ERROR

if TYPE_CHECKING:
    from collections.abc import Sequence

# The largest number of differences. Computing the null distribution for 200 differences takes two seconds, once per
# process.
DIFFERENCES_MAX = 200


@dataclass(frozen=True, slots=True)
class SignedRank:
    """Computes the estimate, the interval and the p-values for the centre of `count` differences.

    `walsh` contains the Walsh averages of the differences.
    """

    count: int
    walsh: tuple[float, ...]  # ascending

    @property
    def estimate(self) -> float:
        """Return the Hodges-Lehmann estimate of the centre."""
        return median(self.walsh)

    def interval(self, confidence: float) -> tuple[float, float, float]:
        """Return low, high, and the probability that the interval from low to high contains the true centre.

        The probability is at least `confidence`. If there are too few differences for `confidence` (below 6 for 95 %),
        the interval is the whole range of the differences, and the probability is lower.
        """
        cumulative = _cumulative_counts(self.count)
        allowed = (1 - confidence) / 2 * cumulative[-1]
        cut = max(bisect_right(cumulative, allowed), 1)
        coverage = max(0.0, 1 - 2 * cumulative[cut - 1] / cumulative[-1])
        return self.walsh[cut - 1], self.walsh[-cut], coverage

    def above_p(self, bound: float) -> float:
        """Return the one-sided p-value for the claim that the centre is above `bound`."""
        return self._tail(bisect_right(self.walsh, bound))

    def below_p(self, bound: float) -> float:
        """Return the one-sided p-value for the claim that the centre is below `bound`."""
        return self._tail(len(self.walsh) - bisect_left(self.walsh, bound))

    def share_below(self, bound: float) -> float:
        """Return the fraction of Walsh averages below `bound`. An average that is equal to `bound` counts one half."""
        places = bisect_left(self.walsh, bound) + bisect_right(self.walsh, bound)
        return places / (2 * len(self.walsh))

    @property
    def evidences(self) -> int:
        """Return the number of Walsh averages."""
        return len(self.walsh)

    def wanted(self, spread: float, evidence: float) -> float:
        """Return how many differences the test needs (Noether 1987).

        `evidence` is the fraction of Walsh averages that support the claim, minus one half. `spread` is the sum of the
        normal quantiles of the level and of the power.
        """
        return spread**2 / (3 * evidence**2)

    def least(self, level: float) -> int:
        """Return the fewest differences with which a one-sided p-value can be `level` or less."""
        return math.ceil(math.log2(1 / level))

    def _tail(self, contrary: int) -> float:
        """Return the p-value of a claim; `contrary` is the number of Walsh averages that contradict the claim.

        The p-value is the probability of at most `contrary` contradicting averages if the centre is exactly the bound.
        """
        cumulative = _cumulative_counts(self.count)
        return cumulative[contrary] / cumulative[-1]


def signed_rank(differences: Sequence[float]) -> SignedRank:
    """Return the test of the differences. Raises ValueError unless there are 1 to DIFFERENCES_MAX differences."""
    if not 0 < len(differences) <= DIFFERENCES_MAX:
        raise ValueError(
            f"the comparison has {len(differences)} blocks, but there must be 1 to {DIFFERENCES_MAX}; "
            f"{REPORT_ERROR}"
        )
    pairs = combinations_with_replacement(differences, 2)
    return SignedRank(len(differences), tuple(sorted((a + b) / 2 for a, b in pairs)))


@cache
def _cumulative_counts(count: int) -> tuple[int, ...]:
    """Return a tuple whose element t is the number of the 2^count sign patterns with a sum of positive ranks <= t.

    The number of patterns with the sum t is the coefficient of q^t in the product of (1 + q^rank) over the ranks
    1..count.
    """
    counts = [1] + [0] * (count * (count + 1) // 2)
    for rank in range(1, count + 1):
        for total in range(rank * (rank + 1) // 2, rank - 1, -1):
            counts[total] += counts[total - rank]
    return tuple(accumulate(counts))
