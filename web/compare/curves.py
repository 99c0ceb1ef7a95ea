"""Computes the lines of plots of throughput and latency, and the tables next to them, for comparisons and run pages.

For the throughput, a run counts its commits in windows, which are short intervals of equal length.
The functions use no database. The templates draw the lines as SVG within the page, so that plots have the colours and
the type size of the page. A plot is a square of 1000 by 1000 units, which the browser stretches to fit the page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from results.curves import latency_curve, throughput_rows
from web import jinja
from web.compare.axes import LogAxis, Tick, even_ticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leaderboard.submissions.report_columns import Curves
    from results.curves import ThroughputRow

# The largest number of windows of time in a line, and the largest number of rows of a table.
_WINDOWS_MAX = 200
_ROWS_MAX = 40
# Units of the axis of rates, with their names. The first one that is not larger than the highest rate is used.
_RATES = ((1e6, "million "), (1e3, "thousand "), (1.0, ""))
_PERCENTILES = ((0.5, "50"), (0.1, "90"), (0.01, "99"), (0.001, "99.9"), (0.0001, "99.99"))
_RAREST = 1e-4
_SIDE = 1000  # units


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a plot. `style` is the number of the curve, from 1. `points` is the attribute of an SVG polyline."""

    style: int
    points: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot with its lines and the ticks of its axes. Places of `up` count from the bottom."""

    title: str
    across_label: str
    up_label: str
    across: list[Tick]
    up: list[Tick]
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class ThroughputTable:
    """Commits per second of each curve in windows of equal length. A rate is None if the curve ended before the window.

    A row has the start of its window in ms and one rate for each curve.
    """

    rows: list[tuple[float, list[float | None]]]


def throughput_plot(curves: Sequence[Curves]) -> Plot | None:
    """Return the plot of commits per second over time, or None if there is no such curve."""
    merged = _merged(curves, _WINDOWS_MAX)
    found = {n: rows for n, rows in enumerate(merged, start=1) if rows}
    return rates_plot(found) if found else None


def rates_plot(found: Mapping[int, Sequence[ThroughputRow]]) -> Plot:
    """Return the plot of commits per second over time. `found` maps the styles of lines to windows; it is not empty."""
    end = max(rows[-1].end_ms for rows in found.values())
    top = 1.05 * max(row.per_second for rows in found.values() for row in rows) or 1.0
    unit, unit_name = next((size, name) for size, name in _RATES if top >= size or size == 1.0)
    lines = []
    for number, rows in found.items():
        corners = [
            (at / end, row.per_second / top) for row in rows for at in (row.start_ms, row.end_ms)
        ]
        lines.append(Line(number, _points(corners)))
    return Plot(
        title="Throughput",
        across_label="time since the start of the phase (ms)",
        up_label=f"{unit_name}transactions per second",
        across=even_ticks(end),
        up=even_ticks(top / unit),
        lines=lines,
    )


def throughput_table(curves: Sequence[Curves]) -> ThroughputTable | None:
    """Return the numbers of the plot of throughput, in fewer windows.

    Returns None if the curves count commits in windows of different lengths, which have no common rows.
    """
    lengths_ns = {one.throughput.window_ns for one in curves if one.throughput}
    if len(lengths_ns) != 1:
        return None
    columns = _merged(curves, _ROWS_MAX)
    longest = max(columns, key=len)
    return ThroughputTable(
        [
            (window.start_ms, [rows[n].per_second if n < len(rows) else None for rows in columns])
            for n, window in enumerate(longest)
        ]
    )


def latency_plots(curves: Sequence[Curves]) -> list[Plot]:
    """Return one plot for each transaction class, with one line for each run or library that measured the class.

    All plots have the same scale.
    """
    entries = [
        (number, entry)
        for number, one in enumerate(curves, start=1)
        for entry in one.latency
        if entry.buckets
    ]
    if not entries:
        return []
    bounds = [point[1] for _, entry in entries for point in latency_curve(entry) if point[1] > 0]
    up = LogAxis(min(bounds) / 1.1, max(bounds) * 1.1)
    across = LogAxis(1, 1 / _RAREST)
    names = list(dict.fromkeys(entry.transaction_class for _, entry in entries))
    return [
        Plot(
            title=jinja.words(name),
            across_label="percentile of transactions",
            up_label="latency (\N{MICRO SIGN}s)",
            across=[Tick(across.place(1 / slower), label) for slower, label in _PERCENTILES],
            up=up.ticks(),
            lines=[
                Line(number, _points(_steps(latency_curve(entry), across, up)))
                for number, entry in entries
                if entry.transaction_class == name
            ],
        )
        for name in names
    ]


def _merged(curves: Sequence[Curves], most: int) -> list[list[ThroughputRow]]:
    """Return the windows of each curve, in which `width` neighbouring windows are merged into one.

    All curves have the same `width`: the smallest one with which the longest curve has at most `most` windows.
    """
    found = [one.throughput for one in curves]
    longest = max((len(curve.committed) for curve in found if curve), default=0)
    width = -(-longest // most) or 1
    return [throughput_rows(curve, width) if curve else [] for curve in found]


def _steps(
    curve: Sequence[tuple[float, float]], across: LogAxis, up: LogAxis
) -> list[tuple[float, float]]:
    """Return the corners of a latency curve (latency_curve() in results/curves.py), which is drawn in steps.

    The latency at a percentile is the upper bound of the bucket that contains the percentile.
    """
    corners: list[tuple[float, float]] = []
    for slower, bound_us in curve:
        x = across.place(1 / slower) / 100
        if corners:
            corners.append((x, corners[-1][1]))
        if slower < _RAREST:
            break
        corners.append((x, up.place(max(bound_us, up.low)) / 100))
    return corners


def _points(corners: Sequence[tuple[float, float]]) -> str:
    """Return the corners, which lie between 0 and 1, as an SVG attribute. In SVG, y grows downwards."""
    return " ".join(
        f"{round(_SIDE * x)},{round(_SIDE * (1 - y))}"
        for x, y in corners
        if math.isfinite(x) and math.isfinite(y)
    )
