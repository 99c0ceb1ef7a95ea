"""Forecasts during `keydrome compare` how many blocks will decide which library is faster, and how long they take.

A block runs every library once. The forecast is made once, from the scatter of the first blocks. It shows neither
ratios nor which library leads.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cli.input.values import PERCENT_MAX
from cli.output.progress import duration
from results.counts import counted
from results.stats.forecast import BLOCKS_MIN, Forecast, forecasts, reachable_margin
from results.stats.signed_rank import DIFFERENCES_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.blocks import Blocks

# Each requested block may be repeated once, so there may be twice as many blocks as requested. The exact test handles
# at most DIFFERENCES_MAX blocks.
SESSIONS_MAX = DIFFERENCES_MAX // 2
# Forecasts agree if their scatters differ by at most this factor. A scatter that is computed from five blocks is so
# uncertain that a smaller difference means nothing.
_AGREE = 2.0
_LINES_MAX = 6
_MARGIN_MAX = math.log1p(PERCENT_MAX / 100)


@dataclass(slots=True)
class Forecaster:
    """Prints the forecast once, as soon as BLOCKS_MIN blocks are valid.

    `wanted` is the requested number of blocks, `margin_ratio` the largest ratio that counts as equal.
    """

    wanted: int
    margin_ratio: float
    began: float = field(default_factory=time.monotonic)
    is_said: bool = False

    def begin(self) -> None:
        """Start the clock. Call this after the rehearsal, the first block, whose times are not used."""
        self.began = time.monotonic()

    def after_block(self, blocks: Blocks) -> None:
        """Print the forecast if BLOCKS_MIN blocks are valid and further blocks will run."""
        ran = len(blocks.blocks)
        if self.is_said or ran >= self.wanted or len(blocks.counted()) < BLOCKS_MIN:
            return
        self.is_said = True
        block_s = (time.monotonic() - self.began) / ran
        for line in lines(blocks, self.wanted, self.margin_ratio, block_s):
            print(f"keydrome: {line}", file=sys.stderr, flush=True)


def lines(blocks: Blocks, wanted: int, margin_ratio: float, block_s: float) -> Iterator[str]:
    """Yield one line for all pairs if their forecasts agree, otherwise one line per pair, the most uncertain first.

    `block_s` is the time of a block in seconds.
    """
    values = blocks.values()
    found = sorted(
        forecasts(values, math.log(margin_ratio)), key=lambda one: one.scatter, reverse=True
    )
    if not found:
        return
    count = len(blocks.counted())
    family = len(found)
    if found[0].scatter <= _AGREE * found[-1].scatter:
        pair = f"{found[0].first} / {found[0].second}" if family == 1 else "each pair"
        yield _line(pair, found[0], (family, wanted, count), margin_ratio, block_s)
        return
    for one in found[:_LINES_MAX]:
        pair = f"{one.first} / {one.second}"
        yield _line(pair, one, (family, wanted, count), margin_ratio, block_s)
    if family > _LINES_MAX:
        rest = counted(family - _LINES_MAX, "other pair needs", "other pairs need")
        yield f"forecast: {rest} fewer blocks"


def _line(
    pair: str, one: Forecast, sizes: tuple[int, int, int], margin_ratio: float, block_s: float
) -> str:
    """Return the forecast in words. `sizes` has the numbers of pairs, of requested blocks and of valid blocks."""
    family, wanted, count = sizes
    margin = _percent(math.log(margin_ratio))
    return (
        f"forecast for {pair} from {count} blocks, whose ratios scatter by about {_percent(one.scatter)}"
        f"{_without_outlier(one)}: "
        f"{_needed(one, margin, block_s)}; {_reach(one, family, wanted)}"
    )


def _without_outlier(one: Forecast) -> str:
    if one.without_outlier is None:
        return ""
    rest = _percent(one.without_outlier)
    return f" ({rest} without one outlier, so the forecast may be far too large)"


def _needed(one: Forecast, margin: str, block_s: float) -> str:
    if _is_too_many(one.for_difference):
        return (
            f"a difference of {margin}, or equality within {margin}, needs more than the {SESSIONS_MAX} blocks that "
            "--sessions allows"
        )
    return (
        f"a difference of {margin} shows after {_blocks(one.for_difference, block_s)}, equality within {margin} "
        f"after {_blocks(one.for_equality, block_s)}"
    )


def _blocks(count: int | None, block_s: float) -> str:
    if count is None or _is_too_many(count):
        return f"more than the {SESSIONS_MAX} blocks that --sessions allows"
    return f"about {count} blocks ({duration(count * block_s)})"


def _is_too_many(count: int | None) -> bool:
    return count is None or count > SESSIONS_MAX


def _reach(one: Forecast, family: int, wanted: int) -> str:
    """Return the smallest margin within which the requested blocks can show equality, as text.

    If these blocks are too few, the text also has the margin for SESSIONS_MAX blocks.
    """
    requested = f"the {counted(wanted, 'requested block')}"
    margin = reachable_margin(one.scatter, family, wanted)
    if margin is None:
        return f"{requested} cannot show a difference or equality: raise --sessions"
    text = f"{requested} can show equality within about {_percent(margin)}"
    if margin > _MARGIN_MAX:
        text = f"{requested} cannot show equality within {PERCENT_MAX:g} %, the largest --margin"
    most = reachable_margin(one.scatter, family, SESSIONS_MAX)
    is_useful = most is not None and most <= _MARGIN_MAX and wanted < SESSIONS_MAX
    if most is not None and is_useful and _is_too_many(one.for_equality):
        text += f"; {SESSIONS_MAX} blocks can show equality within about {_percent(most)}"
    return text


def _percent(log_ratio: float) -> str:
    """Return how far a ratio is above 1, in per cent with two significant digits; `log_ratio` is its logarithm."""
    percent = 100 * math.expm1(log_ratio)
    return f"{float(f'{percent:.2g}'):g} %"
