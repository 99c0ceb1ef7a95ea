"""Tests the axis of the plots on a board, a ranking of libraries by their ratios to the control library (baseline).

The axis contains the control, whose ratio is 1, and the best entries. Its labels never collide.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.boards.axis import CONTROL_DISTANCE, LABEL_DISTANCE, Axis, axis_for

RATIO = st.floats(0.001, 1000)
INTERVALS = st.lists(st.tuples(RATIO, RATIO).map(lambda pair: (min(pair), max(pair))), max_size=12)


@given(INTERVALS, st.booleans())
def test_an_axis_shows_the_control_and_the_best_entry(
    intervals: list[tuple[float, float]],
    lower_is_better: bool,
) -> None:
    axis = axis_for(intervals, lower_is_better=lower_is_better)
    assert 0 < axis.control < 100
    if intervals:
        best = min(intervals) if lower_is_better else max(intervals, key=lambda pair: pair[1])
        end = best[0] if lower_is_better else best[1]
        assert axis.low < end < axis.high
    for low, high in intervals:
        mark = axis.mark(low, low, high)
        assert 0 <= mark.low <= mark.x <= mark.high <= 100


@given(INTERVALS, st.booleans())
def test_labels_do_not_collide(
    intervals: list[tuple[float, float]],
    lower_is_better: bool,
) -> None:
    axis = axis_for(intervals, lower_is_better=lower_is_better)
    places = [tick.x for tick in axis.ticks()]
    assert all(after - before >= LABEL_DISTANCE for before, after in pairwise(places))
    assert all(abs(place - axis.control) >= CONTROL_DISTANCE for place in places)


def test_equal_factors_are_equal_distances() -> None:
    axis = Axis(0.1, 10.0)
    assert (axis.x(0.1), axis.control, axis.x(10.0)) == (0.0, 50.0, 100.0)
    assert axis.x(0.5) - axis.x(0.25) == pytest.approx(axis.x(0.25) - axis.x(0.125), abs=0.02)
    assert [tick.label for tick in axis.ticks()] == ["0.2", "0.5", "2", "5"]


def test_a_slow_entry_becomes_an_arrow_and_does_not_squeeze_the_others() -> None:
    usual = axis_for([(0.2, 0.22), (0.5, 0.6)], lower_is_better=True)
    with_slow = axis_for([(0.2, 0.22), (0.5, 0.6), (30.0, 40.0)], lower_is_better=True)
    assert with_slow.mark(35.0, 30.0, 40.0).beyond == "high"
    assert with_slow.mark(0.21, 0.2, 0.22).beyond == ""
    assert with_slow.x(0.21) == pytest.approx(usual.x(0.21), abs=10)
    rates = axis_for([(4.0, 5.0), (0.01, 0.02)], lower_is_better=False)
    assert rates.mark(0.015, 0.01, 0.02).beyond == "low"
