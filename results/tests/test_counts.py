"""Tests that a noun agrees with its count."""

from __future__ import annotations

from results.counts import counted


def test_a_noun_agrees_with_its_count() -> None:
    assert counted(1, "run") == "1 run"
    assert counted(0, "run") == "0 runs"
    assert counted(1200, "entry", "entries") == "1,200 entries"
    assert counted(1, "entry has", "entries have") == "1 entry has"
