"""Tests of results/summary.py: medians, ratios and the interval of the median agree with their definitions."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.summary import SESSIONS_MAX, median_interval, sessions_to_differ, summarise
from runner.contract import Session
from runner.tests.samples import report

times = st.floats(0.001, 1e9)


def session(candidate: float | None, control: float | None) -> Session:
    return Session("0" * 16, True, report(total_ms=candidate), report(total_ms=control))


@given(st.lists(st.tuples(times, times), min_size=1, max_size=30))
def test_the_ratio_is_the_median_of_the_sessions_ratios(pairs: list[tuple[float, float]]) -> None:
    summary = summarise([session(a, b) for a, b in pairs], "total_ms")
    assert summary.ratio == median(a / b for a, b in pairs)
    assert summary.medians["total_ms"] == median(a for a, _ in pairs)
    assert summary.control_medians["total_ms"] == median(b for _, b in pairs)
    assert summary.interval is not None
    assert summary.interval.low <= summary.ratio <= summary.interval.high
    assert summary.provisional == (len(pairs) < 11)


@given(st.lists(times, min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_the_interval_does_not_depend_on_the_order(values: list[float], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert median_interval(shuffled) == median_interval(values)


@pytest.mark.parametrize("count", range(1, 13))
def test_the_coverage_equals_a_count_of_all_outcomes(count: int) -> None:
    """Each value is as likely below the true median as above. The test counts all 2^n equally likely cases."""
    interval = median_interval([float(n) for n in range(1, count + 1)])
    low, high = round(interval.low), round(interval.high)
    covered = sum(
        low <= sum(below) < high  # `below` values are smaller than the median
        for below in itertools.product((0, 1), repeat=count)
    )
    assert interval.coverage == pytest.approx(covered / 2**count)
    assert interval.coverage >= 0.95 or (low, high) == (1, count)


def test_sessions_without_the_number_count_for_nothing() -> None:
    summary = summarise([session(2.0, 1.0), session(None, 1.0), session(3.0, None)], "total_ms")
    assert summary.ratios == (2.0,)
    assert summary.sessions == 3


def test_void_sessions_count_for_nothing() -> None:
    void = replace(
        session(9.0, 1.0),
        discarded="the control library ran twice, and its second result is 1.20 times its first "
        "(allowed: 0.91 to 1.10)",
    )
    summary = summarise([session(2.0, 1.0), void], "total_ms")
    assert summary.ratios == (2.0,)
    assert summary.sessions == 1


def test_without_a_control_there_is_no_ratio() -> None:
    summary = summarise([Session("0" * 16, True, report(), None)], "total_ms")
    assert (summary.ratio, summary.interval, summary.ratios) == (None, None, ())
    assert summary.medians == {"total_ms": 12.5}
    assert summarise([], None).medians == {}


def test_a_median_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no values"):
        median_interval([])


def test_six_sessions_are_the_fewest_that_show_a_difference() -> None:
    assert sessions_to_differ([0.5]) == 6
    assert sessions_to_differ([2.0, 2.0, 2.0]) == 6
    assert sessions_to_differ([0.5] * 4) == 6
    assert sessions_to_differ([1.0, 1.0]) is not None
    assert sessions_to_differ([0.9, 1 / 0.9]) is None
    assert SESSIONS_MAX == 200


def test_the_forecast_of_sessions_is_about_right() -> None:
    """With the typical forecast number of sessions, at least 60 % of the series show the difference.

    With half as many sessions, at most 65 % show it.
    """
    generator = random.Random(1)

    def series(count: int) -> list[float]:
        return [math.exp(generator.gauss(0.06, 0.1)) for _ in range(count)]

    found = [sessions_to_differ(series(5)) or SESSIONS_MAX for _ in range(400)]
    typical = int(median(found))

    def share(count: int) -> float:
        intervals = [median_interval(series(count)) for _ in range(300)]
        return sum(not one.low <= 1 <= one.high for one in intervals) / len(intervals)

    assert 20 <= typical <= 60
    assert share(typical) >= 0.6
    assert share(typical // 2) <= 0.65
