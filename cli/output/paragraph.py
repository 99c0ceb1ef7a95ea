"""Divides sentences into lines that fit a terminal, and keeps commands in one piece, so that they can be copied."""

from __future__ import annotations

import re
import textwrap

COLUMNS_MAX = 100
_COMMAND = re.compile(r"`[^`]*`")
_KEPT_SPACE = "\0"  # stands for a space at which the text is not divided


def paragraph(heading: str, text: str, width: int) -> list[str]:
    """Return `text` as lines of at most `width` and COLUMNS_MAX columns, indented below its heading.

    A command in backquotes is never divided. Only a command that is longer than a line makes a longer line.
    """
    kept = _COMMAND.sub(lambda found: found[0].replace(" ", _KEPT_SPACE), text)
    lines = textwrap.wrap(
        kept,
        min(width, COLUMNS_MAX),
        initial_indent=f"{heading + ': ':7}" if heading else "",
        subsequent_indent=" " * 7 if heading else "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_KEPT_SPACE, " ") for line in lines]
