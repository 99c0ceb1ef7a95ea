"""Tests of the statistics: they are compared with published values, SciPy, brute force and simulations."""

from __future__ import annotations

import itertools
import math
import os
import random
from dataclasses import astuple
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, wilcoxon

from results.stats.family import MARGIN, SIGNIFICANCE, holm, ranks
from results.stats.rank_sum import rank_sum, smaller_p
from results.stats.signed_rank import DIFFERENCES_MAX, signed_rank
from results.summary import median_interval

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = st.lists(st.floats(-10, 10), min_size=1, max_size=20)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=6)
few = settings(max_examples=25)
SOAK = int(os.environ.get("KEYDROME_SOAK", "1"))

# Hollander and Wolfe, Nonparametric Statistical Methods, table 3.1: Hamilton depression scale before and after.
BEFORE = (1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30)
AFTER = (0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29)
# For each number of differences, the largest T (smaller sum of ranks) with a two-sided p of at most 0.05. The
# numbers are from the usual table of Wilcoxon's signed-rank test.
CRITICAL_T = {6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 13: 17, 14: 21, 15: 25, 20: 52, 25: 89}


def test_the_example_of_hollander_and_wolfe() -> None:
    ranked = signed_rank([a - b for a, b in zip(AFTER, BEFORE, strict=True)])
    assert ranked.estimate == pytest.approx(-0.46, abs=0.005)
    low, high, coverage = ranked.interval(0.95)
    assert low == pytest.approx(-0.786)
    assert high == pytest.approx(-0.010)
    assert coverage == pytest.approx(0.961, abs=0.0005)
    assert ranked.below_p(0.0) == pytest.approx(0.01953, abs=0.000005)


@pytest.mark.parametrize("count", CRITICAL_T)
def test_the_interval_ends_where_the_table_says(count: int) -> None:
    """All Walsh averages of powers of two are different, so the index of each is unambiguous."""
    ranked = signed_rank([2.0**n for n in range(count)])
    low, high, coverage = ranked.interval(0.95)
    assert low == ranked.walsh[CRITICAL_T[count]]
    assert high == ranked.walsh[-CRITICAL_T[count] - 1]
    assert coverage >= 0.95


@given(SAMPLES, st.floats(-2, 2))
@few
def test_the_signed_rank_test_agrees_with_scipy(values: list[float], bound: float) -> None:
    sizes = sorted({abs(value - bound) for value in values})
    tied = len(sizes) < len(values) or 0.0 in sizes
    close = any(b - a < 1e-9 for a, b in itertools.pairwise([0.0, *sizes]))
    if tied or close:
        return
    shifted = [value - bound for value in values]
    greater = wilcoxon(shifted, alternative="greater", method="exact").pvalue
    less = wilcoxon(shifted, alternative="less", method="exact").pvalue
    ranked = signed_rank(values)
    assert ranked.above_p(bound) == pytest.approx(greater, abs=1e-12)
    assert ranked.below_p(bound) == pytest.approx(less, abs=1e-12)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9), st.integers(-2, 2))
@few
def test_ties_never_make_the_signed_rank_p_value_too_small(values: list[int], bound: int) -> None:
    """Compare the p-value with the exact fraction of all sign patterns, computed by brute force."""
    sizes = [value - bound for value in values]

    def against(signs: tuple[int, ...]) -> int:
        return sum(
            signs[i] * sizes[i] + signs[j] * sizes[j] <= 0
            for i in range(len(sizes))
            for j in range(i, len(sizes))
        )

    seen = against((1,) * len(sizes))
    patterns = list(itertools.product((1, -1), repeat=len(sizes)))
    share = sum(against(signs) <= seen for signs in patterns) / len(patterns)
    assert signed_rank(values).above_p(bound) >= share - 1e-12


