"""Who is apart from whom? Pure functions from complete blocks to a verdict for every pair.

In a block all libraries do the same operations, one after the other in random order. For two of them each block gives
one difference of logarithms; what hits the whole block cancels. The pair is *apart* when the centre of the differences
is surely beyond the margin and *equal* when it is surely within (two one-sided tests, Schuirmann 1987). One library is
*ahead* when it is surely faster, by more than the margin or by less. Else the pair is *undecided*. Each kind of claim
is Holm-corrected over all pairs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from statistics import NormalDist, median
from typing import TYPE_CHECKING

from runner.stats.family import MARGIN, SIGNIFICANCE, Rank, holm, ranks
from runner.stats.signed_rank import SignedRank, signed_rank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CONFIDENCE = 1 - SIGNIFICANCE
POWER = 0.8  # how sure the forecast of sessions wants to be
FORECAST_MAX = 1000


class Standing(StrEnum):
    """What can be said about a pair."""

    APART = "apart"
    AHEAD = "ahead"
    EQUAL = "equal"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two libraries: `ratio` is first / second in the metric, with its interval.

    The p-values are adjusted. `leader` is named when one is ahead or they are apart. `more_sessions` is about how many
    further sessions would show whether they are apart or equal, where that is open; None when beyond FORECAST_MAX.
    """

    first: str
    second: str
    ratio: float
    low: float
    high: float
    coverage: float
    p_different: float
    p_apart: float
    p_equal: float
    standing: Standing
    leader: str | None
    more_sessions: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All libraries, best first, with the rank of each, and all pairs in that order."""

    names: tuple[str, ...]
    ranks: tuple[Rank, ...]
    pairs: tuple[Pair, ...]


def sessions_needed(libraries: int) -> int:
    """Return the fewest sessions that can decide anything: the smallest possible p is 2 / 2^sessions."""
    pairs = max(libraries * (libraries - 1) // 2, 1)
    return math.ceil(math.log2(2 * pairs / SIGNIFICANCE))


def compare(values: Mapping[str, Sequence[float]], *, lower_is_better: bool) -> Comparison:
    """Compare libraries by their positive values, one per block and in the order of the blocks.

    ValueError when they do not have equally many.
    """
    sign = 1.0 if lower_is_better else -1.0
    logs = {name: [sign * math.log(value) for value in row] for name, row in values.items()}
    names = _best_first(logs)
    couples = list(combinations(names, 2))
    tests = [
        signed_rank([a - b for a, b in zip(logs[first], logs[second], strict=True)])
        for first, second in couples
    ]
    claims = [_Claims(*ps) for ps in zip(*(holm(ps) for ps in _p_values(tests)), strict=True)]
    pairs = tuple(
        _pair(couple, test, claim, sign=sign, family=len(couples))
        for couple, test, claim in zip(couples, tests, claims, strict=True)
    )
    place = {name: index for index, name in enumerate(names)}
    sure = [
        (place[pair.leader], place[pair.second if pair.leader == pair.first else pair.first])
        for pair in pairs
        if pair.leader is not None and pair.standing is Standing.APART
    ]
    return Comparison(tuple(names), tuple(ranks(len(names), sure)), pairs)


def _best_first(logs: Mapping[str, Sequence[float]]) -> list[str]:
    """Return the names by their median distance from their block's mean, so that slow blocks decide nothing."""
    means = [math.fsum(block) / len(block) for block in zip(*logs.values(), strict=True)]

    def distance(name: str) -> float:
        return median(value - mean for value, mean in zip(logs[name], means, strict=True))

    return sorted(logs, key=lambda name: (distance(name), name))


@dataclass(frozen=True, slots=True)
class _Claims:
    """The p-values of what may be said about a pair."""

    different: float
    apart: float
    equal: float


def _p_values(tests: Sequence[SignedRank]) -> tuple[list[float], list[float], list[float]]:
    """Return each test's p-values: that the centre is not 0, that it is beyond the margin, that it is within.

    The last is doubled, so that a single pair is equal exactly when the interval that is shown lies within the margin.
    """
    return (
        [min(1.0, 2 * min(test.above_p(0.0), test.below_p(0.0))) for test in tests],
        [min(1.0, 2 * min(test.above_p(MARGIN), test.below_p(-MARGIN))) for test in tests],
        [min(1.0, 2 * max(test.above_p(-MARGIN), test.below_p(MARGIN))) for test in tests],
    )


def _standing(claims: _Claims) -> Standing:
    if claims.apart <= SIGNIFICANCE:
        return Standing.APART
    if claims.equal <= SIGNIFICANCE:
        return Standing.EQUAL
    return Standing.AHEAD if claims.different <= SIGNIFICANCE else Standing.UNDECIDED


def _pair(
    names: tuple[str, str], test: SignedRank, claims: _Claims, *, sign: float, family: int
) -> Pair:
    low, high, coverage = test.interval(CONFIDENCE)
    ends = sorted((math.exp(sign * low), math.exp(sign * high)))
    standing = _standing(claims)
    is_open = standing in {Standing.AHEAD, Standing.UNDECIDED}
    leads = standing in {Standing.AHEAD, Standing.APART}
    return Pair(
        first=names[0],
        second=names[1],
        ratio=math.exp(sign * test.estimate),
        low=ends[0],
        high=ends[1],
        coverage=coverage,
        p_different=claims.different,
        p_apart=claims.apart,
        p_equal=claims.equal,
        standing=standing,
        leader=names[test.estimate > 0] if leads else None,
        more_sessions=_more_sessions(test, family) if is_open else None,
    )


def _more_sessions(test: SignedRank, family: int) -> int | None:
    """Return about how many further sessions decide the pair with probability POWER, if they resemble these.

    The formula of Noether (1987) for the signed-rank test: it needs only the share of Walsh averages that already speak
    for a claim. The level is that of Holm's first step.
    """
    above = 1 - test.share_below(MARGIN)
    below = test.share_below(-MARGIN)
    share = max(above, below, 1 - max(above, below))
    level = SIGNIFICANCE / (2 * family)
    spread = NormalDist().inv_cdf(1 - level) + NormalDist().inv_cdf(POWER)
    evidence = max(
        share - 0.5, 0.5 / len(test.walsh)
    )  # of a share of one half: next to none, and no zero
    wanted = spread**2 / (3 * evidence**2)
    least = math.ceil(math.log2(1 / level))
    more = max(math.ceil(wanted), least) - test.count
    return max(more, 1) if more <= FORECAST_MAX else None
