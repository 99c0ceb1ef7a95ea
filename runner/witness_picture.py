"""A witness as a picture: transactions as rows on a time axis, calls as marks, edges as coloured labelled arrows.

Only calls that an edge or the finding rests on are named; the tables beside the picture have all of them.

The picture is SVG text without scripts or references, so it can stand in a page, in a file or behind an <img>. Colours
tell edges apart, and so do their labels and dashes; lines and texts take the page's own colour (currentColor).
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
_GAP = 46  # under the texts of a row, for arrows
_LABEL_HEIGHT = 14
_LABEL_CHARACTERS = 80
_CHARACTER_WIDTH = 6.3
_FONT = {"font-family": "system-ui, sans-serif", "font-size": "11"}
# Keeps texts readable where arrows run behind them.
_HALO = {"paint-order": "stroke", "stroke": "Canvas", "stroke-width": "4"}


@dataclass(frozen=True, slots=True)
class EdgeStyle:
    """How edges of one kind look and what they are called."""

    colour: str
    dashes: str
    label: str
    meaning: str


# Colours with at least 3:1 against white and against near-black, told apart by colour-blind readers.
EDGE_STYLES = {
    EdgeKind.WRITE_WRITE: EdgeStyle("#767676", "", "ww", "wrote after"),
    EdgeKind.WRITE_READ: EdgeStyle("#1b8a5a", "", "wr", "saw what was written"),
    EdgeKind.PREDICATE_READ: EdgeStyle("#1b8a5a", "6 3", "wr (absence)", "no longer saw a record"),
    EdgeKind.READ_WRITE: EdgeStyle("#d1495b", "", "rw", "read before it was changed"),
    EdgeKind.PREDICATE_WRITE: EdgeStyle("#d1495b", "6 3", "rw (absence)", "did not see a record"),
    EdgeKind.REAL_TIME: EdgeStyle("#7b68c8", "2 3", "time", "had ended before"),
}


def witness_svg(witness: Witness) -> str:
    """Return the picture as SVG text; an empty string when there is no transaction to draw."""
    if not witness.transactions:
        return ""
    rows = _Rows(witness.transactions)
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
            _draw_label(svg, axis.x(call.end_us), y, number, call)
    return ET.tostring(svg, encoding="unicode")


class _Axis:
    """Maps moments to pixels: equal steps from event to event, since transactions last from ns to ms."""

    def __init__(self, transactions: Sequence[Transaction]) -> None:
        moments = {t.begin_us for t in transactions} | {t.end_us for t in transactions}
        for transaction in transactions:
            moments |= {call.end_us for call in transaction.calls}
        self.moments = sorted(moments)
        self._step = (WIDTH - _LEFT - _RIGHT) / max(len(self.moments) - 1, 1)
        self._place = {moment: i for i, moment in enumerate(self.moments)}

    def x(self, moment_us: float) -> float:
        return _LEFT + self._step * self._place[moment_us]


class _Rows:
    """Where the transactions' bars lie: each has room for the names of its marked calls and for arrows below."""

    def __init__(self, transactions: Sequence[Transaction]) -> None:
        self.bars: list[int] = []
        y = _TOP
        for transaction in transactions:
            self.bars.append(y)
            named = sum(call.marked for call in transaction.calls)
            y += _BAR + _LABEL_HEIGHT * max(named, 2) + _GAP
        self.height = y - _GAP + 20


def _line(parent: ET.Element, ends: tuple[float, float, float, float], **attributes: str) -> None:
    x1, y1, x2, y2 = (f"{value:.1f}" for value in ends)
    ET.SubElement(parent, "line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, **attributes})


def _text(parent: ET.Element, x: float, y: float, text: str, **attributes: str) -> None:
    element = ET.SubElement(
        parent, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", "fill": "currentColor", **attributes}
    )
    # XML knows no control characters, not even escaped ones.
    element.text = "".join("\ufffd" if sign < " " else sign for sign in text)


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
    _text(svg, _LEFT, 14, "time, one step from event to event →", opacity="0.75")
    for moment in axis.moments:
        x = axis.x(moment)
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


def _draw_label(svg: ET.Element, x: float, y: float, number: int, call: Call) -> None:
    text = f"{call.call} → {call.answer}"
    if len(text) > _LABEL_CHARACTERS:
        text = text[: _LABEL_CHARACTERS - 1] + "…"
    below = y + _BAR + _LABEL_HEIGHT * number
    _line(svg, (x, y + _BAR, x, below - 9), stroke="currentColor", opacity="0.35")
    # A text begins at its mark, or further left where it would run out of the picture.
    start = max(_LEFT, min(x, WIDTH - len(text) * _CHARACTER_WIDTH))
    _text(svg, start, below, text, **_HALO)


def _draw_edge(svg: ET.Element, axis: _Axis, rows: _Rows, witness: Witness, number: int) -> None:
    edge = witness.edges[number]
    style = EDGE_STYLES[edge.kind]
    source, target = witness.transactions[edge.source], witness.transactions[edge.target]
    down = edge.target > edge.source
    y1 = rows.bars[edge.source] + (_BAR if down else 0)
    y2 = rows.bars[edge.target] + (0 if down else _BAR)
    # Edges of a circle run beside each other, not over each other.
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
    _text(svg, (x1 + x2) / 2 + 5, (y1 + y2) / 2 + 4, style.label, **label, **_HALO)


def _within(axis: _Axis, transaction: Transaction, number: int, edges: int) -> float:
    begin, end = axis.x(transaction.begin_us), axis.x(transaction.end_us)
    return begin + (end - begin) * (number + 1) / (edges + 1)
