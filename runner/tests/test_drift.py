"""Tests of runner/drift.py: which sessions are discarded because the control library's time changed too much.

The control is a fixed library, which a session runs before and after the measured library. A change is the logarithm of
the control's second time divided by its first. The band is the largest allowed change.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from runner.drift import BAND_MIN, judge_drift, why_too_busy

if TYPE_CHECKING:
    import random


@given(st.lists(st.floats(-3, 3), max_size=30), st.randoms(use_true_random=False))
def test_drift_depends_on_no_order_and_discards_fewer_than_half(
    changes: list[float], chance: random.Random
) -> None:
    drift = judge_drift(changes)
    assert len(drift.discarded) < len(changes) / 2 or not drift.discarded
    shuffled = list(changes)
    chance.shuffle(shuffled)
    void = sorted(changes[index] for index in drift.discarded)
    again = judge_drift(shuffled)
    assert sorted(shuffled[index] for index in again.discarded) == void
    assert again.band == drift.band >= BAND_MIN


def test_a_quiet_machine_has_a_narrow_band_and_a_noisy_one_a_wide_one() -> None:
    steady = judge_drift([0.01, -0.02, 0.0, 0.15, 0.01, -0.01])
    assert steady.discarded == (3,)
    assert (
        steady.reason(3)
        == "the control library ran twice, and its second result is 1.16 times its first (allowed: 0.91 to 1.10)"
    )
    assert steady.reason(0) == ""
    assert judge_drift([0.1, -0.2, 0.05, 0.15, 0.1, -0.1]).discarded == ()
    assert (
        judge_drift([0.1, -0.2, 0.05, 0.15, 0.1, -1.0])
        .reason(5)
        .startswith("the control library ran twice, and its second result is 0.37 times its first")
    )


def test_four_changes_are_too_few_to_discard_one() -> None:
    assert judge_drift([0.0, 0.0, 0.0, 5.0]).discarded == ()


def test_a_machine_is_too_busy_if_half_of_the_changes_are_above_20_percent() -> None:
    quiet = [math.log(1.19), -math.log(1.19), 0.01, 3.0, -3.0]
    assert why_too_busy(quiet) == ""
    busy = [math.log(1.22), -math.log(1.22), 0.01, 3.0, -3.0]
    assert why_too_busy(busy) == (
        "this machine is too busy to measure on: the control library's result for the same work changed by 22 % "
        "(median of 5 changes, at most 20 % allowed); stop other work on the machine and run again"
    )
    on_site = why_too_busy(busy, on_site=True)
    assert on_site.startswith(
        "the site's machine was too busy to measure on: the control library's"
    )
    assert on_site.endswith("at most 20 % allowed)")


def test_four_changes_are_too_few_to_call_a_machine_busy() -> None:
    assert why_too_busy([9.0] * 4) == ""
    assert why_too_busy([9.0] * 5) != ""


@given(st.lists(st.floats(-9, 9), min_size=5, max_size=30))
def test_the_busiest_machine_that_counts_has_a_bounded_band(changes: list[float]) -> None:
    """Without why_too_busy(), the control's time could change tenfold, and no session would be discarded."""
    if not why_too_busy(changes):
        assert judge_drift(changes).band < math.log(2.3)
