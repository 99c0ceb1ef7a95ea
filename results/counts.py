"""Writes a number with its noun, such as "1 run" or "3 runs", for messages and pages."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun, such as "1 run" or "1,200 runs". `many` is the plural if it is not `one` + s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
