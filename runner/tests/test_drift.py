"""Tests of runner/drift.py: which sessions are discarded because the control library's time changed too much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from runner.drift import BAND_MIN, judge_drift

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
    assert steady.reason(3) == "control 1.16 times slower, allowed 1.10"
    assert steady.reason(0) == ""
    assert judge_drift([0.1, -0.2, 0.05, 0.15, 0.1, -0.1]).discarded == ()
    assert (
        judge_drift([0.1, -0.2, 0.05, 0.15, 0.1, -1.0])
        .reason(5)
        .startswith("control 2.72 times faster")
    )


def test_four_changes_are_too_few_to_discard_one() -> None:
    assert judge_drift([0.0, 0.0, 0.0, 5.0]).discarded == ()
