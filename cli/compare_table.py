"""Prints the result of `keydrome compare`: a table of libraries with ranks, a table of all pairs, and notes.

The libraries were timed in blocks; each block ran every library once. Each block also timed two fixed libraries: the
control, which shows the noise of the machine, and the null library, which does nothing. So the time of the null library
is the time of the harness, the code that makes the calls. The column "x control" shows the library's metric divided by
that of the control, and "x null" the library's time divided by that of the null library.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from results.compared import FLOOR_RATIO_MIN
from results.stats.family import MARGIN_RATIO
from results.stats.pairs import FORECAST_MAX, Relation
from runner.blocks import FLOOR
from runner.drift import VALUES_MIN, why_too_busy
from runner.manifest import Direction
from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from results.compared import Compared
    from results.stats.family import Rank
    from results.stats.pairs import Pair

_P_MIN = 0.0001


def show(out: Console, compared: Compared) -> None:
    """Print the whole comparison."""
    if compared.comparison is not None:
        out.print(_libraries(compared))
        out.print(_pairs(compared.comparison.pairs, compared.margin_ratio))
    for file in (compared.request.keys, compared.request.trace):
        if file is not None:
            out.print(Text(file.text()), soft_wrap=True)
    for line in notes(compared):
        out.print(Text(printable(line)), soft_wrap=True)


def rank_text(rank: Rank) -> str:
    """Return a rank as text: "2", or "2-4" if the measurements cannot separate these ranks."""
    return str(rank.low) if rank.low == rank.high else f"{rank.low}-{rank.high}"


def _libraries(compared: Compared) -> Table:
    metric = compared.metric
    request = compared.request
    table = Table(
        title=f"{request.benchmark.name}/{request.instance} version {request.benchmark.version}, "
        f"{request.scale.value} scale: {metric.name}",
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


def _pairs(pairs: tuple[Pair, ...], margin_ratio: float) -> Table:
    """Return one row per pair, with the p-values of three claims about its two libraries (results/stats/pairs.py).

    The first claim is that the libraries differ. The second is that they are apart: they differ by more than the
    margin. The third is that they are equal within this margin.
    """
    table = Table(title="Pairs", title_justify="left")
    table.add_column("first / second", overflow="fold")
    table.add_column("ratio", justify="right")
    table.add_column("interval", justify="right")
    for name in ("p differ", "p apart", "p equal"):
        table.add_column(name, justify="right")
    table.add_column("result")
    for pair in pairs:
        table.add_row(
            Text(printable(f"{pair.first} / {pair.second}")),
            f"{pair.ratio:.3f}",
            f"{pair.low:.3f}-{pair.high:.3f}",
            _p_text(pair.p_different),
            _p_text(pair.p_apart),
            _p_text(pair.p_equal),
            Text(printable(verdict(pair, margin_ratio))),
        )
    return table


def _p_text(value: float) -> str:
    return f"< {_P_MIN}" if value < _P_MIN else f"{value:.4f}"


def verdict(pair: Pair, margin_ratio: float = MARGIN_RATIO) -> str:
    """Return the result of a pair in words."""
    margin = _percent(margin_ratio)
    if pair.relation is Relation.APART:
        return f"apart: {pair.leader} leads"
    if pair.relation is Relation.EQUAL:
        return f"equal within {margin}"
    more = f"more than {FORECAST_MAX:,}" if pair.more_sessions is None else pair.more_sessions
    if pair.relation is Relation.AHEAD:
        return f"{pair.leader} is ahead, perhaps by less than {margin} (needs {more} more sessions)"
    return f"undecided (needs {more} more sessions)"


def notes(compared: Compared) -> Iterator[str]:
    """Yield notes on how the numbers were measured, one line each."""
    blocks = compared.blocks
    drift = blocks.drift()
    band = f"; at most {math.exp(drift.band):.2f} is allowed" if math.isfinite(drift.band) else ""
    change = math.exp(max(map(abs, drift.changes), default=0.0))
    yield (
        f"{_counted_text(compared)}; within a block the time of the control library changed by "
        f"a factor of up to {change:.2f}{band}"
    )
    if busy := why_too_busy(drift.changes):
        yield f"warning: {busy}"
    for index in drift.discarded:
        yield f"block {index + 1} is discarded: {drift.reason(index)}"
    for name, reason in compared.left_out().items():
        yield f"{name} is excluded: {reason}"
    if blocks.floor:
        yield (
            f"{FLOOR}, the library that does nothing, has no time ({blocks.floor}); so it is unknown whether a large "
            "part of a library's time is the harness's own"
        )
    for name in compared.values:
        if compared.harness_bound(name):
            limit = f"{FLOOR_RATIO_MIN:g} times the time of a library that does nothing"
            yield (
                f"{name} is bound by the harness (the code that makes the calls): its time is less than {limit}. "
                "A large part of its time is the harness's own, so its true differences from other libraries are "
                "larger than shown"
            )
    if compared.comparison is None:
        yield "fewer than two libraries have times: there is nothing to compare"
    else:
        better = "less" if compared.metric.direction is Direction.LOWER else "more"
        yield (
            f"Each ratio is a Hodges-Lehmann estimate; {better} is better. The true ratio is within its interval with "
            f"a probability of {100 * compared.comparison.pairs[0].coverage:.1f} %. The p-values are Holm-corrected. "
            f"Ratios within {_percent(compared.margin_ratio)} of 1 count as equal (--margin). The numbers of further "
            "sessions are estimates."
        )
        yield from _equality(compared, compared.comparison.pairs)


def _equality(compared: Compared, pairs: tuple[Pair, ...]) -> Iterator[str]:
    """Yield what it takes on this machine to show that two equal libraries are equal, if a pair is undecided."""
    if all(pair.relation is not Relation.UNDECIDED for pair in pairs):
        return
    margin = _percent(compared.margin_ratio)
    if (count := compared.sessions_for_equality()) is not None:
        yield f"On this machine, about {count} blocks show that two equal libraries are equal within {margin}."
    elif len(compared.counted) >= VALUES_MIN:
        yield (
            f"This machine is too noisy to show that two libraries are equal within {margin}, even in {FORECAST_MAX:,} "
            "blocks: give a larger --margin, or use a quieter machine."
        )


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):g} %"


def _counted_text(compared: Compared) -> str:
    """Return how many blocks are valid. There may be more than were requested.

    The largest allowed change depends on all blocks. So a later block can make an earlier one valid again, although
    that one has already been repeated.
    """
    counted, wanted, ran = len(compared.counted), compared.wanted, len(compared.blocks.blocks)
    text = f"{counted} of {ran} blocks are valid"
    if ran == wanted:
        return text
    return f"{text} ({wanted} were requested; noisy blocks are repeated)"
