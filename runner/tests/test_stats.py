"""The tests and corrections against published values, SciPy, brute force and simulation."""

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

from runner.stats.drift import BAND_MIN, judge_drift
from runner.stats.family import MARGIN, SIGNIFICANCE, holm, ranks
from runner.stats.rank_sum import smaller_p
from runner.stats.signed_rank import DIFFERENCES_MAX, signed_rank
from runner.summary import median_interval

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = st.lists(st.floats(-10, 10), min_size=1, max_size=20)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=6)
few = settings(max_examples=25)
SOAK = int(os.environ.get("KEYDROME_SOAK", "1"))

# Hollander and Wolfe, Nonparametric Statistical Methods, table 3.1: Hamilton depression scale before and after.
BEFORE = (1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30)
AFTER = (0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29)
# Largest T with a two-sided p of at most 0.05 (the usual table of Wilcoxon's signed-rank test).
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
    """Among the Walsh averages of powers of two all are different, so their places can be read off."""
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
def test_ties_never_make_the_signed_rank_test_too_bold(values: list[int], bound: int) -> None:
    """Against all sign patterns of what was observed, ties included: the share that looks as good or better."""
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
def test_other_signs_give_the_mirrored_answer(values: list[float]) -> None:
    ranked, mirrored = signed_rank(values), signed_rank([-value for value in values])
    low, high, coverage = ranked.interval(0.95)
    assert mirrored.interval(0.95) == (-high, -low, coverage)
    assert mirrored.above_p(MARGIN) == ranked.below_p(-MARGIN)


@pytest.mark.parametrize("count", [0, DIFFERENCES_MAX + 1])
def test_too_few_and_too_many_differences(count: int) -> None:
    with pytest.raises(ValueError, match="are needed"):
        signed_rank([1.0] * count)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32))
@few
def test_the_rank_sum_test_agrees_with_scipy(first: int, second: int, seed: int) -> None:
    generator = random.Random(seed)
    x = [generator.gauss(0, 1) for _ in range(first)]
    y = [generator.gauss(0.5, 1) for _ in range(second)]
    expected = mannwhitneyu(x, y, alternative="less", method="exact").pvalue
    assert smaller_p(x, y, margin=0.0) == pytest.approx(expected, abs=1e-12)


@given(SAMPLES, SAMPLES)
@few
def test_ties_never_make_the_rank_sum_test_too_bold(
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
    """The first row is what the function p.adjust of R gives."""
    assert holm(p_values) == pytest.approx(adjusted)


@given(P_VALUES)
@few
def test_holm_is_the_closed_test_of_bonferroni(p_values: list[float]) -> None:
    """Marcus, Peritz and Gabriel 1976: a claim holds when every set of hypotheses with it is rejected."""
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
def test_ranks_hold_the_position(count: int, data: st.DataObject) -> None:
    pairs = list(itertools.combinations(range(count), 2))
    sure = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    found = ranks(count, sure)
    assert [place.position for place in found] == list(range(1, count + 1))
    assert all(1 <= place.low <= place.position <= place.high <= count for place in found)


@given(st.lists(st.floats(-3, 3), max_size=30), st.randoms(use_true_random=False))
@few
def test_drift_depends_on_no_order_and_voids_less_than_half(
    changes: list[float], chance: random.Random
) -> None:
    drift = judge_drift(changes)
    assert len(drift.void) < len(changes) / 2 or not drift.void
    shuffled = list(changes)
    chance.shuffle(shuffled)
    void = sorted(changes[index] for index in drift.void)
    again = judge_drift(shuffled)
    assert sorted(shuffled[index] for index in again.void) == void
    assert again.band == drift.band >= BAND_MIN


def test_a_steady_machine_has_a_narrow_band_and_an_unsteady_one_a_wide_one() -> None:
    steady = judge_drift([0.01, -0.02, 0.0, 0.15, 0.01, -0.01])
    assert steady.void == (3,)
    assert steady.reason(3) == "control 1.16 times slower, allowed 1.10"
    assert steady.reason(0) == ""
    assert judge_drift([0.1, -0.2, 0.05, 0.15, 0.1, -0.1]).void == ()
    assert (
        judge_drift([0.1, -0.2, 0.05, 0.15, 0.1, -1.0])
        .reason(5)
        .startswith("control 2.72 times faster")
    )


def test_four_values_say_nothing_about_drift() -> None:
    assert judge_drift([0.0, 0.0, 0.0, 5.0]).void == ()


def heavy_tailed(generator: random.Random) -> float:
    """Return noise as a shared machine has it: mostly small, sometimes a spike either way."""
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
def test_intervals_hold_the_truth_as_often_as_they_say(
    interval: Callable[[list[float]], tuple[float, float, float]],
    noise: Callable[[random.Random], float],
) -> None:
    """`./dev soak` repeats it often enough to see that 95 % means 94 to 96 %, where the counts allow 95 %."""
    generator, count = random.Random(15), 2000 * SOAK
    hits, stated = 0, 0.0
    for _ in range(count):
        low, high, stated = interval([noise(generator) for _ in range(15)])
        hits += low <= 0 <= high
    spread = math.sqrt(stated * (1 - stated) / count)
    assert hits / count == pytest.approx(stated, abs=4 * spread)
    assert stated >= 1 - SIGNIFICANCE


def test_fifteen_sessions_give_an_interval_of_95_per_cent() -> None:
    """So the simulation above, which holds for the stated probability, lies within 94 to 96 %."""
    assert signed_rank([float(n) for n in range(15)]).interval(0.95)[2] == pytest.approx(
        0.9521, abs=1e-4
    )
