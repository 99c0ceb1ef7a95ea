"""Draws a witness as a picture. A witness consists of the calls that prove a fault of a library.

Each transaction is a row on a time axis, and each call is a tick in the row of its transaction. An arrow (edge) from
one transaction to another means that the second one must come later. Only calls that are part of the proof (`marked`)
have labels and thick ticks. Below the picture, the run's page lists all drawn calls in a table.

The picture is SVG without scripts or external references, so it can be part of a page, a file, or the source of an
<img>. Each kind of edge has its own label, and its own combination of colour and dashes. Lines and texts use the page's
own colour (currentColor).

No two texts overlap, because each has a line of its own: the label of a call below its row, and the label of an edge in
the gap above the lower one of its two rows.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.witness import EdgeKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.witness import Call, Transaction, Witness

WIDTH = 760
_LEFT, _RIGHT = 120, 30
_TOP = 34
_BAR = 16
_LABEL_HEIGHT = 14
_GAP = (
    18  # space between two rows for the heads of arrows, besides a line for the label of each arrow
)
_GAP_LABELS = 2  # a gap has room for at least this many labels of arrows
_LABEL_CHARACTERS = 80
_CHARACTER_WIDTH = 6.3
_BOLD_CHARACTER_WIDTH = 7.5
_FONT = {"font-family": "system-ui, sans-serif", "font-size": "11"}
# Draws a border in the background colour around a text, so that the text is readable where it crosses an arrow.
_HALO = {"paint-order": "stroke", "stroke": "Canvas", "stroke-width": "4"}


@dataclass(frozen=True, slots=True)
class EdgeStyle:
    """The style of the edges of one kind: colour, dashes and short label."""

    colour: str
    dashes: str
    label: str


# The colours have a contrast of at least 3:1 to white and to near-black. Colour-blind readers can distinguish them.
EDGE_STYLES = {
    EdgeKind.WRITE_WRITE: EdgeStyle("#767676", "", "ww"),
    EdgeKind.WRITE_READ: EdgeStyle("#1b8a5a", "", "wr"),
    EdgeKind.PREDICATE_READ: EdgeStyle("#1b8a5a", "6 3", "wr (absence)"),
    EdgeKind.READ_WRITE: EdgeStyle("#d1495b", "", "rw"),
    EdgeKind.PREDICATE_WRITE: EdgeStyle("#d1495b", "6 3", "rw (absence)"),
    EdgeKind.REAL_TIME: EdgeStyle("#7b68c8", "2 3", "time"),
}


def witness_svg(witness: Witness) -> str:
    """Return the picture as SVG text, or an empty string if the witness has no transactions."""
    if not witness.transactions:
        return ""
    rows = _Rows(witness)
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {WIDTH} {rows.height}",
            "width": str(WIDTH),
            "height": str(rows.height),
            "role": "img",
            **_FONT,
        },
    )
    ET.SubElement(svg, "title").text = witness.summary
    _arrow_heads(svg)
    axis = _Axis(witness.transactions)
    _draw_axis(svg, axis, rows.height)
    for y, transaction in zip(rows.bars, witness.transactions, strict=True):
        _draw_transaction(svg, axis, y, transaction)
    for number, _edge in enumerate(witness.edges):
        _draw_edge(svg, axis, rows, witness, number)
    for y, transaction in zip(rows.bars, witness.transactions, strict=True):
        named = [call for call in transaction.calls if call.marked]
        for number, call in enumerate(named, 1):
            x, below = axis.x(call.end_us), y + _BAR + _LABEL_HEIGHT * number
            _line(svg, (x, y + _BAR, x, below - 9), stroke="currentColor", opacity="0.35")
        for number, call in enumerate(named, 1):
            _draw_label(svg, axis.x(call.end_us), y + _BAR + _LABEL_HEIGHT * number, call)
    return ET.tostring(svg, encoding="unicode")


class _Axis:
    """Maps times to pixels. Neighbouring events have equal distances, because a true scale would be unreadable."""

    def __init__(self, transactions: Sequence[Transaction]) -> None:
        times_us = {t.begin_us for t in transactions} | {t.end_us for t in transactions}
        for transaction in transactions:
            times_us |= {call.end_us for call in transaction.calls}
        self.times_us = sorted(times_us)
        self._step = (WIDTH - _LEFT - _RIGHT) / max(len(self.times_us) - 1, 1)
        self._index = {time_us: i for i, time_us in enumerate(self.times_us)}

    def x(self, time_us: float) -> float:
        return _LEFT + self._step * self._index[time_us]


class _Rows:
    """The vertical positions of the transactions' bars and of the labels of edges; call labels are below the bars."""

    def __init__(self, witness: Witness) -> None:
        self.bars: list[int] = []
        self.labels = [0] * len(witness.edges)
        y = _TOP
        for row, transaction in enumerate(witness.transactions):
            above = [n for n, e in enumerate(witness.edges) if max(e.source, e.target) == row]
            if row:
                y += _GAP + _LABEL_HEIGHT * max(len(above), _GAP_LABELS)
            for place, number in enumerate(reversed(above)):
                self.labels[number] = y - 12 - _LABEL_HEIGHT * place
            self.bars.append(y)
            named = sum(call.marked for call in transaction.calls)
            y += _BAR + _LABEL_HEIGHT * max(named, 2)
        self.height = y + 20


