"""Writes a number with its noun, such as "1 run", or names in a row, such as "a, b and c", for messages and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def counted(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun, such as "1 run" or "1,200 runs". `many` is the plural if it is not `one` + s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """Return the names as text, such as "a, b and c". There must be at least one."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
