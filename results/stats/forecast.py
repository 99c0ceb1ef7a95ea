"""Forecasts from the first blocks of `keydrome compare` how many blocks will show which library is better.

A block runs every library once. A metric is a measured result such as the time. For a pair of libraries, each block
gives one difference of log(metric). The forecast uses only how far these differences scatter about their own mean. It
does not use the mean, so it does not show which library leads, and it changes no decision: at the end of the
comparison, pairs.py tests the differences. Choosing a number of blocks by the scatter alone is called a blinded review
of the sample size (Wittes and Brittain 1990).

The formula is that of the signed-rank test for normal differences (Guenther 1981). It is a sum. The first term is pi/3
times the sample size of a z-test, because the relative efficiency of the signed-rank test is 3/pi. The second term is
half of the squared normal quantile of the level. In simulations of the exact test (results/tests/test_forecast.py), the
forecast number of blocks decides the comparison in about 80 % (POWER) of the cases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist, median, stdev
from typing import TYPE_CHECKING

from results.stats.family import SIGNIFICANCE
from results.stats.pairs import FORECAST_MAX, POWER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Let s be the scatter without the most distant block. This block is an outlier if the scatter of all blocks is larger
# than this factor times s. About 2 % of the samples of five normal differences have an outlier by chance.
_OUTLIER_FACTOR = 4.0
# From fewer blocks than this, the scatter is too uncertain for a forecast.
BLOCKS_MIN = 5
_PER_Z_TEST = math.pi / 3


@dataclass(frozen=True, slots=True)
class Forecast:
    """The numbers of blocks that decide the comparison of two libraries with probability POWER.

    The margin is the largest difference that counts as equal (an argument of forecasts()).

    - `scatter`: the standard deviation of the differences of log(metric).
    - `for_difference`: blocks that show which library is better if the true difference is the margin.
    - `for_equality`: blocks that show that two equal libraries are equal within the margin. Both numbers of blocks are
      None if they are above FORECAST_MAX.
    - `without_outlier`: the scatter without the most distant block, or None if no block is an outlier.
    """

    first: str
    second: str
    scatter: float
    for_difference: int | None
    for_equality: int | None
    without_outlier: float | None


def forecasts(values: Mapping[str, Sequence[float]], margin: float) -> tuple[Forecast, ...]:
    """Return the forecast of each pair. Each library has one positive value per block, in the order of the blocks.

    `margin` is the logarithm of the largest ratio that counts as equal. There must be at least two blocks.
    """
    logs = {name: [math.log(value) for value in row] for name, row in values.items()}
    couples = list(combinations(logs, 2))
    found = []
    for first, second in couples:
        differences = [a - b for a, b in zip(logs[first], logs[second], strict=True)]
        found.append(forecast((first, second), differences, len(couples), margin))
    return tuple(found)


def forecast(
    pair: tuple[str, str], differences: Sequence[float], family: int, margin: float
) -> Forecast:
    """Return the forecast of one of `family` pairs that are compared together."""
    scatter = stdev(differences)
    return Forecast(
        *pair,
        scatter,
        for_difference=_blocks(scatter, margin, family, _one_sided()),
        for_equality=_blocks(scatter, margin, family, _two_sided()),
        without_outlier=_without_outlier(differences, scatter),
    )


def _without_outlier(differences: Sequence[float], scatter: float) -> float | None:
    """Return the scatter without the most distant difference, or None if this difference is no outlier."""
    centre = median(differences)
    nearest = sorted(differences, key=lambda one: abs(one - centre))[:-1]
    rest = stdev(nearest) if len(nearest) > 1 else scatter
    return rest if scatter > _OUTLIER_FACTOR * rest else None


def reachable_margin(scatter: float, family: int, blocks: int) -> float | None:
    """Return the logarithm of the smallest margin within which this many blocks show that equal libraries are equal.

    They show it with probability POWER. Returns None if there are too few blocks to show it.
    """
    level = _level(family)
    if blocks < _least(level):
        return None
    at_level = NormalDist().inv_cdf(1 - level)
    rest = blocks - at_level**2 / 2
    return scatter * (at_level + _two_sided()) * math.sqrt(_PER_Z_TEST / rest)


def _blocks(scatter: float, margin: float, family: int, quantile: float) -> int | None:
    """Return how many blocks are needed, or None if more than FORECAST_MAX.

    `quantile` is the normal quantile of the power, as forecast() chooses it for a difference or for equality.
    """
    level = _level(family)
    at_level = NormalDist().inv_cdf(1 - level)
    count = _PER_Z_TEST * ((at_level + quantile) * scatter / margin) ** 2 + at_level**2 / 2
    wanted = max(math.ceil(count), _least(level))
    return wanted if wanted <= FORECAST_MAX else None


def _level(family: int) -> float:
    """Return the level of a one-sided test in the first step of Holm's procedure."""
    return SIGNIFICANCE / (2 * family)


def _least(level: float) -> int:
    """Return the fewest blocks with which the exact one-sided p-value can be `level` or less."""
    return math.ceil(math.log2(1 / level))


def _one_sided() -> float:
    return NormalDist().inv_cdf(POWER)


def _two_sided() -> float:
    """Return the quantile for equality: both one-sided tests must succeed, so each gets half of the risk of failure."""
    return NormalDist().inv_cdf((1 + POWER) / 2)
