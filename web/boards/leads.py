"""Makes the rows of the table "Who leads": each board's leader, how far the leader is ahead, and since when.

The front page shows the main boards; the list of boards shows all. Most boards show
times divided by the time of the control library (the baseline). This table shows the speed relative to the control,
because visitors read "4.7 times as fast as the control" more easily than a ratio of 0.212.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from web import jinja
from web.boards.axis import Axis, axis_for
from web.boards.rows import entry_name

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from leaderboard.boards import Board
    from leaderboard.models import BoardEntry
    from leaderboard.overview import Lead


@dataclass(frozen=True, slots=True)
class Speed:
    """An entry's speed relative to the control (larger is better), with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class LeadRow:
    """The row of one board. `leaders` are the speeds of the entries that share the lead, `others` all other speeds.

    An entry shares the lead if no entry is surely better, i.e. if the measurements allow that its rank is 1.

    `name`, `variant`, `user` and `run_id` describe the first entry. A board without entries has no leaders.
    """

    board: Board
    name: str
    variant: str
    user: str
    run_id: int
    leaders: tuple[Speed, ...]
    others: tuple[Speed, ...]
    lead: str
    since: datetime | None
    provisional: bool

    @property
    def entries(self) -> int:
        """Return the number of ranked entries."""
        return len(self.leaders) + len(self.others)


def lead_rows(leads: Iterable[Lead]) -> tuple[list[LeadRow], Axis]:
    """Return the rows of the table, and the axis of its plots. Executes no SQL."""
    rows = [_row(lead) for lead in leads]
    ends = [(s.low, s.high) for row in rows for s in (*row.leaders, *row.others)]
    return rows, axis_for(ends, lower_is_better=False)


def _row(lead: Lead) -> LeadRow:
    if not lead.entries:
        return LeadRow(lead.board, "", "", "", 0, (), (), "", None, provisional=False)
    best = lead.entries[0]
    speeds = [_speed(entry, lead.board) for entry in lead.entries]
    shares = [(entry.rank_low or 1) == 1 for entry in lead.entries]
    leaders = tuple(speed for speed, one in zip(speeds, shares, strict=True) if one)
    name, variant = entry_name(best.run.submission.file_name, best.configuration)
    return LeadRow(
        board=lead.board,
        name=name,
        variant=variant,
        user=jinja.printable(best.user.get_username()),
        run_id=best.run_id,
        leaders=leaders,
        others=tuple(speed for speed, one in zip(speeds, shares, strict=True) if not one),
        lead=_ahead(speeds, len(leaders)),
        since=lead.since,
        provisional=any(entry.provisional for entry in lead.entries),
    )


def _ahead(speeds: list[Speed], leaders: int) -> str:
    """Return by how much the leader leads, in words. `speeds` has the speeds of all entries, best first."""
    if leaders > 1:
        return f"shared by {leaders}"
    if len(speeds) == 1:
        return "the only entry"
    return f"{jinja.percent(speeds[0].value / speeds[1].value - 1)} ahead"


def _speed(entry: BoardEntry, board: Board) -> Speed:
    if board.lower_is_better:
        return Speed(1 / entry.score, 1 / entry.score_high, 1 / entry.score_low)
    return Speed(entry.score, entry.score_low, entry.score_high)
