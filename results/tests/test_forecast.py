"""Tests results/stats/forecast.py, which forecasts how many blocks show which of two libraries is better.

A block runs every library once. The tests simulate blocks in which the log ratio of two libraries' times is normally
distributed, with a known standard deviation (the scatter).
"""

from __future__ import annotations

import math
import os
import random
from statistics import mean
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.stats.family import MARGIN
from results.stats.forecast import BLOCKS_MIN, Forecast, forecast, forecasts, reachable_margin
from results.stats.pairs import FORECAST_MAX, POWER, Relation, compare

if TYPE_CHECKING:
    from collections.abc import Callable

SOAK = int(os.environ.get("KEYDROME_SOAK", "1"))
PAIR = ("a", "b")
# With this wide margin, forecasts are below FORECAST_MAX, and far above the fewest blocks that the exact test needs.
WIDE = math.log(1.1)


def blocks(
    generator: random.Random, ratio: float, count: int, scatter: float
) -> dict[str, list[float]]:
    """Return the times of two libraries; the log of their ratio is normal with this scatter."""
    drift = [math.exp(generator.gauss(0, 0.3)) for _ in range(count)]
    logs = [generator.gauss(0, scatter) for _ in drift]
    return {
        "a": drift,
        "b": [slow * ratio * math.exp(log) for slow, log in zip(drift, logs, strict=True)],
    }


def exact(scatter: float, family: int = 1, margin: float = WIDE) -> Forecast:
    """Return the forecast for a known scatter: forecast from two log ratios whose standard deviation is `scatter`."""
    half = scatter / math.sqrt(2)
    return forecast(PAIR, [-half, half], family, margin)


@pytest.mark.parametrize("count", [BLOCKS_MIN, 8, 15])
@pytest.mark.parametrize("scatter", [0.1, 0.2])
def test_the_mean_forecast_is_that_of_the_true_scatter(count: int, scatter: float) -> None:
    """The mean over many series is within 10 % of the forecast that the true scatter gives.

    A single forecast is uncertain: a forecast from five blocks has a standard deviation of about 70 %.
    """
    generator = random.Random(count)
    found = [forecasts(blocks(generator, 1.0, count, scatter), WIDE)[0] for _ in range(2000 * SOAK)]
    known = exact(scatter)
    assert all(one.for_equality is not None for one in found)
    assert mean(one.for_equality or 0 for one in found) == pytest.approx(
        known.for_equality, rel=0.1
    )
    assert mean(one.for_difference or 0 for one in found) == pytest.approx(
        known.for_difference, rel=0.1
    )


def decided(
    is_decided: Callable[[Relation], bool], ratio: float, count: int, scatter: float, trials: int
) -> float:
    """Return the fraction of simulated comparisons of this many blocks whose result is decided."""
    generator = random.Random(round(1e6 * ratio) + count)
    found = [
        compare(blocks(generator, ratio, count, scatter), lower_is_better=True, margin=WIDE)
        for _ in range(trials)
    ]
    return sum(is_decided(one.pairs[0].relation) for one in found) / trials


@pytest.mark.parametrize("scatter", [0.03, 0.1, 0.15, 0.2])
def test_the_forecast_number_of_blocks_decides_with_the_stated_probability(scatter: float) -> None:
    """If the true difference is the margin, or 0, the exact tests decide with probability POWER.

    With few blocks the exact test has few possible p-values, so it may decide more often than POWER.
    """
    trials = 400 * SOAK
    tolerance = 0.02 + 3 * math.sqrt(POWER * (1 - POWER) / trials)
    known = exact(scatter)
    assert known.for_equality is not None
    assert known.for_difference is not None
    equal = decided(lambda r: r is Relation.EQUAL, 1.0, known.for_equality, scatter, trials)
    assert equal >= POWER - tolerance
    ahead = decided(
        lambda r: r in {Relation.AHEAD, Relation.APART},
        math.exp(WIDE),
        known.for_difference,
        scatter,
        trials,
    )
    assert ahead >= POWER - tolerance
    if known.for_difference > 10:
        assert equal <= POWER + tolerance
        assert ahead <= POWER + tolerance


def test_a_user_who_follows_the_forecast_keeps_the_error_rate() -> None:
    """Here the number of blocks is forecast from the first five blocks, which are among those that count.

    Users of `compare` cannot reuse the first blocks, because another number of blocks needs another run. The true ratio
    is exactly the margin, so each claim is wrong in at most 2.5 % of the cases.
    """
    trials = 400 * SOAK
    generator = random.Random(7)
    wrong: dict[Relation, int] = dict.fromkeys(Relation, 0)
    for _ in range(trials):
        values = blocks(generator, math.exp(WIDE), 100, 0.1)
        first = {name: row[:BLOCKS_MIN] for name, row in values.items()}
        count = min(forecasts(first, WIDE)[0].for_equality or 100, 100)
        used = {name: row[:count] for name, row in values.items()}
        wrong[compare(used, lower_is_better=True, margin=WIDE).pairs[0].relation] += 1
    allowed = 0.025 + 4 * math.sqrt(0.025 * 0.975 / trials)
    assert wrong[Relation.EQUAL] / trials <= allowed
    assert wrong[Relation.APART] / trials <= allowed


ROWS = st.lists(st.floats(0.5, 2.0), min_size=BLOCKS_MIN, max_size=15)


@given(ROWS, st.floats(0.1, 10))
def test_the_forecast_does_not_depend_on_which_library_leads(
    row: list[float], factor: float
) -> None:
    """The forecast is blind: it is the same however fast one of the libraries is."""
    (one,) = forecasts({"a": row, "b": [1.0] * len(row)}, MARGIN)
    (other,) = forecasts({"a": [factor * value for value in row], "b": [1.0] * len(row)}, MARGIN)
    assert other.scatter == pytest.approx(one.scatter, abs=1e-9)


@given(st.floats(0.01, 0.5), st.integers(1, 45), st.integers(20, 200))
def test_the_reachable_margin_inverts_the_number_of_blocks(
    scatter: float, family: int, count: int
) -> None:
    margin = reachable_margin(scatter, family, count)
    assert margin is not None
    wanted = exact(scatter, family, margin).for_equality
    assert wanted is not None
    assert abs(wanted - count) <= 1


def test_too_few_blocks_reach_no_margin_and_many_are_not_promised() -> None:
    assert reachable_margin(0.1, 1, 5) is None
    assert reachable_margin(0.1, 1, 6) is not None
    assert reachable_margin(0.1, 10, 8) is None
    noisy = exact(2.0, margin=MARGIN)
    assert (noisy.for_difference, noisy.for_equality) == (None, None)
    assert FORECAST_MAX == 1000


def test_the_same_values_need_the_fewest_blocks_of_the_test() -> None:
    rows = {name: [1.0] * BLOCKS_MIN for name in "abc"}
    found = forecasts(rows, MARGIN)
    assert [(one.first, one.second) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert {(one.for_difference, one.for_equality) for one in found} == {(7, 7)}
