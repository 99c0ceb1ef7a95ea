"""Draws latency by percentile, throughput over time, and a metric such as throughput against a parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from results.curves import latency_curve, throughput_rows
from results.plots.style import COLOURS, Look, common_legend, legend, line_style, new_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from runner.report import LatencyClass, Throughput

_WIDTH_INCHES = 7.2
_ROW_INCHES = 1.6
_PANEL_INCHES = 3.6
_PANELS_MAX = 3  # the largest number of panels in a row


@dataclass(frozen=True, slots=True)
class LatencyPanel:
    """One panel of the latency plot; each line has a name and its latencies."""

    title: str
    lines: tuple[tuple[str, LatencyClass], ...]


@dataclass(frozen=True, slots=True)
class SweepLine:
    """One line of the plot of a parameter sweep.

    A point is (value of the parameter, median of the metric, its lowest value, its highest value). The points are
    sorted by the value of the parameter.
    """

    name: str
    points: tuple[tuple[float, float, float, float], ...]


def draw_throughput(curves: Sequence[tuple[str, Throughput]], look: Look) -> Figure:
    """Draw committed transactions per second over time. Each named curve has a panel; the panels are stacked."""
    count = len(curves)
    size = (_WIDTH_INCHES, 3.2) if count == 1 else (_WIDTH_INCHES, 0.7 + _ROW_INCHES * count)
    figure, found = new_figure(look, count=count, size=size)
    end = top = 0.0
    for number, ((name, throughput), axes) in enumerate(zip(curves, found, strict=True)):
        rows = throughput_rows(throughput)
        edges = [row.start_ms for row in rows[:1]] + [row.end_ms for row in rows] or [0.0]
        colour = COLOURS[number % len(COLOURS)]
        axes.stairs([row.per_second for row in rows], edges, color=colour, linewidth=1.5)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        if name:
            axes.set_title(name, fontsize=10, loc="left", color=look.ink)
        end, top = max(end, edges[-1]), max(top, axes.get_ylim()[1])
    for axes in found:
        axes.set_xlim(0, end or 1)
        axes.set_ylim(0, top)
    phases = {throughput.phase for _, throughput in curves}
    phase = phases.pop() if len(phases) == 1 else "the phase"
    found[-1].set_xlabel(f"time since the start of {phase} (ms)")
    found[count // 2].set_ylabel("transactions per second")
    return figure


def draw_latency(panels: Sequence[LatencyPanel], look: Look) -> Figure:
    """Draw latency by percentile. All panels have the same scale of latency."""
    if len(panels) == 1:
        figure, found = new_figure(look)
        _latency_panel(found[0], panels[0])
        legend(found[0], look)
    else:
        columns = min(len(panels), _PANELS_MAX)
        rows = -(-len(panels) // columns)
        size = (_PANEL_INCHES * columns, 0.5 + _PANEL_INCHES * 0.85 * rows)
        figure, found = new_figure(look, count=len(panels), columns=columns, size=size)
        for axes, panel in zip(found, panels, strict=True):
            _latency_panel(axes, panel)
        common_legend(figure, found, look)
    lows, highs = zip(*(axes.get_ylim() for axes in found), strict=True)
    for axes in found:
        axes.set_ylim(min(lows), max(highs))
        axes.set_ylabel("latency (\N{MICRO SIGN}s)")
    return figure


def _latency_panel(axes: Axes, panel: LatencyPanel) -> None:
    for number, (name, entry) in enumerate(panel.lines):
        if not entry.buckets:
            continue
        curve = latency_curve(entry)
        axes.step(
            [slower for slower, _ in curve],
            [bound for _, bound in curve],
            where="post",
            label=name,
            **line_style(number),
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1, 1e-4)
    axes.set_xticks([0.5, 0.1, 0.01, 0.001, 0.0001], ["50", "90", "99", "99.9", "99.99"])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:,.10g}")
    axes.set_xlabel("percentile of transactions")
    if panel.title:
        axes.set_title(panel.title, fontsize=10)


def draw_sweep(lines: Sequence[SweepLine], parameter: str, metric: str, look: Look) -> Figure:
    """Draw the median of a metric against a parameter. Error bars end at the lowest and highest value."""
    figure, (axes,) = new_figure(look)
    values = sorted({value for line in lines for value, *_ in line.points})
    for number, line in enumerate(lines):
        where, middle, low, high = zip(*line.points, strict=True)
        below = [m - b for m, b in zip(middle, low, strict=True)]
        above = [t - m for m, t in zip(middle, high, strict=True)]
        axes.errorbar(
            where,
            middle,
            yerr=(below, above),
            marker="o",
            markersize=4,
            capsize=3,
            elinewidth=0.8,
            label=line.name,
            **line_style(number),
        )
    axes.set_xticks(values, [f"{value:,.10g}" for value in values])
    axes.set_xlabel(
        f"{parameter}\na dot for the median of the sessions, bars to the lowest and the highest"
    )
    axes.set_ylabel(metric)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.10g}")
    legend(axes, look)
    return figure
