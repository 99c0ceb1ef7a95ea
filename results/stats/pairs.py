"""Compares all pairs of libraries by a metric such as time, for `keydrome compare` and the site's page of comparisons.

In a block, also called a session, the libraries run one after the other, in random order, and all execute the same
operations. For a pair of libraries, each block gives one difference of log(metric). Noise that affects the whole block
cancels in this difference. `compare_unpaired` compares libraries whose sessions have nothing in common. Then every
value of one library gives one difference to every value of the other. The result of a pair is one of four words:

- *apart*: the centre of the differences is significantly outside the margin. Differences within the margin, by default
  3 %, count as none.
- *equal*: the centre is significantly inside the margin (two one-sided tests, Schuirmann 1987).
- *ahead*: one library is significantly better, but perhaps by less than the margin.
- *undecided*: none of the above.

Three claims are tested for every pair: the libraries are different, apart, equal. For each claim, Holm's procedure
corrects the p-values of all pairs.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import combinations
from statistics import NormalDist, median
from typing import TYPE_CHECKING, Any

from results.stats.family import MARGIN, SIGNIFICANCE, Rank, holm, ranks
from results.stats.rank_sum import RankSum, rank_sum
from results.stats.signed_rank import SignedRank, signed_rank
from runner.strict import ObjectReader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CONFIDENCE = 1 - SIGNIFICANCE
# The probability that the forecast number of sessions shows whether a pair is apart or equal.
POWER = 0.8
FORECAST_MAX = 1000


class Relation(StrEnum):
    """The result of a pair. The docstring of this file defines the words."""

    APART = "apart"
    AHEAD = "ahead"
    EQUAL = "equal"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Pair:
    """The comparison of two libraries.

    - `ratio`: the estimate of first / second in the metric; its interval is `low` to `high`.
    - `coverage`: the probability that the interval contains the true ratio.
    - `p_different`, `p_apart`, `p_equal`: the Holm-corrected p-values of the three claims (see the top of this file).
    - `leader`: the better library, if the pair is apart or ahead.
    - `more_sessions`: if the pair is ahead or undecided, how many further sessions would probably show that it is apart
      or equal. None if the number is above FORECAST_MAX.
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
    relation: Relation
    leader: str | None
    more_sessions: int | None

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form (harness/schema/compare.v1.schema.json), which still calls `relation` `standing`."""
        value = asdict(self)
        value["standing"] = value.pop("relation").value
        return value

    @classmethod
    def from_json(cls, value: object) -> Pair:
        """Return the pair in `value`. Raises StrictError if the value has another form."""
        reader = ObjectReader(value, "pair")
        pair = cls(
            first=reader.text("first"),
            second=reader.text("second"),
            ratio=reader.number("ratio"),
            low=reader.number("low"),
            high=reader.number("high"),
            coverage=reader.number("coverage"),
            p_different=reader.number("p_different"),
            p_apart=reader.number("p_apart"),
            p_equal=reader.number("p_equal"),
            relation=reader.word("standing", Relation),
            leader=reader.optional_text("leader"),
            more_sessions=reader.optional_integer("more_sessions"),
        )
        reader.end()
        return pair


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of all libraries. `names` is sorted best first; `ranks` and `pairs` follow this order."""

    names: tuple[str, ...]
    ranks: tuple[Rank, ...]
    pairs: tuple[Pair, ...]


