"""Writes tables and lists as GitHub Flavored Markdown, which Pandoc reads too.

Special characters are escaped, so the names of libraries show as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cli.output.compare_text import Rows

# An underscore inside a word is no emphasis, so names such as hash_ordered stay readable in the source.
_SPECIAL = re.compile(r"[\\`*|<>\[\]~&]|(?<!\w)_|_(?!\w)")
_RULE_MIN = 3


def escaped(text: str) -> str:
    """Return the text on one line, without control characters, and with Markdown's special characters escaped."""
    line = " ".join(printable(text).split())
    return _SPECIAL.sub(r"\\\g<0>", line)


def titled_table(rows: Rows) -> str:
    """Return the title and the table, each of them a paragraph.

    If a row is long, Pandoc divides the width of the page by the number of dashes under each heading. So each rule is
    as long as the longest cell of its column.
    """
    cells = [tuple(map(escaped, row)) for row in (rows.columns, *rows.rows)]
    sizes = [max(_RULE_MIN, *map(len, column)) for column in zip(*cells, strict=True)]
    rules = (
        "-" * size + (":" if is_number else "")
        for size, is_number in zip(sizes, rows.numeric, strict=True)
    )
    head, *body = (f"| {' | '.join(row)} |" for row in cells)
    lines = [head, f"|{'|'.join(rules)}|", *body]
    return f"**{escaped(rows.title)}**\n\n" + "\n".join(lines)


def bullets(lines: Iterable[str]) -> str:
    """Return a list with an item for each line."""
    return "\n".join(f"- {escaped(line)}" for line in lines)
