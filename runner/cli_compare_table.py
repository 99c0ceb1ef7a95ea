"""A comparison as text: the libraries with their ranks, every pair, and what is to be known beside the numbers."""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from runner.blocks import FLOOR
from runner.manifest import Direction
from runner.stats.family import MARGIN_RATIO
from runner.stats.pairs import FORECAST_MAX, Standing
from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from runner.compared import Compared
    from runner.stats.family import Rank
    from runner.stats.pairs import Pair

_MARGIN_PERCENT = 100 * (MARGIN_RATIO - 1)
_P_MIN = 0.0001


def show(out: Console, compared: Compared) -> None:
    """Print the whole comparison."""
    if compared.comparison is not None:
        out.print(_libraries(compared))
        out.print(_pairs(compared.comparison.pairs))
    for line in notes(compared):
        out.print(Text(printable(line)), soft_wrap=True)


def rank_text(rank: Rank) -> str:
    """Return a rank as boards show it: "2", or "2-4" where those cannot be told apart."""
    return str(rank.low) if rank.low == rank.high else f"{rank.low}-{rank.high}"


def _libraries(compared: Compared) -> Table:
    metric = compared.metric
    order = compared.order
    table = Table(
        title=f"{order.benchmark.name}/{order.instance} version {order.benchmark.version}, "
        f"{order.scale.value} scale: {metric.name}",
        title_justify="left",
    )
    table.add_column("rank")
    table.add_column("library", overflow="fold")
    for name in (f"median, {metric.unit}", "min", "max", "x control", "x null"):
        table.add_column(name, justify="right")
    names = compared.comparison.names if compared.comparison else ()
    for name in names:
        values = compared.values[name]
        rank, floor = compared.rank(name), compared.over_floor(name)
        table.add_row(
            rank_text(rank) if rank else "-",
            Text(printable(name)),
            *(f"{value:,.2f}" for value in (median(values), min(values), max(values))),
            f"{compared.over_control(name):.3f}",
            "-" if floor is None else f"{floor:.1f}",
        )
    return table


def _pairs(pairs: tuple[Pair, ...]) -> Table:
    table = Table(title="Pairs", title_justify="left")
    table.add_column("first / second", overflow="fold")
    table.add_column("ratio", justify="right")
    table.add_column("interval", justify="right")
    for name in ("p differ", "p apart", "p equal"):
        table.add_column(name, justify="right")
    table.add_column("so they are")
    for pair in pairs:
        table.add_row(
            Text(printable(f"{pair.first} / {pair.second}")),
            f"{pair.ratio:.3f}",
            f"{pair.low:.3f}-{pair.high:.3f}",
            _p_text(pair.p_different),
            _p_text(pair.p_apart),
            _p_text(pair.p_equal),
            Text(printable(verdict(pair))),
        )
    return table


def _p_text(value: float) -> str:
    return f"< {_P_MIN}" if value < _P_MIN else f"{value:.4f}"


def verdict(pair: Pair) -> str:
    """Return what can be said about a pair, in words."""
    if pair.standing is Standing.APART:
        return f"apart: {pair.leader} leads"
    if pair.standing is Standing.EQUAL:
        return f"equal within {_MARGIN_PERCENT:.0f} %"
    more = f"more than {FORECAST_MAX:,}" if pair.more_sessions is None else pair.more_sessions
    if pair.standing is Standing.AHEAD:
        return f"{pair.leader} is ahead, perhaps by less than {_MARGIN_PERCENT:.0f} % ({more} sessions)"
    return f"undecided ({more} sessions)"


def notes(compared: Compared) -> Iterator[str]:
    """Give what is to be known beside the numbers, a line each."""
    blocks, counted = compared.blocks, len(compared.counted)
    drift = blocks.drift()
    band = f", allowed {math.exp(drift.band):.2f}" if math.isfinite(drift.band) else ""
    yield (
        f"{counted} of {compared.wanted} blocks count, after a rehearsal; within a block the control changed up to "
        f"{math.exp(max(map(abs, drift.changes), default=0.0)):.2f} times{band}"
    )
    for index in drift.void:
        yield f"block {index + 1} is void: {drift.reason(index)}"
    for name, reason in compared.left_out().items():
        yield f"{name} is left out: {reason}"
    if blocks.floor:
        yield f"{FLOOR} has no number, so the harness's own share is not known: {blocks.floor}"
    for name in compared.values:
        if compared.harness_bound(name):
            yield f"{name} is bound by the harness: it takes less than three times what doing nothing takes"
    if compared.comparison is None:
        yield "fewer than two libraries have numbers: nothing to compare"
    else:
        better = "less" if compared.metric.direction is Direction.LOWER else "more"
        yield (
            f"ratios are medians of paired differences (Hodges-Lehmann), {better} is better; each interval holds its "
            f"ratio with {100 * compared.comparison.pairs[0].coverage:.1f} %; p-values are Holm-corrected; margin "
            f"{_MARGIN_PERCENT:.0f} %; in brackets: about how many more sessions would decide"
        )