def sessions_needed(libraries: int) -> int:
    """Return the fewest sessions that can decide a pair if this many libraries are compared.

    The smallest possible p-value of a pair is 2 / 2^sessions. Holm's procedure multiplies this p-value by the number of
    pairs.
    """
    pairs = max(libraries * (libraries - 1) // 2, 1)
    return math.ceil(math.log2(2 * pairs / SIGNIFICANCE))


def compare(
    values: Mapping[str, Sequence[float]], *, lower_is_better: bool, margin: float = MARGIN
) -> Comparison:
    """Compare libraries by their values. Each library has one positive value per block, in the order of the blocks.

    `margin` is the logarithm of the largest ratio that counts as equal. Raises ValueError if the libraries have
    different numbers of values.
    """
    logs, sign = _logs(values, lower_is_better=lower_is_better)
    names = _best_first(logs)
    tests: list[SignedRank | RankSum] = [
        signed_rank([a - b for a, b in zip(logs[first], logs[second], strict=True)])
        for first, second in combinations(names, 2)
    ]
    return _comparison(names, tests, sign, margin)


def compare_unpaired(values: Mapping[str, Sequence[float]], *, lower_is_better: bool) -> Comparison:
    """Compare libraries by their values from unrelated sessions. Each library has at least one positive value.

    The best library is the one with the best median.
    """
    logs, sign = _logs(values, lower_is_better=lower_is_better)
    names = sorted(logs, key=lambda name: (median(logs[name]), name))
    tests: list[SignedRank | RankSum] = [
        rank_sum(logs[first], logs[second]) for first, second in combinations(names, 2)
    ]
    return _comparison(names, tests, sign, MARGIN)


def sessions_for_equality(
    noise: Sequence[float], libraries: int, margin: float = MARGIN
) -> int | None:
    """Estimate how many sessions show with probability POWER that two equal libraries are equal within the margin.

    `noise` contains differences of log(metric) that only noise causes: one library ran twice in each session. The
    number is for one pair of this many libraries. Returns None if it is above FORECAST_MAX. Both one-sided tests must
    succeed, so each gets half of the risk of failure.
    """
    centre = median(noise)
    test = signed_rank([difference - centre for difference in noise])
    family = max(libraries * (libraries - 1) // 2, 1)
    level = SIGNIFICANCE / (2 * family)
    spread = NormalDist().inv_cdf(1 - level) + NormalDist().inv_cdf((1 + POWER) / 2)
    inside = min(test.share_below(margin), 1 - test.share_below(-margin))
    evidence = max(inside - 0.5, 0.5 / test.evidences)
    wanted = max(math.ceil(test.wanted(spread, evidence)), test.least(level))
    return wanted if wanted <= FORECAST_MAX else None


def _logs(
    values: Mapping[str, Sequence[float]], *, lower_is_better: bool
) -> tuple[dict[str, list[float]], float]:
    """Return the logarithms of the values, negated if higher values are better, and the sign: 1 or -1."""
    sign = 1.0 if lower_is_better else -1.0
    return {name: [sign * math.log(value) for value in row] for name, row in values.items()}, sign


def _comparison(
    names: Sequence[str], tests: Sequence[SignedRank | RankSum], sign: float, margin: float
) -> Comparison:
    """Return the comparison of libraries that are sorted best first; `tests` has one test for each pair of them."""
    couples = list(combinations(names, 2))
    claims = [
        _Claims(*ps) for ps in zip(*(holm(ps) for ps in _p_values(tests, margin)), strict=True)
    ]
    pairs = tuple(
        _pair(couple, test, claim, sign=sign, family=len(couples), margin=margin)
        for couple, test, claim in zip(couples, tests, claims, strict=True)
    )
    place = {name: index for index, name in enumerate(names)}
    sure = [
        (place[pair.leader], place[pair.second if pair.leader == pair.first else pair.first])
        for pair in pairs
        if pair.leader is not None and pair.relation is Relation.APART
    ]
    return Comparison(tuple(names), tuple(ranks(len(names), sure)), pairs)


def _best_first(logs: Mapping[str, Sequence[float]]) -> list[str]:
    """Return the names sorted by the median of (value - mean of all values in its block).

    The mean is subtracted so that a slow block has no effect.
    """
    means = [math.fsum(block) / len(block) for block in zip(*logs.values(), strict=True)]

    def distance(name: str) -> float:
        return median(value - mean for value, mean in zip(logs[name], means, strict=True))

    return sorted(logs, key=lambda name: (distance(name), name))


@dataclass(frozen=True, slots=True)
class _Claims:
    """The adjusted p-values of the three claims about a pair."""

    different: float
    apart: float
    equal: float


def _p_values(
    tests: Sequence[SignedRank | RankSum], margin: float
) -> tuple[list[float], list[float], list[float]]:
    """Return three lists with one p-value per test.

    The claims are: the centre is not 0, the centre is outside the margin, the centre is inside the margin. The p-value
    of the third claim is doubled. So if there is only one pair, its result is "equal" exactly if the printed interval
    is inside the margin.
    """
    return (
        [min(1.0, 2 * min(test.above_p(0.0), test.below_p(0.0))) for test in tests],
        [min(1.0, 2 * min(test.above_p(margin), test.below_p(-margin))) for test in tests],
        [min(1.0, 2 * max(test.above_p(-margin), test.below_p(margin))) for test in tests],
    )


def _relation(claims: _Claims) -> Relation:
    if claims.apart <= SIGNIFICANCE:
        return Relation.APART
    if claims.equal <= SIGNIFICANCE:
        return Relation.EQUAL
    return Relation.AHEAD if claims.different <= SIGNIFICANCE else Relation.UNDECIDED


def _pair(
    names: tuple[str, str],
    test: SignedRank | RankSum,
    claims: _Claims,
    *,
    sign: float,
    family: int,
    margin: float,
) -> Pair:
    low, high, coverage = test.interval(CONFIDENCE)
    ends = sorted((math.exp(sign * low), math.exp(sign * high)))
    relation = _relation(claims)
    is_open = relation in {Relation.AHEAD, Relation.UNDECIDED}
    leads = relation in {Relation.AHEAD, Relation.APART}
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
        relation=relation,
        leader=names[test.estimate > 0] if leads else None,
        more_sessions=_more_sessions(test, family, margin) if is_open else None,
    )


def _more_sessions(test: SignedRank | RankSum, family: int, margin: float) -> int | None:
    """Estimate how many further sessions like the present ones would decide the pair with probability POWER.

    Returns None if the number is above FORECAST_MAX. The function uses the formulas of Noether (1987) for the two
    tests. The formulas need only the fraction of averages (signed-rank test) or differences (rank-sum test) that
    support a claim. The level of significance is that of the first step of Holm's procedure.
    """
    above = 1 - test.share_below(margin)
    below = test.share_below(-margin)
    share = max(above, below, 1 - max(above, below))
    level = SIGNIFICANCE / (2 * family)
    spread = NormalDist().inv_cdf(1 - level) + NormalDist().inv_cdf(POWER)
    # If `share` is 0.5, `share - 0.5` is 0, and the formula below would divide by 0. So `evidence` is at least half of
    # the share of a single average or difference.
    evidence = max(share - 0.5, 0.5 / test.evidences)
    more = max(math.ceil(test.wanted(spread, evidence)), test.least(level)) - test.count
    return max(more, 1) if more <= FORECAST_MAX else None
