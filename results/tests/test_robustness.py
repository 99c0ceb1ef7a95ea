"""Tests robustness: the largest loss of a library over several workloads, its interval, and rank intervals."""

from __future__ import annotations

import math
import random
from statistics import median

import numpy as np
import pytest

from results.robustness import LEAST_SESSIONS, _medians, best_levels, heat, robustness


def noisy(centre: float, count: int, seed: int, spread: float = 0.01) -> tuple[float, ...]:
    generator = random.Random(seed)
    return tuple(centre * math.exp(generator.gauss(0, spread)) for _ in range(count))


def test_the_largest_loss_counts_and_1_is_the_best_everywhere() -> None:
    table = (((1.0,), (4.0,)), ((2.0,), (2.0,)), ((1.5,), (8.0,)))
    assert best_levels(table) == [1.0, 2.0]
    first, second, third = robustness(table, (1.0, 2.0))
    assert (first.losses, first.value, first.worst) == ((1.0, 2.0), 2.0, 1)
    assert (second.losses, second.value, second.worst) == ((2.0, 1.0), 2.0, 0)
    assert (third.value, third.worst) == (4.0, 1)


def test_empty_cells_have_no_best_level() -> None:
    assert best_levels([[(2.0,), ()], [(1.0,), ()]]) == [1.0, None]


def test_few_sessions_never_tell_libraries_apart() -> None:
    few = LEAST_SESSIONS - 1
    table = tuple((noisy(centre, few, number),) for number, centre in enumerate((1.0, 2.0, 9.0)))
    best = median(table[0][0])
    for one in robustness(table, (best,)):
        assert (one.rank.low, one.rank.high) == (1, 3)
        assert one.low is None


def test_enough_sessions_tell_clear_differences_apart() -> None:
    table = tuple(
        (noisy(centre, 15, number), noisy(1.0, 15, 10 + number))
        for number, centre in enumerate((1.0, 1.5, 2.0))
    )
    best = tuple(level for level in best_levels(table) if level)
    found = robustness(table, best)
    assert [(one.rank.low, one.rank.high) for one in found] == [(1, 1), (2, 2), (3, 3)]
    for one in found:
        assert one.low is not None
        assert one.high is not None
        assert one.low <= one.value <= one.high


def test_equal_libraries_are_rarely_told_apart() -> None:
    """At a level of 5 %, the ranks of at most 10 of 200 tables are wrong on average.

    The probability of 22 or more wrong tables is 1/2,000.
    """
    wrong = 0
    for seed in range(200):
        table = tuple(
            tuple(noisy(1.0, 15, 1000 * seed + 10 * row + column, 0.08) for column in range(3))
            for row in range(4)
        )
        best = tuple(level for level in best_levels(table) if level)
        wrong += any((one.rank.low, one.rank.high) != (1, 4) for one in robustness(table, best))
    assert wrong < 22


def test_a_difference_within_the_margin_is_none() -> None:
    table = ((noisy(1.0, 60, 1, 0.001),), (noisy(1.02, 60, 2, 0.001),))
    best = median(table[0][0])
    assert [(one.rank.low, one.rank.high) for one in robustness(table, (best,))] == [(1, 2)] * 2


@pytest.mark.parametrize("count", [1, 2, 5, 6, 15])
def test_drawn_medians_have_the_distribution_of_resampled_ones(count: int) -> None:
    cell = tuple(float(value**2) for value in range(count))
    drawn = _medians(cell, np.random.default_rng(1))
    generator = np.random.default_rng(2)
    resampled = np.median(generator.choice(np.array(cell), size=(20_000, count)), axis=1)
    for share in (0.1, 0.25, 0.5, 0.75, 0.9):
        below = float(np.mean(drawn <= np.quantile(resampled, share)))
        assert below >= share - 0.04
        strictly = float(np.mean(drawn < np.quantile(resampled, share)))
        assert strictly <= share + 0.04


def test_the_best_library_may_be_outside_of_the_table() -> None:
    (only,) = robustness(((noisy(3.0, 15, 1, 0.001),),), (1.0,))
    assert only.low is not None
    assert 2.9 < only.low <= only.value < 3.1


@pytest.mark.parametrize(
    ("loss", "step"), [(1.0, 0), (1.03, 0), (1.1, 1), (1.3, 2), (2.0, 3), (2.6, 4)]
)
def test_heat_has_five_steps(loss: float, step: int) -> None:
    assert heat(loss) == step
