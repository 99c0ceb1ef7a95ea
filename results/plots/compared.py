"""Draws the result of `keydrome compare`: a forest plot of the pairs, and a plot of all values of each library.

A forest plot shows the ratio of each pair with its interval, one pair per row.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from results.plots.style import COLOURS, Look, new_figure
from results.stats.pairs import Pair, Relation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from results.result_files import CompareResult, RankedLibrary

_ROW_INCHES = 0.42
_FRAME_INCHES = 1.3
_LABEL_LINE_INCHES = 0.2
_WIDTH_INCHES = 7.2
# Maps the result of a pair to a colour, a marker, and whether the marker is filled. Each result has its own combination
# of marker and filling, because colour-blind readers may not distinguish the colours.
_MARKS = {
    Relation.APART: (COLOURS[0], "o", True),
    Relation.AHEAD: (COLOURS[0], "o", False),
    Relation.EQUAL: (COLOURS[2], "s", True),
    Relation.UNDECIDED: (COLOURS[4], "D", False),
}
# Each entry has a limit and the ticks of a decade. These ticks are used for an axis whose end is less than the limit
# times its start; the first entry that fits is used.
_STEPS = (
    (4, (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)),
    (10, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)),
    (math.inf, (1.0, 2.0, 5.0)),
)


def draw_forest(result: CompareResult, look: Look) -> Figure:
    """Draw the ratio of each pair with its interval. A grey band shows the margin: smaller differences do not count."""
    pairs, margin_ratio = result.pairs, result.margin_ratio
    height = _FRAME_INCHES + _LABEL_LINE_INCHES + _ROW_INCHES * len(pairs)
    figure, (axes,) = new_figure(look, size=(_WIDTH_INCHES, height))
    axes.axvspan(1 / margin_ratio, margin_ratio, color=look.ink, alpha=0.15, linewidth=0)
    axes.axvline(1, color=look.ink, linewidth=0.8)
    for row, pair in enumerate(pairs):
        colour, marker, filled = _MARKS[pair.relation]
        axes.plot([pair.low, pair.high], [row, row], color=colour, linewidth=2)
        axes.plot(
            pair.ratio,
            row,
            marker=marker,
            markersize=8,
            color=colour,
            markerfacecolor=colour if filled else "none",
        )
        axes.annotate(
            _relation(pair),
            (1.01, row),
            xycoords=("axes fraction", "data"),
            va="center",
            color=look.ink,
            fontsize=9,
        )
    axes.set_yticks(range(len(pairs)), [f"{pair.first} / {pair.second}" for pair in pairs])
    axes.set_ylim(len(pairs) - 0.5, -0.5)
    axes.grid(visible=False)
    better = "left" if result.lower_is_better else "right"
    axes.set_xlabel(
        f"{result.metric.removesuffix('_ms')}: first / second, with its {100 * pairs[0].coverage:.0f} % interval\n"
        f"{better} of 1, the first is better; grey: differences below {100 * (margin_ratio - 1):g} %"
    )
    _log_ratios(axes)
    return figure


def _relation(pair: Pair) -> str:
    words = {Relation.APART: f"{pair.leader} leads", Relation.AHEAD: f"{pair.leader} ahead"}
    return words.get(pair.relation, pair.relation.value)


def _log_ratios(axes: Axes) -> None:
    """Make the axis logarithmic with round ticks. If its end is less than twice its start, make it linear."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    steps = next(steps for end, steps in _STEPS if high / low < end)
    if high / low < 2:  # noqa: PLR2004 - a logarithmic axis would have too few ticks
        axes.set_xscale("linear")
        return
    axes.xaxis.set_major_locator(LogLocator(base=10, subs=steps))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()


def draw_values(libraries: Sequence[RankedLibrary], metric: str, look: Look) -> Figure:
    """Draw every value of each library as a dot, and the median as a bar. The best library is the first row."""
    height = _FRAME_INCHES + _ROW_INCHES * len(libraries)
    figure, (axes,) = new_figure(look, size=(_WIDTH_INCHES, height))
    for row, library in enumerate(libraries):
        values = library.values
        colour = COLOURS[row % len(COLOURS)]
        # Shift neighbouring dots up or down a little, so that they do not cover each other.
        places = [row + 0.24 * (number % 5 - 2) / 2 for number in range(len(values))]
        axes.plot(
            values, places, linestyle="none", marker="o", markersize=4, color=colour, alpha=0.7
        )
        axes.plot([median(values)] * 2, [row - 0.34, row + 0.34], color=look.ink, linewidth=2)
    axes.set_yticks(range(len(libraries)), [library.name for library in libraries])
    axes.set_ylim(len(libraries) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x", color=look.ink, alpha=0.25, linewidth=0.6)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"{metric}: a dot for each session, a bar for the median")
    axes.xaxis.set_major_locator(MaxNLocator(6))  # room for long numbers, such as bytes
    axes.xaxis.set_major_formatter("{x:,.10g}")
    return figure
