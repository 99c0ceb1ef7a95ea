"""Tests of results/stats/pairs.py: results, symmetry, error rates in simulations, and the forecast of sessions."""

from __future__ import annotations

import math
import os
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from results.stats.family import MARGIN, SIGNIFICANCE
from results.stats.pairs import (
    FORECAST_MAX,
    Relation,
    compare,
    compare_unpaired,
    sessions_for_equality,
    sessions_needed,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

SOAK = int(os.environ.get("KEYDROME_SOAK", "1"))
TABLES = st.integers(1, 8).flatmap(
    lambda count: st.lists(
        st.lists(st.floats(0.1, 100), min_size=count, max_size=count), min_size=2, max_size=4
    )
)


def blocks(
    seed: int, ratios: Sequence[float], count: int, noise: float = 0.02
) -> dict[str, list[float]]:
    """Return a list of times for each library a, b, ...: one time for each of `count` blocks.

    `ratios` has the true ratios of the libraries. The speed of the machine differs between blocks by about 30 %; it is
    the same for all libraries of a block. Each time also has noise of its own.
    """
    generator = random.Random(seed)
    drift = [generator.gauss(0, 0.3) for _ in range(count)]
    return {
        name: [10 * ratio * math.exp(d + generator.gauss(0, noise)) for d in drift]
        for name, ratio in zip("abcdef", ratios, strict=False)
    }


def test_clear_differences_are_found_despite_a_larger_drift() -> None:
    found = compare(blocks(2, (1.0, 1.2, 1.21), 15, noise=0.01), lower_is_better=True)
    assert found.names == ("a", "b", "c")
    assert [pair.relation for pair in found.pairs] == ["apart", "apart", "equal"]
    assert [pair.leader for pair in found.pairs] == ["a", "a", None]
    assert [(rank.low, rank.high) for rank in found.ranks] == [(1, 1), (2, 3), (2, 3)]
    first = found.pairs[0]
    assert first.low < 1 / 1.2 < first.high
    assert first.ratio == pytest.approx(1 / 1.2, rel=0.02)
    assert first.coverage == pytest.approx(0.952, abs=0.001)
    assert all(pair.more_sessions is None for pair in found.pairs)


def test_more_is_better_where_the_metric_says_so() -> None:
    found = compare(blocks(1, (1.0, 1.2), 15), lower_is_better=False)
    assert found.names == ("b", "a")
    (pair,) = found.pairs
    assert (pair.leader, pair.first) == ("b", "b")
    assert pair.low < 1.2 < pair.high
    assert found.ranks[0].high == 1


def test_the_same_numbers_are_equal() -> None:
    row = blocks(1, (1.0,), 15)["a"]
    found = compare({"a": row, "b": row}, lower_is_better=True)
    assert found.pairs[0].relation is Relation.EQUAL
    assert (found.pairs[0].ratio, found.pairs[0].p_apart) == (1.0, 1.0)


@pytest.mark.parametrize(("libraries", "sessions"), [(1, 6), (2, 6), (3, 7), (5, 9), (10, 11)])
def test_fewer_sessions_than_needed_decide_nothing(libraries: int, sessions: int) -> None:
    """For example, 10 libraries form 45 pairs. They need 11 sessions, because 2 / 2^11 < 0.05 / 45 < 2 / 2^10."""
    assert sessions_needed(libraries) == sessions
    pairs = max(libraries * (libraries - 1) // 2, 1)
    assert 2 / 2**sessions * pairs <= SIGNIFICANCE < 2 / 2 ** (sessions - 1) * pairs
    ratios = [2.0**n for n in range(min(libraries, 6))]
    if len(ratios) == libraries > 1:
        few = compare(blocks(1, ratios, sessions - 1), lower_is_better=True)
        assert {pair.relation for pair in few.pairs} == {Relation.UNDECIDED}
        enough = compare(blocks(1, ratios, sessions), lower_is_better=True)
        assert {pair.relation for pair in enough.pairs} == {Relation.APART}


@pytest.mark.parametrize(
    ("noise", "faster", "sessions"),
    [(0.02, 0.05, 25), (0.05, 0.1, 15), (0.1, 0.2, 12), (0.2, 0.5, 10)],
)
def test_the_sessions_of_the_guide_find_a_difference(
    noise: float, faster: float, sessions: int
) -> None:
    """docs/how-to/choose-sessions.md says how many sessions find the difference with a probability of 80 %."""
    trials = 150
    found = 0
    for seed in range(trials):
        values = blocks(seed, (1.0, 1 + faster, 1 + 2 * faster), sessions, noise=noise)
        pairs = compare(values, lower_is_better=True).pairs
        (pair,) = (pair for pair in pairs if {pair.first, pair.second} == {"a", "b"})
        found += pair.relation is Relation.APART and pair.leader == "a"
    # Three standard deviations of the share of successes.
    assert found / trials > 0.8 - 3 * math.sqrt(0.8 * 0.2 / trials)


@given(TABLES, st.booleans(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_neither_the_order_of_blocks_nor_of_libraries_matters(
    table: list[list[float]], lower: bool, chance: random.Random
) -> None:
    values = dict(zip("abcd", table, strict=False))
    places = list(range(len(table[0])))
    chance.shuffle(places)
    shuffled = {name: [values[name][place] for place in places] for name in reversed(values)}
    one, other = (compare(v, lower_is_better=lower) for v in (values, shuffled))
    assert one.names == other.names
    assert one.ranks == other.ranks
    assert [p.relation for p in one.pairs] == [p.relation for p in other.pairs]


@given(st.integers(0, 2**32))
@settings(max_examples=15)
def test_a_much_slower_library_is_last_and_moves_no_other_rank(seed: int) -> None:
    values = blocks(seed, (1.0, 1.05, 1.3), 15)
    before = compare(values, lower_is_better=True)
    slow = [100 * value for value in values["a"]]
    after = compare({**values, "slow": slow}, lower_is_better=True)
    assert after.names == (*before.names, "slow")
    assert (after.ranks[-1].low, after.ranks[-1].high) == (4, 4)
    for old, new in zip(before.ranks, after.ranks, strict=False):
        assert new.low <= old.low <= old.high <= new.high <= 3


def test_blocks_must_be_complete() -> None:
    with pytest.raises(ValueError, match=r"longer|shorter"):
        compare({"a": [1.0, 2.0], "b": [1.0]}, lower_is_better=True)


def share(
    relation: Relation,
    ratio: float,
    count: int,
    noise: float,
    trials: int,
    *,
    margin: float = MARGIN,
) -> float:
    """Return the fraction of simulated comparisons in which the pair has this result."""
    found = [
        compare(
            blocks(seed, (1.0, ratio), count, noise), lower_is_better=True, margin=margin
        ).pairs[0]
        for seed in range(trials)
    ]
    return sum(pair.relation is relation for pair in found) / trials


def test_error_rates_stay_below_the_level() -> None:
    """Even if the true ratio is exactly the margin, each claim is wrong in at most 2.5 % of cases.

    Every p-value is doubled, so each one-sided test has the level 2.5 %.
    """
    trials = 400 * SOAK
    allowed = 0.025 + 4 * math.sqrt(0.025 * 0.975 / trials)
    assert share(Relation.APART, 1.0, 15, 0.02, trials) <= allowed
    assert share(Relation.APART, math.exp(MARGIN), 15, 0.02, trials) <= allowed
    assert share(Relation.EQUAL, math.exp(MARGIN), 15, 0.02, trials) <= allowed


def test_error_rates_hold_for_every_margin() -> None:
    trials = 400 * SOAK
    allowed = 0.025 + 4 * math.sqrt(0.025 * 0.975 / trials)
    for ratio in (1.01, 1.10):
        margin = math.log(ratio)
        assert share(Relation.APART, ratio, 15, 0.02, trials, margin=margin) <= allowed
        assert share(Relation.EQUAL, ratio, 15, 0.02, trials, margin=margin) <= allowed


def test_the_forecast_for_equality_is_enough() -> None:
    """Two equal libraries are found equal in at least half of the comparisons with the forecast number of blocks."""
    margin = math.log(1.10)
    noise = 0.1
    changes = [
        math.log(b / a) for a, b in zip(*blocks(1, (1.0, 1.0), 60, noise).values(), strict=True)
    ]
    count = sessions_for_equality(changes, 2, margin)
    assert count is not None
    assert 10 <= count <= 100
    assert share(Relation.EQUAL, 1.0, count, noise, 60, margin=margin) >= 0.5
    assert sessions_for_equality([10 * change for change in changes], 2, margin) is None
    more = sessions_for_equality(changes, 5, margin)
    assert more is not None
    assert more > count


def quiet(seed: int, ratio: float) -> dict[str, list[float]]:
    """Return 15 blocks of a quiet desktop, which differ by about 3 %.

    Each time has noise of 2 %. One time in 20 has a spike of 5 to 30 %.
    """
    generator = random.Random(seed)

    def noise() -> float:
        spike = generator.uniform(1.05, 1.3) if generator.random() < 0.05 else 1.0
        return math.exp(generator.gauss(0, 0.02)) * spike

    drift = [math.exp(generator.gauss(0, 0.03)) for _ in range(15)]
    return {"a": [d * noise() for d in drift], "b": [d * noise() * ratio for d in drift]}


@pytest.mark.parametrize(
    ("ratio", "ahead", "apart"), [(1.0, 0.0, 0.0), (1.05, 0.8, 0.3), (1.1, 0.9, 0.85)]
)
def test_what_fifteen_sessions_find_on_a_quiet_machine(
    ratio: float, ahead: float, apart: float
) -> None:
    trials = 200 * SOAK
    found = [compare(quiet(n, ratio), lower_is_better=True).pairs[0] for n in range(trials)]
    leading = [pair for pair in found if pair.leader == "a"]
    assert len(leading) / trials >= ahead
    assert sum(pair.relation is Relation.APART for pair in leading) / trials >= apart
    if ratio == 1.0:
        wrong = sum(pair.leader is not None for pair in found) / trials
        assert wrong <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / trials)
        assert not any(pair.relation is Relation.APART for pair in found)


def test_a_small_difference_is_ahead_and_shares_the_rank() -> None:
    found = compare(blocks(2, (1.0, 1.035), 15, noise=0.01), lower_is_better=True)
    (pair,) = found.pairs
    assert (pair.relation, pair.leader) == (Relation.AHEAD, "a")
    assert pair.p_different < SIGNIFICANCE < pair.p_apart
    assert pair.more_sessions is not None
    assert [(rank.low, rank.high) for rank in found.ranks] == [(1, 2), (1, 2)]


@pytest.mark.parametrize("ratio", [1.06, 1.0])
def test_the_forecast_is_about_right(ratio: float) -> None:
    """The forecast from twelve blocks gives a number of sessions that decides most pairs. It aims at 80 % of them."""
    undecided = []
    for seed in range(200):
        pair = compare(blocks(seed, (1.0, ratio), 12, 0.05), lower_is_better=True).pairs[0]
        if pair.more_sessions is not None:
            undecided.append(12 + pair.more_sessions)
    assert len(undecided) > 60
    typical = sorted(undecided)[len(undecided) // 2]
    count = min(typical, 120)
    decided = sum(share(s, ratio, count, 0.05, 60) for s in (Relation.APART, Relation.EQUAL))
    assert decided >= 0.5


def test_a_difference_on_the_edge_of_the_margin_is_given_up() -> None:
    """Half of the evidence supports each side, so no practical number of sessions decides the pair."""
    values = [math.exp(MARGIN + step / 1000) for step in range(-5, 6) if step]
    found = compare({"a": [1.0] * 10, "b": values}, lower_is_better=True)
    assert found.pairs[0].more_sessions is None
    assert FORECAST_MAX == 1000


def unrelated(seed: int, ratios: Sequence[float], count: int) -> dict[str, list[float]]:
    """Return `count` values of each library a, b, ..., with 5 % noise. No two values have anything in common."""
    generator = random.Random(seed)
    return {
        name: [ratio * math.exp(generator.gauss(0, 0.05)) for _ in range(count)]
        for name, ratio in zip("abcdef", ratios, strict=False)
    }


def test_unrelated_sessions_are_compared_too() -> None:
    values = unrelated(1, (1.0, 1.4, 1.41), 15)
    values["b"] = values["b"][:9]
    found = compare_unpaired(values, lower_is_better=True)
    assert found.names[0] == "a"
    assert [pair.relation for pair in found.pairs] == ["apart", "apart", "undecided"]
    assert [pair.leader for pair in found.pairs] == ["a", "a", None]
    assert [(rank.low, rank.high) for rank in found.ranks] == [(1, 1), (2, 3), (2, 3)]
    assert found.pairs[0].low < 1 / 1.4 < found.pairs[0].high < 1
    assert found.pairs[0].coverage >= 0.95
    assert found.pairs[2].more_sessions is not None
    higher = compare_unpaired(values, lower_is_better=False)
    assert higher.names == tuple(reversed(found.names))
    assert higher.pairs[-1].ratio == pytest.approx(1 / found.pairs[0].ratio)


def unpaired_share(relation: Relation, ratio: float, count: int, trials: int) -> float:
    """Return the fraction of simulated pairs of unrelated sessions that have this result."""
    found = [
        compare_unpaired(unrelated(seed, (1.0, ratio), count), lower_is_better=True).pairs[0]
        for seed in range(trials)
    ]
    return sum(pair.relation is relation for pair in found) / trials


def test_error_rates_of_unrelated_sessions_stay_below_the_level() -> None:
    """The true ratio is exactly the margin, so each one-sided claim is wrong in at most 2.5 % of cases."""
    trials = 200 * SOAK
    allowed = 0.025 + 4 * math.sqrt(0.025 * 0.975 / trials)
    assert unpaired_share(Relation.APART, math.exp(MARGIN), 15, trials) <= allowed
    assert unpaired_share(Relation.EQUAL, math.exp(MARGIN), 40, trials) <= allowed


def test_the_forecast_for_unrelated_sessions_is_about_right() -> None:
    """The forecast gives a number of unrelated sessions that decides most pairs. It aims at 80 % of them."""
    forecasts = []
    for seed in range(100):
        pair = compare_unpaired(unrelated(seed, (1.0, 1.07), 12), lower_is_better=True).pairs[0]
        if pair.more_sessions is not None:
            forecasts.append(12 + pair.more_sessions)
    assert len(forecasts) > 30
    typical = min(sorted(forecasts)[len(forecasts) // 2], 60)
    assert unpaired_share(Relation.APART, 1.07, typical, 60) >= 0.5
