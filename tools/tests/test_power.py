"""Tests of tools/reports/power.py: every window of fifteen blocks is judged as a comparison of its own."""

from __future__ import annotations

import random

import pytest

from tools.reports import power


def blocks(slower: float, noise: float, count: int) -> list[dict[str, float]]:
    """Return blocks with random drift, in which the library "other" takes `slower` times as long as the base."""
    generator = random.Random(1)
    found = []
    for _ in range(count):
        drift = generator.uniform(1, 3)
        base, other = (drift * generator.uniform(1, 1 + noise) for _ in range(2))
        found.append({power.BASE: base, "other": other * slower})
    return found


@pytest.mark.parametrize(
    ("slower", "noise", "expected"),
    [
        (1.2, 0.01, {"ahead": 16, "apart": 16, "wrong": 0, "equal": 0}),
        (1.0, 0.0, {"ahead": 0, "apart": 0, "wrong": 0, "equal": 16}),
        (0.8, 0.01, {"ahead": 0, "apart": 0, "wrong": 16, "equal": 0}),
    ],
)
def test_every_window_is_judged(slower: float, noise: float, expected: dict[str, int]) -> None:
    found = power.judge(blocks(slower, noise, 30), "other")
    assert found.windows == 30 - power.WINDOW + 1
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.ratio == pytest.approx(1 / slower, rel=0.01)


def test_the_page_tells_shares() -> None:
    counted = [
        {"values": values, "void": "", "control_first": 1.0, "control_last": 0.5}
        for values in blocks(1.2, 0.01, 15)
    ]
    void = counted[0] | {"void": "control 9 times slower"}
    found = power.judge([block["values"] for block in counted], "other")
    text = " ".join(power.page({"blocks": [*counted, void]}, [found]).split())
    assert "15 of 16 blocks count" in text
    assert "and 2.00 at most" in text
    assert "| 1 | 100 % | 100 % | 0 % | 0 % |" in text