def _line(parent: ET.Element, ends: tuple[float, float, float, float], **attributes: str) -> None:
    x1, y1, x2, y2 = (f"{value:.1f}" for value in ends)
    ET.SubElement(parent, "line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, **attributes})


def _text(parent: ET.Element, x: float, y: float, text: str, **attributes: str) -> None:
    element = ET.SubElement(
        parent, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "fill": "currentColor", **attributes}
    )
    # XML allows no control characters, not even escaped ones.
    element.text = "".join("\ufffd" if character < " " else character for character in text)


def _arrow_heads(svg: ET.Element) -> None:
    definitions = ET.SubElement(svg, "defs")
    for kind, style in EDGE_STYLES.items():
        marker = ET.SubElement(
            definitions,
            "marker",
            id=f"head-{kind.value}",
            viewBox="0 0 8 8",
            refX="7",
            refY="4",
            markerWidth="7",
            markerHeight="7",
            orient="auto-start-reverse",
        )
        ET.SubElement(marker, "path", d="M0 0 L8 4 L0 8 z", fill=style.colour)


def _draw_axis(svg: ET.Element, axis: _Axis, height: float) -> None:
    _text(svg, _LEFT, 14, "time (not to scale: one step per event) →", opacity="0.75")
    for time_us in axis.times_us:
        x = axis.x(time_us)
        _line(svg, (x, 20, x, height - 10), stroke="currentColor", opacity="0.12")


def _draw_transaction(svg: ET.Element, axis: _Axis, y: float, transaction: Transaction) -> None:
    begin, end = axis.x(transaction.begin_us), axis.x(transaction.end_us)
    _text(svg, 4, y + 12, transaction.name, **{"font-weight": "bold"})
    _text(svg, 4, y + 27, f"thread {transaction.thread}", opacity="0.75")
    _text(svg, 4, y + 41, transaction.state, opacity="0.75")
    bar = {"fill": "currentColor", "opacity": "0.18", "rx": "3", "height": str(_BAR)}
    ET.SubElement(
        svg,
        "rect",
        {"x": f"{begin:.1f}", "y": f"{y}", "width": f"{max(end - begin, 4):.1f}", **bar},
    )
    for call in transaction.calls:
        x = axis.x(call.end_us)
        width = "3" if call.marked else "1.5"
        _line(svg, (x, y, x, y + _BAR), stroke="currentColor", **{"stroke-width": width})


def _draw_label(svg: ET.Element, x: float, y: float, call: Call) -> None:
    text = f"{call.call} → {call.answer}"
    if len(text) > _LABEL_CHARACTERS:
        text = text[: _LABEL_CHARACTERS - 1] + "…"
    # A text starts at the tick of its call, or further left if the text would leave the picture.
    start = max(_LEFT, min(x, WIDTH - len(text) * _CHARACTER_WIDTH))
    _text(svg, start, y, text, **_HALO)


def _draw_edge(svg: ET.Element, axis: _Axis, rows: _Rows, witness: Witness, number: int) -> None:
    edge = witness.edges[number]
    style = EDGE_STYLES[edge.kind]
    source, target = witness.transactions[edge.source], witness.transactions[edge.target]
    down = edge.target > edge.source
    y1 = rows.bars[edge.source] + (_BAR if down else 0)
    y2 = rows.bars[edge.target] + (0 if down else _BAR)
    # Spread the edges of a cycle, so that they do not overlap.
    x1 = _within(axis, source, number, len(witness.edges))
    x2 = _within(axis, target, number, len(witness.edges))
    path = f"M{x1:.1f} {y1} C{x1:.1f} {(y1 + y2) / 2} {x2:.1f} {(y1 + y2) / 2} {x2:.1f} {y2}"
    line = ET.SubElement(
        svg,
        "path",
        {
            "d": path,
            "fill": "none",
            "stroke": style.colour,
            "stroke-width": "2",
            "stroke-dasharray": style.dashes or "none",
            "marker-end": f"url(#head-{edge.kind.value})",
        },
    )
    ET.SubElement(line, "title").text = edge.because
    label = {"fill": style.colour, "font-weight": "bold"}
    y = rows.labels[number]
    x = x1 + (x2 - x1) * _progress((y - 4 - y1) / (y2 - y1)) + 5 if y1 != y2 else x1
    widest = WIDTH - len(style.label) * _BOLD_CHARACTER_WIDTH
    _text(svg, min(x, widest), y, style.label, **label, **_HALO)


def _progress(height: float) -> float:
    """Return the horizontal position of an edge, from 0 to 1, at a vertical position `height` from 0 to 1."""
    low, high = 0.0, 1.0
    for _ in range(20):
        t = (low + high) / 2
        low, high = (t, high) if 1.5 * t * (1 - t) + t**3 < height else (low, t)
    return low * low * (3 - 2 * low)


def _within(axis: _Axis, transaction: Transaction, number: int, edges: int) -> float:
    begin, end = axis.x(transaction.begin_us), axis.x(transaction.end_us)
    return begin + (end - begin) * (number + 1) / (edges + 1)