@given(SAMPLES, st.randoms(use_true_random=False))
@few
def test_the_order_of_the_blocks_does_not_matter(
    values: list[float], chance: random.Random
) -> None:
    shuffled = list(values)
    chance.shuffle(shuffled)
    assert signed_rank(shuffled) == signed_rank(values)


@given(SAMPLES, st.floats(-12, 12))
@few
def test_interval_and_test_never_disagree(values: list[float], bound: float) -> None:
    ranked = signed_rank(values)
    low, high, coverage = ranked.interval(0.95)
    assert low <= ranked.estimate <= high
    if coverage < 0.95:
        assert min(ranked.above_p(bound), ranked.below_p(bound)) > 0.025 - 1e-12
        return
    assert (ranked.above_p(bound) <= 0.025) == (bound < low)
    assert (ranked.below_p(bound) <= 0.025) == (bound > high)


@given(SAMPLES)
@few
def test_other_signs_give_the_mirrored_result(values: list[float]) -> None:
    ranked, mirrored = signed_rank(values), signed_rank([-value for value in values])
    low, high, coverage = ranked.interval(0.95)
    assert mirrored.interval(0.95) == (-high, -low, coverage)
    assert mirrored.above_p(MARGIN) == ranked.below_p(-MARGIN)


@pytest.mark.parametrize("count", [0, DIFFERENCES_MAX + 1])
def test_too_few_and_too_many_differences(count: int) -> None:
    with pytest.raises(ValueError, match="there must be 1 to 200"):
        signed_rank([1.0] * count)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32))
@few
def test_the_rank_sum_test_agrees_with_scipy(first: int, second: int, seed: int) -> None:
    generator = random.Random(seed)
    x = [generator.gauss(0, 1) for _ in range(first)]
    y = [generator.gauss(0.5, 1) for _ in range(second)]
    expected = mannwhitneyu(x, y, alternative="less", method="exact").pvalue
    assert smaller_p(x, y, margin=0.0) == pytest.approx(expected, abs=1e-12)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32))
@few
def test_both_forms_of_the_rank_sum_test_agree(first: int, second: int, seed: int) -> None:
    generator = random.Random(seed)
    x = [generator.gauss(0, 1) for _ in range(first)]
    y = [generator.gauss(0.5, 1) for _ in range(second)]
    test = rank_sum(x, y)
    assert test.below_p(-MARGIN) == smaller_p(x, y, MARGIN)
    assert test.above_p(MARGIN) == smaller_p(y, x, MARGIN)
    low, high, coverage = test.interval(0.95)
    assert low <= test.estimate <= high
    if coverage >= 0.95:
        assert 2 * min(test.above_p(low), test.below_p(high)) > 0.05
        assert 2 * test.above_p(math.nextafter(low, -math.inf)) <= 0.05


def test_the_rank_sum_interval_ends_where_the_table_says() -> None:
    """The usual table of the Mann-Whitney test has the critical value U = 23 for samples of ten at 5 %, two-sided."""
    test = rank_sum([2.0**n for n in range(10)], [3.0 * 5**n for n in range(10)])
    low, high, coverage = test.interval(0.95)
    assert (low, high) == (test.differences[23], test.differences[-24])
    assert coverage >= 0.95


@pytest.mark.parametrize(("level", "size"), [(0.5, 1), (0.025, 4), (0.05 / 90, 7)])
def test_how_many_values_a_rank_sum_test_needs_at_least(level: float, size: int) -> None:
    """With samples of four, the smallest p-value is 1 / 70; with samples of three, it is 1 / 20."""
    test = rank_sum([1.0], [2.0])
    assert test.least(level) == size
    assert 1 / math.comb(2 * size, size) <= level


@given(SAMPLES, SAMPLES)
@few
def test_ties_never_make_the_rank_sum_p_value_too_small(
    first: list[float], second: list[float]
) -> None:
    tied = [*first, *second]
    assert smaller_p(tied, tied, margin=0.0) >= 0.5


