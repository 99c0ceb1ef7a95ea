"""Tests the forecast that `keydrome compare` prints after the first blocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cli.output.compare_forecast import Forecaster, lines
from runner.blocks import FLOOR, Block, Blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest


def made(count: int, scatters: Mapping[str, float]) -> Blocks:
    """Return blocks in which the times of each library alternate around 1 with this scatter."""
    blocks = []
    for number in range(count):
        sign = 1 if number % 2 else -1
        values = {name: math.exp(sign * scatter) for name, scatter in scatters.items()}
        blocks.append(Block(f"{number:016x}", (), {**values, FLOOR: 0.5}, 1.0, 1.0))
    return Blocks(blocks=blocks)


def test_a_pair_gets_one_line() -> None:
    (line,) = lines(made(5, {"a": 0.0, "b:rw": 0.05}), 15, 1.03, 2.0)
    assert line == (
        "forecast for a / b:rw from 5 blocks, whose ratios scatter by about 5.6 %: a difference of 3 % shows after "
        "about 31 blocks (62 s), equality within 3 % after about 40 blocks (80 s); the 15 requested blocks can show "
        "equality within about 5.2 %"
    )


def test_pairs_that_agree_share_a_line() -> None:
    blocks = made(5, {"a": 0.0, "b": 0.05, "c": 0.0})
    for number, one in enumerate(blocks.blocks):
        one.values["c"] = 1.1 if number in {0, 1} else 1.0
    (line,) = lines(blocks, 15, 1.03, 2.0)
    assert line.startswith("forecast for each pair from 5 blocks, whose ratios scatter by about ")
    assert "the 15 requested blocks can show equality within about " in line


def test_pairs_that_differ_get_a_line_each_and_the_most_uncertain_is_first() -> None:
    first, second, third = lines(made(5, {"a": 0.0, "b": 0.01, "c": 0.2}), 15, 1.03, 2.0)
    assert first.startswith("forecast for a / c")
    assert second.startswith("forecast for b / c")
    assert third.startswith("forecast for a / b")
    many = {chr(ord("a") + n): 0.02 * 2**n for n in range(5)}
    assert len(list(lines(made(5, many), 15, 1.03, 2.0))) == 7
    *_, last = lines(made(5, many), 15, 1.03, 2.0)
    assert last == "forecast: 4 other pairs need fewer blocks"


def test_no_forecast_is_larger_than_what_the_option_allows() -> None:
    """--sessions allows 100 blocks, so a larger number would be no advice."""
    (line,) = lines(made(5, {"a": 0.0, "b": 0.8}), 15, 1.03, 2.0)
    assert (
        "a difference of 3 %, or equality within 3 %, needs more than the 100 blocks that --sessions allows; "
        in line
    )
    assert (
        "the 15 requested blocks cannot show equality within 100 %, the largest --margin; 100 blocks can show "
        "equality within about " in line
    )
    (line,) = lines(made(5, {"a": 0.0, "b": 0.085}), 15, 1.03, 2.0)
    assert (
        "a difference of 3 % shows after about 84 blocks (3 min), equality within 3 % after more than the 100 blocks "
        "that --sessions allows; " in line
    )
    (line,) = lines(made(5, {"a": 0.0, "b": 0.12}), 15, 1.03, 2.0)
    assert "a difference of 3 %, or equality within 3 %, needs more than the 100 blocks" in line


def test_an_outlier_among_few_blocks_is_named() -> None:
    """One disturbed block can make the forecast far too large."""
    blocks = made(5, {"a": 0.0, "b": 0.01})
    blocks.blocks[3].values["b"] = 2.0
    (line,) = lines(blocks, 15, 1.03, 2.0)
    assert line.startswith(
        "forecast for a / b from 5 blocks, whose ratios scatter by about 37 % (1 % without one outlier, so "
        "the forecast may be far too large): a difference of 3 %"
    )


def test_what_too_few_blocks_show_is_said() -> None:
    (line,) = lines(made(5, {"a": 0.0, "b": 0.8}), 100, 1.03, 2.0)
    assert ", and 100 blocks" not in line
    (line,) = lines(made(5, {"a": 0.0, "b": 0.01}), 5, 1.03, 2.0)
    assert "the 5 requested blocks cannot show a difference or equality: raise --sessions" in line


def test_the_forecast_is_printed_once_and_not_after_the_last_block(
    capsys: pytest.CaptureFixture[str],
) -> None:
    forecaster = Forecaster(wanted=7, margin_ratio=1.03)
    forecaster.begin()
    for count in range(1, 8):
        forecaster.after_block(made(count, {"a": 0.0, "b": 0.05}))
        assert forecaster.is_said == (count >= 5)
    assert capsys.readouterr().err.count("forecast for a / b") == 1
    short = Forecaster(wanted=5, margin_ratio=1.03)
    short.after_block(made(5, {"a": 0.0, "b": 0.05}))
    assert capsys.readouterr().err == ""


def test_a_library_that_has_failed_is_not_forecast() -> None:
    blocks = made(5, {"a": 0.0, "b": 0.05})
    blocks.excluded["b"] = "crashed in block 2"
    assert list(lines(blocks, 15, 1.03, 2.0)) == []
