"""Makes boards (rankings of libraries) for tests.

They are the published boards, with only those gates (required correctness benchmarks) that the tests' repository has.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leaderboard import boards

if TYPE_CHECKING:
    from leaderboard.boards import Board

GATES = ("unit", "phantom")


def small_boards() -> tuple[Board, ...]:
    """Return the boards that tests put in place of `boards._published`."""
    return tuple(replace(board, gates=GATES) for board in boards._published())
