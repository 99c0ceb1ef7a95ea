"""Prints the result of `keydrome compare` on the screen: a table of libraries, a table of all pairs, and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from cli.output import compare_text
from runner.text import printable

if TYPE_CHECKING:
    from rich.console import Console

    from results.compared import Compared


def show(out: Console, compared: Compared) -> None:
    """Print the whole comparison."""
    if compared.comparison is not None:
        for rows in (compare_text.libraries(compared), compare_text.pairs(compared)):
            out.print(_table(rows))
    for file in (compared.request.keys, compared.request.trace):
        if file is not None:
            out.print(Text(file.text()), soft_wrap=True)
    named = (f"{heading}: {text}" for heading, text in compare_text.conditions(compared))
    for line in (*compare_text.legend(compared), *compare_text.notes(compared), *named):
        out.print(Text(printable(line)), soft_wrap=True)


def _table(rows: compare_text.Rows) -> Table:
    table = Table(title=rows.title, title_justify="left")
    for name, is_number in zip(rows.columns, rows.numeric, strict=True):
        if is_number:
            table.add_column(name, justify="right")
        else:
            table.add_column(name, overflow="fold")
    for row in rows.rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table
