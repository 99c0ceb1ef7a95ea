"""Defines the style of all plots, and writes plots as SVG and PNG. The same figure always gives the same bytes.

Lines differ in colour and in dashes. Colour-blind people can distinguish the colours, and all colours are readable on
light and dark pages. In an SVG all grey parts have one colour, INK. A style sheet inside the SVG replaces INK on dark
pages, because the style sheet of the page has no effect inside an <img>. A PNG cannot adapt to the page, so each plot
has one PNG for light pages and one for dark pages. The code does not use pyplot, because pyplot keeps global state.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes

INK = "#5f6b7a"
INK_ON_DARK = "#c3cad4"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#9a7d0a", "#8b6fd1")
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (8, 3)))
_PNG_DOTS_PER_INCH = 144

_ADAPT = (
    "<style>@media (prefers-color-scheme: dark){"
    f'[style*="fill: {INK}"]{{fill:{INK_ON_DARK} !important}}'
    f'[style*="stroke: {INK}"]{{stroke:{INK_ON_DARK} !important}}'
    "}</style>"
)


@dataclass(frozen=True, slots=True)
class Look:
    """The colour of text and axes (`ink`) and of the background (`ground`). A `ground` of None is transparent."""

    ink: str
    ground: str | None = None


ADAPTING = Look(INK)
LIGHT = Look("#3f4956", "#ffffff")
DARK = Look(INK_ON_DARK, "#14181f")


def stable() -> AbstractContextManager[None]:
    """Return a context with the settings for small, reproducible files. Draw and save figures inside the context."""
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


def line_style(number: int) -> dict[str, Any]:
    """Return the style of line `number`. After six lines the colours repeat, with other dashes."""
    dash = DASHES[(number + number // len(COLOURS)) % len(DASHES)]
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": dash, "linewidth": 1.5}


def new_figure(
    look: Look, *, count: int = 1, columns: int = 1, size: tuple[float, float] = (7.2, 3.2)
) -> tuple[Figure, list[Axes]]:
    """Return an empty figure with `count` axes in rows of `columns`; `size` is in inches."""
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasSVG(figure)
    if look.ground is None:
        figure.patch.set_alpha(0)
    else:
        figure.patch.set_facecolor(look.ground)
    rows = -(-count // columns)
    found = [figure.add_subplot(rows, columns, number + 1) for number in range(count)]
    for axes in found:
        axes.patch.set_alpha(0)
        for name, spine in axes.spines.items():
            spine.set_visible(name in {"left", "bottom"})
            spine.set_color(look.ink)
        axes.tick_params(colors=look.ink, which="both")
        for label in (axes.xaxis.label, axes.yaxis.label, axes.title):
            label.set_color(look.ink)
        axes.grid(visible=True, axis="y", color=look.ink, alpha=0.25, linewidth=0.6)
    return figure, found


def legend(axes: Axes, look: Look) -> None:
    """Add a legend if any line has a name."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, labelcolor=look.ink, fontsize=9)


def common_legend(figure: Figure, axes: Sequence[Axes], look: Look) -> None:
    """Add one legend for several axes, below the axes. A name must have the same line style in all axes."""
    named = {
        name: handle
        for one in axes
        for handle, name in zip(*one.get_legend_handles_labels(), strict=True)
    }
    figure.legend(
        named.values(),
        named.keys(),
        loc="outside lower center",
        ncols=min(len(named), 4),
        frameon=False,
        labelcolor=look.ink,
        fontsize=9,
    )


def svg(figure: Figure) -> bytes:
    """Return the figure as SVG with the style sheet for dark pages."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    head, tag, rest = buffer.getvalue().decode().partition("<defs>")
    return f"{head}{_ADAPT}{tag}{rest}".encode()


def png(figure: Figure) -> bytes:
    """Return the figure as PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_PNG_DOTS_PER_INCH, metadata={"Software": None})
    return buffer.getvalue()
