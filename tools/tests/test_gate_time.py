"""Tests of tools/reports/gate_time.py, which reports how long the gate (all correctness tests) takes."""

from __future__ import annotations

from runner.terms import Scale
from tools.reports.gate_time import GOALS, Measurement, page

QUICK = Measurement("passed", 8.0, 4.0, 0, 0)
SLOW = Measurement("passed", 100.1, 60.0, 0, 0)
SLOW_AND_WRONG = Measurement("failed", 100.1, 60.0, 3, 0)


def test_at_smoke_scale_the_goal_counts_for_wrong_libraries_too() -> None:
    assert GOALS[Scale.SMOKE].seconds == 60
    assert not QUICK.is_late(GOALS[Scale.SMOKE])
    assert SLOW_AND_WRONG.is_late(GOALS[Scale.SMOKE])


def test_at_laptop_scale_the_goal_counts_for_right_libraries() -> None:
    assert GOALS[Scale.LAPTOP].seconds == 100
    assert SLOW.is_late(GOALS[Scale.LAPTOP])
    assert not SLOW_AND_WRONG.is_late(GOALS[Scale.LAPTOP])


def test_the_page_states_the_goal_of_each_scale_and_who_missed_it() -> None:
    rows = {
        Scale.SMOKE: {"global_lock": QUICK, "mutant_01": QUICK},
        Scale.LAPTOP: {"global_lock": QUICK, "berkeley": SLOW},
    }
    text = page(rows, "Made at commit 0 on 2026-01-01.")
    smoke, laptop = text.split("## Laptop scale")
    assert "## Smoke scale" in smoke
    assert "at most 60 s for each library, correct or faulty" in smoke
    assert "All libraries meet it" in smoke
    assert "at most 100 s for a library that passes" in laptop
    assert "These miss it: berkeley" in laptop
    assert "| berkeley | passed | 100.1 | 60.0 | 0 | 0 |" in laptop
