"""Tests of tools/reports/power.py, which measures how often `keydrome compare` finds that a library is slower.

A window is one comparison, of fifteen blocks; in a block every library plays the same operations once. Each window is
judged by itself, and stored.
"""

from __future__ import annotations

import json
import random
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tools.reports import power

if TYPE_CHECKING:
    from pathlib import Path


def window(
    slower: float, noise: float, seed: int, *, other: str = power.SAME, last: float = 1.0
) -> power.Blocks:
    """Return blocks with random drift, in which the other library takes `slower` times as long as the base."""
    generator = random.Random(seed)
    found: list[dict[str, Any]] = []
    for _ in range(power.SESSIONS):
        drift = generator.uniform(1, 3)
        base, slow = (drift * generator.uniform(1, 1 + noise) for _ in range(2))
        values = {power.BASE: base, other: slow * slower}
        found.append({"values": values, "void": "", "control_first": 1.0, "control_last": last})
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
    windows = [window(slower, noise, seed) for seed in range(16)]
    found = power.judge(power.quiet(windows), power.SAME)
    assert found.windows == 16
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.ratio == pytest.approx(1 / slower, rel=0.01)


def test_a_busy_window_and_a_discarded_block_do_not_count() -> None:
    noisy = window(1.0, 0.01, 1, last=1.3)
    calm = window(1.0, 0.01, 2)
    calm[3]["void"] = (
        "the control library ran twice, and its second result is 9.00 times its first (allowed: 0.91 to 1.10)"
    )
    [counted] = power.quiet([noisy, calm])
    assert counted == [block["values"] for block in calm if not block["void"]]


def test_every_board_has_its_instance() -> None:
    names = power.board_instances()
    assert {"ycsb/a", "tpcc/mix", "sigmod2009/preliminary1"} <= set(names)
    assert len(names) == len(set(names)) == len(list(power.BOARDS.glob("*/board.json")))


def test_an_interrupted_measurement_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: list[str] = []

    def measure(name: str, _scale: str) -> power.Blocks:
        if len(measured) == 3:
            raise KeyboardInterrupt
        measured.append(name)
        blocks = window(1.0, 0.01, len(measured))
        for block in blocks:
            block["values"] |= dict.fromkeys(("slowed_5", "slowed_10", "slowed_20"), 9.0)
        return blocks

    state = tmp_path / "power.json"
    monkeypatch.setattr(power, "measure", measure)
    monkeypatch.setattr(power, "board_instances", lambda: ["a/b", "c/d"])
    arguments = ["power", "--windows", "2", "--rounds", "2", "--state", str(state)]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(KeyboardInterrupt):
        power.main()
    assert {name: len(kept) for name, kept in json.loads(state.read_text()).items()} == {
        "steps": 2,
        "a/b": 1,
    }
    first, measured[:] = list(measured), []
    assert power.main() == 0
    assert (first, measured) == (["steps", "steps", "a/b"], ["c/d", "a/b", "c/d"])
    text = " ".join(capsys.readouterr().out.split())
    assert "4 of 4 windows count" in text
    assert "| 20 % slower | " in text
    assert "| *all* | " in text
    assert "Made at commit" in text
