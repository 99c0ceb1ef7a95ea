"""Prints the result of `keydrome compare`: on one screen, or with --details with every column and its meaning."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from rich.table import Table
from rich.text import Text

from cli.output import compare_text
from cli.output.paragraph import COLUMNS_MAX, paragraph
from results.counts import counted
from runner.text import printable

if TYPE_CHECKING:
    from rich.console import Console

    from results.compared import Compared


# One screen has at most this many libraries and pairs.
_LIBRARIES_MAX = 8
_PAIRS_MAX = 6
# The columns of a pair on one screen: the two libraries, the ratio, its interval, and the result.
_PAIR_COLUMNS = (0, 1, 2, 6)
_GAP = "  "  # between two columns
_LAST_CELL_MIN = 20


def show(out: Console, compared: Compared) -> None:
    """Print the comparison on one screen: at most 30 lines for three libraries. The last line says which leads."""
    if compared.comparison is not None:
        rows = compare_text.libraries(compared)
        _say(out, rows.title)
        _aligned(out, replace(rows, rows=rows.rows[:_LIBRARIES_MAX]))
        first = compared.comparison.names[0]
        found = compared.comparison.pairs
        wanted = [
            index
            for index, pair in enumerate(found)
            if len(found) <= _PAIRS_MAX or first in {pair.first, pair.second}
        ]
        _aligned(out, _few(compare_text.pairs(compared), wanted[:_PAIRS_MAX]))
        left_out = len(rows.rows[_LIBRARIES_MAX:]), len(found) - len(wanted[:_PAIRS_MAX])
        if any(left_out):
            more = counted(left_out[0], "more library", "more libraries")
            _say(out, f"{more} and {counted(left_out[1], 'more pair')}: see --details")
    for file in (compared.request.keys, compared.request.trace):
        if file is not None:
            _say(out, file.text())
    for line in compare_text.notes(compared):
        _say(out, printable(line))
    for heading, text in compare_text.conditions(compared):
        _say(out, f"{heading}: {text}")
    _say(
        out,
        "--details explains the columns and adds p-values; --json and --markdown keep everything",
    )
    if compared.comparison is not None:
        _say(out, printable(compare_text.leaders(compared)))


def _few(rows: compare_text.Rows, wanted: list[int]) -> compare_text.Rows:
    """Return the wanted rows of the table of pairs, with the columns that fit on one screen."""
    return compare_text.Rows(
        rows.title,
        tuple(rows.columns[i] for i in _PAIR_COLUMNS),
        tuple(rows.numeric[i] for i in _PAIR_COLUMNS),
        tuple(tuple(rows.rows[row][i] for i in _PAIR_COLUMNS) for row in wanted),
    )


def _aligned(out: Console, rows: compare_text.Rows) -> None:
    """Print a table without borders. A last cell that is too wide continues on further lines, below its beginning."""
    cells = [[printable(cell) for cell in row] for row in (rows.columns, *rows.rows)]
    sizes = [max(len(row[i]) for row in cells) for i in range(len(rows.columns))]
    before = sum(sizes[:-1]) + len(_GAP) * len(sizes[:-1])
    room = max(min(out.width, COLUMNS_MAX) - before, _LAST_CELL_MIN)
    for row in cells:
        parts = [
            f"{cell:>{size}}" if is_number else f"{cell:{size}}"
            for cell, size, is_number in zip(row, sizes, rows.numeric, strict=True)
        ]
        first, *further = textwrap.wrap(parts[-1], room, drop_whitespace=False) or [""]
        out.print(Text(_GAP.join([*parts[:-1], first]).rstrip()), soft_wrap=True)
        for rest in further:
            if rest.strip():
                out.print(Text(" " * before + rest.strip()), soft_wrap=True)


def _say(out: Console, text: str) -> None:
    for line in paragraph("", text, out.width):
        out.print(Text(line), soft_wrap=True)


def show_details(out: Console, compared: Compared) -> None:
    """Print the whole comparison. The last line says which library leads, as on one screen."""
    if compared.comparison is not None:
        for rows in (compare_text.libraries(compared), compare_text.pairs(compared)):
            out.print(bordered(rows))
    for file in (compared.request.keys, compared.request.trace):
        if file is not None:
            out.print(Text(file.text()), soft_wrap=True)
    named = (f"{heading}: {text}" for heading, text in compare_text.conditions(compared))
    for line in (*compare_text.legend(compared), *compare_text.notes(compared), *named):
        out.print(Text(printable(line)), soft_wrap=True)
    if compared.comparison is not None:
        out.print(Text(printable(compare_text.leaders(compared))), soft_wrap=True)


def bordered(rows: compare_text.Rows) -> Table:
    """Return a table with borders. Columns that are too narrow for their text have several lines."""
    table = Table(title=printable(rows.title) or None, title_justify="left")
    for name, is_number in zip(rows.columns, rows.numeric, strict=True):
        justify: Literal["left", "right"] = "right" if is_number else "left"
        table.add_column(Text(printable(name)), justify=justify, overflow="fold")
    for row in rows.rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table
