"""Paired samples: the Hodges-Lehmann estimate of their difference, its exact interval, and exact p-values.

Everything rests on one sorted list, the Walsh averages (d_i + d_j) / 2 of all i <= j. Their median is the estimate
(Hodges and Lehmann 1963); how many of them lie above a bound is the signed-rank statistic for that bound (Tukey 1949).
So test and interval never disagree. Exact when the differences are symmetric about their centre; those of two samples
that the same noise hits are. Ties count against every claim, and intervals are closed (Noether 1967), so equal values
make neither too bold.

SciPy has the p-value (the tests compare with it) but neither estimate nor interval.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, combinations_with_replacement
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# The null distribution of 200 differences costs two seconds, once per process; sessions cost more.
DIFFERENCES_MAX = 200


@dataclass(frozen=True, slots=True)
class SignedRank:
    """What `count` differences say about their centre."""

    count: int
    walsh: tuple[float, ...]  # ascending

    @property
    def estimate(self) -> float:
        """Return the Hodges-Lehmann estimate of the centre."""
        return median(self.walsh)

    def interval(self, confidence: float) -> tuple[float, float, float]:
        """Return low, high and the probability that the true centre is among them, at least `confidence`.

        Where there are too few differences for that (below 6 for 95 %) it is their whole range, and the probability
        says what that is worth.
        """
        cumulated = _cumulated_counts(self.count)
        allowed = (1 - confidence) / 2 * cumulated[-1]
        cut = max(bisect_right(cumulated, allowed), 1)
        coverage = max(0.0, 1 - 2 * cumulated[cut - 1] / cumulated[-1])
        return self.walsh[cut - 1], self.walsh[-cut], coverage

    def above_p(self, bound: float) -> float:
        """Return the one-sided p-value for the claim that the centre lies above `bound`."""
        return self._tail(bisect_right(self.walsh, bound))

    def below_p(self, bound: float) -> float:
        """Return the one-sided p-value for the claim that the centre lies below `bound`."""
        return self._tail(len(self.walsh) - bisect_left(self.walsh, bound))

    def share_below(self, bound: float) -> float:
        """Return the share of Walsh averages below `bound`, those at it counting half."""
        places = bisect_left(self.walsh, bound) + bisect_right(self.walsh, bound)
        return places / (2 * len(self.walsh))

    def _tail(self, contrary: int) -> float:
        """Return how probable it is that at most `contrary` Walsh averages speak against a claim that is just wrong."""
        cumulated = _cumulated_counts(self.count)
        return cumulated[contrary] / cumulated[-1]


def signed_rank(differences: Sequence[float]) -> SignedRank:
    """Return what the differences say; ValueError without any, or with more than DIFFERENCES_MAX."""
    if not 0 < len(differences) <= DIFFERENCES_MAX:
        raise ValueError(
            f"{len(differences)} differences: between 1 and {DIFFERENCES_MAX} are needed"
        )
    pairs = combinations_with_replacement(differences, 2)
    return SignedRank(len(differences), tuple(sorted((a + b) / 2 for a, b in pairs)))


@cache
def _cumulated_counts(count: int) -> tuple[int, ...]:
    """Return for each t how many of the 2^count sign patterns have a positive rank sum of at most t.

    The counts are the coefficients of the product of (1 + q^rank) over the ranks 1..count.
    """
    counts = [1] + [0] * (count * (count + 1) // 2)
    for rank in range(1, count + 1):
        for total in range(rank * (rank + 1) // 2, rank - 1, -1):
            counts[total] += counts[total - rank]
    return tuple(accumulate(counts))
