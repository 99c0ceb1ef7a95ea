"""Checks that every note about work that is left to do names its issue."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree.files import Tree

# Written in two parts, so that this file does not complain about itself.
NOTE = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b(?!\(#\d+\))")
SOURCES = (".c", ".cc", ".h", ".py", ".html", ".css", ".js")


def check_open_ends(tree: Tree) -> list[str]:
    """Return the files with a to-do note that names no issue."""
    return [
        f"{name}: a to-do note without an issue number; add the number in brackets, such as (#7)"
        for name in tree.having(*SOURCES)
        if NOTE.search(tree.text(name))
    ]
