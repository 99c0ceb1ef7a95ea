"""Joins neighbouring rows of a board (a ranking of libraries) into groups if the measurements do not show their order.

The page draws each group as one band, with a sentence that says how many more sessions would show the order. A session
is one repetition of a run in new processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaderboard.ranking.rank_groups import LEAST_SESSIONS, forecast, tied_groups
from leaderboard.ranking.rank_intervals import MAX_POOLED_SESSIONS
from results.counts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaderboard.board_page import Standings
    from web.boards.rows import Row


@dataclass(frozen=True, slots=True)
class Group:
    """Neighbouring rows whose order is not certain, or a single row. `note` is a sentence about them, or empty."""

    rows: tuple[Row, ...]
    note: str

    @property
    def tied(self) -> bool:
        """Return True if the group has several rows."""
        return len(self.rows) > 1


def groups_of(standings: Standings, rows: Sequence[Row]) -> list[Group]:
    """Return the groups of a board, best first. `rows` are the rows of `standings`. Executes no SQL."""
    samples = [entry.ratios for entry in standings.rows]
    found = tied_groups([(row.rank_low, row.rank_high) for row in rows]) if rows else []
    return [
        Group(
            tuple(rows[index] for index in group),
            _note(samples, group, rows) if len(group) > 1 else "",
        )
        for group in found
    ]


def single_rows(chosen: Sequence[Row]) -> list[Group]:
    """Return one group per row, in the order of the rows.

    Used for rows that the visitor sorted or filtered. Such rows may not be neighbours in rank, so they share no note.
    """
    return [Group((row,), "") for row in chosen]


def _note(samples: Sequence[Sequence[float]], group: range, rows: Sequence[Row]) -> str:
    """Return how many sessions would tell two entries of the group apart, or why there is no such number."""
    nearest = forecast(samples, group)
    if nearest is not None:
        pair = " and ".join(_named(rows[index]) for index in (nearest.first, nearest.second))
        more = counted(nearest.more, "more session")
        return f"About {more} of each entry would tell {pair} apart."
    if any(len(samples[index]) < LEAST_SESSIONS for index in group):
        return (
            "These entries have too few sessions to tell them apart. "
            f"When each of them has at least {LEAST_SESSIONS} sessions, this page estimates how many are needed."
        )
    return (
        f"These entries are so close that {MAX_POOLED_SESSIONS} sessions of each entry, the most that count, "
        "would probably not tell them apart."
    )


def _named(row: Row) -> str:
    return f"{row.name} ({row.variant}) of {row.user}"
