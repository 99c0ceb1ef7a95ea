"""From a run's curves to pictures and tables. Pure, byte-stable, without pyplot's global state.

Pictures are SVG with text as text. They are shown through <img>, where the viewer's colour scheme reaches them only
through a media query, so every grey is one placeholder that a style sheet in the file turns light on dark. The curves
use colours that colour-blind people can tell apart, readable on both grounds, and differ in their dashes as well.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from leaderboard.series import MAX_POINTS, throughput_rows

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes

INK = "#5f6b7a"
INK_ON_DARK = "#c3cad4"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#9a7d0a", "#8b6fd1")
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 3)))

_STYLE = (
    "<style>@media (prefers-color-scheme: dark){"
    f'[style*="fill: {INK}"]{{fill:{INK_ON_DARK} !important}}'
    f'[style*="stroke: {INK}"]{{stroke:{INK_ON_DARK} !important}}'
    "}</style>"
)


def latency_curve(entry: dict[str, Any]) -> list[tuple[float, float]]:
    """Return (share of transactions slower than this, latency in us), falling shares, from a class's buckets."""
    total = sum(count for _, count in entry["buckets"])
    seen = 0
    points = []
    for bound_ns, count in sorted(map(tuple, entry["buckets"])):
        # The share not yet counted before this bucket is done in at most its bound.
        slower = 1 - seen / total
        seen += count
        points.append((slower, bound_ns / 1e3))
    step = -(-len(points) // MAX_POINTS) or 1
    kept = points[::step]
    return kept if kept[-1:] == points[-1:] else [*kept, *points[-1:]]


def draw_throughput(throughput: dict[str, Any]) -> bytes:
    """Return committed transactions per second over time as SVG."""
    rows = throughput_rows(throughput)
    edges = [row.start_ms for row in rows[:1]] + [row.end_ms for row in rows] or [0.0]
    with _style():
        figure, axes = _figure()
        axes.stairs([row.per_second for row in rows], edges, color=COLOURS[0], linewidth=1.5)
        axes.set_xlabel(f"time since the start of {throughput['phase']} (ms)")
        axes.set_ylabel("transactions per second")
        axes.set_xlim(0, edges[-1] or 1)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        return _svg(figure)


def draw_latency(latency: list[dict[str, Any]]) -> bytes:
    """Return latency by percentile, one line per transaction class, as SVG."""
    with _style():
        figure, axes = _figure()
        drawn = [entry for entry in latency if entry["buckets"]]
        for number, entry in enumerate(drawn):
            curve = latency_curve(entry)
            axes.step(
                [slower for slower, _ in curve],
                [bound for _, bound in curve],
                where="post",
                label=entry["class"],
                color=COLOURS[number % len(COLOURS)],
                linestyle=DASHES[number % len(DASHES)],
                linewidth=1.5,
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(1, 1e-4)
        axes.set_xticks([0.5, 0.1, 0.01, 0.001, 0.0001], ["50", "90", "99", "99.9", "99.99"])
        axes.minorticks_off()
        axes.set_xlabel("percentile of transactions")
        axes.set_ylabel("latency (\N{MICRO SIGN}s)")
        if drawn:
            axes.legend(frameon=False, labelcolor=INK)
        return _svg(figure)


def _style() -> AbstractContextManager[None]:
    """Return the settings that make the file small, stable and legible, for the time of a drawing."""
    return rc_context(
        {
            "svg.hashsalt": "keydrome",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "font.size": 10,
            "axes.formatter.useoffset": False,
            "axes.formatter.limits": (-6, 9),
        }
    )


def _figure() -> tuple[Figure, Axes]:
    """Return an empty figure in the house style."""
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    figure.patch.set_alpha(0)
    axes.patch.set_alpha(0)
    for name, spine in axes.spines.items():
        spine.set_visible(name in {"left", "bottom"})
        spine.set_color(INK)
    axes.tick_params(colors=INK, which="both")
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    axes.grid(visible=True, axis="y", color=INK, alpha=0.25, linewidth=0.6)
    return figure, axes


def _svg(figure: Figure) -> bytes:
    """Return the figure as SVG with the style sheet for dark grounds; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    head, tag, rest = buffer.getvalue().decode().partition("<defs>")
    return f"{head}{_STYLE}{tag}{rest}".encode()