def test_a_difference_within_the_margin_is_no_difference() -> None:
    generator = random.Random(1)
    nearer = [generator.gauss(0, 0.01) for _ in range(40)]
    further = [value + 0.02 for value in nearer]
    assert smaller_p(nearer, further, margin=0.0) < 1e-6
    assert smaller_p(nearer, further, margin=MARGIN) > 0.5


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([0.01, 0.02, 0.03, 0.04], [0.04, 0.06, 0.06, 0.06]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.001, 0.02, 0.025], [0.003, 0.04, 0.04]),
        ([], []),
    ],
)
def test_holm_by_hand(p_values: list[float], adjusted: list[float]) -> None:
    """The first row is the result of R's function p.adjust."""
    assert holm(p_values) == pytest.approx(adjusted)


@given(P_VALUES)
@few
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float]) -> None:
    """Marcus, Peritz and Gabriel 1976: reject a hypothesis if every set of hypotheses that contains it is rejected."""
    everything = range(len(p_values))
    for index, found in enumerate(holm(p_values)):
        sets = [
            subset
            for size in range(1, len(p_values) + 1)
            for subset in itertools.combinations(everything, size)
            if index in subset
        ]
        worst = max(min(1.0, len(s) * min(p_values[i] for i in s)) for s in sets)
        assert found == pytest.approx(worst)


@given(P_VALUES, st.data())
@few
def test_holm_is_monotone(p_values: list[float], data: st.DataObject) -> None:
    adjusted = holm(p_values)
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    index = data.draw(st.integers(0, len(p_values) - 1))
    smaller = list(p_values)
    smaller[index] = data.draw(st.floats(0, p_values[index]))
    assert all(a <= b for a, b in zip(holm(smaller), adjusted, strict=True))


@given(st.integers(1, 8), st.data())
@few
def test_rank_intervals_contain_the_position(count: int, data: st.DataObject) -> None:
    pairs = list(itertools.combinations(range(count), 2))
    sure = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    found = ranks(count, sure)
    assert [place.position for place in found] == list(range(1, count + 1))
    assert all(1 <= place.low <= place.position <= place.high <= count for place in found)


def heavy_tailed(generator: random.Random) -> float:
    """Return noise like that of a shared machine: mostly small, sometimes a spike up or down."""
    return generator.gauss(0, 0.02) * (6 if generator.random() < 0.1 else 1)


@pytest.mark.parametrize(
    ("interval", "noise"),
    [
        (lambda values: signed_rank(values).interval(0.95), lambda g: g.gauss(0, 1)),
        (lambda values: signed_rank(values).interval(0.95), heavy_tailed),
        (
            lambda values: astuple(median_interval(values)),
            lambda g: g.expovariate(1) - math.log(2),
        ),
    ],
    ids=["signed rank, normal", "signed rank, heavy tails", "order statistics, skewed"],
)
def test_intervals_contain_the_truth_as_often_as_they_say(
    interval: Callable[[list[float]], tuple[float, float, float]],
    noise: Callable[[random.Random], float],
) -> None:
    """The interval contains the true value as often as its stated probability says.

    `./dev soak` runs enough repetitions to verify that 95 % means 94 to 96 %.
    """
    generator, count = random.Random(15), 2000 * SOAK
    hits, stated = 0, 0.0
    for _ in range(count):
        low, high, stated = interval([noise(generator) for _ in range(15)])
        hits += low <= 0 <= high
    spread = math.sqrt(stated * (1 - stated) / count)
    assert hits / count == pytest.approx(stated, abs=4 * spread)
    assert stated >= 1 - SIGNIFICANCE


def test_fifteen_sessions_give_an_interval_of_95_per_cent() -> None:
    """With 15 sessions the stated probability is near 95 %, so the simulation above must give 94 to 96 %."""
    assert signed_rank([float(n) for n in range(15)]).interval(0.95)[2] == pytest.approx(
        0.9521, abs=1e-4
    )
