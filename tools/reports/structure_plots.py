"""Draws the pictures of docs/reference/structures.md: throughput by workload and threads, and bytes per key.

A subject is a structure or a peer, i.e. a container from a package. Each picture shows all subjects of one table, one
subject per row, the fastest lookups first. Hollow markers are loops of one thread, solid markers those of two threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import MaxNLocator, NullFormatter

from results.plots.style import ADAPTING, COLOURS, new_figure, stable, svg

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from results.plots.style import Look

# The result of structure_bench for one subject: lists of ns by loop, and facts.
Subject = dict[str, Any]

CAPTION = (
    "Left: throughput, on a logarithmic scale. Hollow markers: one thread. Solid markers: two threads together.",
    "Triangles: inserts. Round markers: lookups. Squares: lookups and updates (*mixed*). Diamonds: pairs of scans.",
    "Right: resident bytes per key. Rows are sorted by the lookups of one thread. Peers are in italics.",
)
_SCANNED = 100  # pairs that one scan reads
_WIDTH = 5.4  # inches; small, so that the labels stay readable when a phone shrinks the picture
_ROW, _FRAME = 0.26, 1.3  # inches: the height of a row, and of all that is above and below the rows
_LANE = 0.24  # the distance of two lanes, in rows
_FONT = 9


@dataclass(frozen=True, slots=True)
class Mark:
    """How the picture shows a loop of structure_bench."""

    loop: str
    title: str
    shape: str
    colour: str
    lane: int = 0  # -1: in the upper part of the row, 1: in the lower part, so that equal values stay visible
    solid: bool = False
    operations: int = 1  # that the picture counts, in one operation of the loop


# In the order of the legend, which is filled column by column.
MARKS = (
    Mark("insert", "insert", "^", COLOURS[1]),
    Mark("scan", "pairs of a scan", "D", COLOURS[3], operations=_SCANNED),
    Mark("lookup", "lookup, 1 thread", "o", COLOURS[0], lane=-1),
    Mark("lookup_threads", "lookup, 2 threads", "o", COLOURS[0], lane=-1, solid=True),
    Mark("mixed_threads_1", "mixed, 1 thread", "s", COLOURS[2], lane=1),
    Mark("mixed_threads", "mixed, 2 threads", "s", COLOURS[2], lane=1, solid=True),
)


def file_name(keys: str, count: int) -> str:
    """Return the name of the picture of one set of keys and one number of keys."""
    return f"{keys}-{count}.svg"


def write(pictures: Mapping[str, Mapping[str, Subject]], folder: Path) -> None:
    """Write the pictures by file name, and remove the pictures of an earlier page."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.svg"):
        if old.name not in pictures:
            old.unlink()
    with stable():
        for name, subjects in pictures.items():
            (folder / name).write_bytes(svg(draw(subjects, ADAPTING)))


def draw(subjects: Mapping[str, Subject], look: Look) -> Figure:
    """Draw the throughput of all subjects on the left, and their memory on the right."""
    names = sorted(subjects, key=lambda name: (median(subjects[name]["lookup"]), name))
    size = (_WIDTH, _FRAME + _ROW * len(names))
    figure, (left, right) = new_figure(look, count=2, columns=2, size=size)
    if (grid := left.get_gridspec()) is not None:
        grid.set_width_ratios([2.4, 1])
    rows = {name: row for row, name in enumerate(names)}
    _throughput(left, subjects, rows)
    _memory(right, subjects, rows, look)
    for axes in (left, right):
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.grid(visible=True, axis="x", color=look.ink, alpha=0.25, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        axes.tick_params(labelsize=_FONT)
    left.set_yticks(range(len(names)), names)
    right.set_yticks(range(len(names)), [])
    for label, name in zip(left.get_yticklabels(), names, strict=True):
        label.set_fontstyle("italic" if subjects[name]["peer"] else "normal")
    figure.legend(
        *left.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=3,
        frameon=False,
        labelcolor=look.ink,
        fontsize=_FONT,
        handletextpad=0.2,
        columnspacing=1.2,
    )
    return figure


def _throughput(axes: Axes, subjects: Mapping[str, Subject], rows: Mapping[str, int]) -> None:
    for mark in MARKS:
        known = [name for name in rows if mark.loop in subjects[name]]
        axes.plot(
            [1000 * mark.operations / median(subjects[name][mark.loop]) for name in known],
            [rows[name] + mark.lane * _LANE for name in known],
            linestyle="none",
            marker=mark.shape,
            markersize=5.5,
            markeredgewidth=1.2,
            color=mark.colour,
            markerfacecolor=mark.colour if mark.solid else "none",
            label=mark.title,
            gid=mark.loop,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("million operations per second", fontsize=_FONT)


def _memory(
    axes: Axes, subjects: Mapping[str, Subject], rows: Mapping[str, int], look: Look
) -> None:
    values = [subjects[name]["resident_bytes_per_key"] for name in rows]
    bars = axes.barh(list(rows.values()), values, height=0.55, color=look.ink, alpha=0.5)
    axes.bar_label(bars, fmt="{:.0f}", padding=2, color=look.ink, fontsize=_FONT - 1)
    axes.set_xlim(0, 1.35 * max(values))
    axes.xaxis.set_major_locator(MaxNLocator(3))
    axes.set_xlabel("bytes per key", fontsize=_FONT)
