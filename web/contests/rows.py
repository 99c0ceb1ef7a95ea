"""Makes the rows of the tables that rank the teams of a contest, with only what the visitor may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from web import jinja
from web.boards.axis import Axis, Mark, axis_for
from web.boards.rows import entry_name

if TYPE_CHECKING:
    from collections.abc import Container

    from leaderboard.contests.standings import CombinedRow, ContestBoard
    from web.contests.access import Visit

HIDDEN = "library hidden until the results are published"


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table: what is ranked, its ratio or score with an interval, and the place of its dot in the plot.

    A ratio is the library's result divided by the result of the control library (the baseline). `run_id` is None if the
    visitor may not see the run. `count` is the number of sessions (repetitions of the runs), or in a combined ranking
    the number of boards that the team entered.
    """

    rank: str
    leads: bool
    name: str
    detail: str
    run_id: int | None
    value: float
    low: float
    high: float
    count: str
    provisional: bool
    mark: Mark


def board_lines(
    visit: Visit, found: ContestBoard, seen: Container[int] | None = None
) -> tuple[list[Line], Axis]:
    """Return the rows of a contest's board, and the axis of their plots. Executes no SQL.

    `seen` contains the runs whose pages the visitor can open; None means all runs that the contest does not hide. For a
    result that was stored at the end of the contest, `seen` is needed: its submissions may have been deleted later.
    """
    axis = axis_for(
        [(row.entry.low, row.entry.high) for row in found.rows],
        lower_is_better=found.board.lower_is_better,
    )
    lines = []
    for row in found.rows:
        hidden = visit.hides(row.team)
        name, variant = entry_name(row.file_name, row.entry.configuration)
        entry = row.entry
        lines.append(
            Line(
                rank=jinja.rank_range(row.rank.low, row.rank.high),
                leads=row.rank.low == 1,
                name=jinja.printable(visit.team_name(row.team)),
                detail=HIDDEN if hidden else f"{name} \N{MIDDLE DOT} {variant}",
                run_id=None
                if hidden or (seen is not None and entry.run_id not in seen)
                else entry.run_id,
                value=entry.score,
                low=entry.low,
                high=entry.high,
                count=str(len(entry.ratios)),
                provisional=entry.provisional,
                mark=axis.mark(entry.score, entry.low, entry.high),
            )
        )
    return lines, axis


def combined_lines(visit: Visit, found: list[CombinedRow], boards: int) -> tuple[list[Line], Axis]:
    """Return the rows of the combined ranking, and the axis of their plots. Executes no SQL."""
    axis = axis_for([(row.score.low, row.score.high) for row in found], lower_is_better=False)
    return [
        Line(
            rank=jinja.rank_range(row.score.rank.low, row.score.rank.high),
            leads=row.score.rank.low == 1,
            name=jinja.printable(visit.team_name(row.team)),
            detail="",
            run_id=None,
            value=row.score.score,
            low=row.score.low,
            high=row.score.high,
            count=f"{row.score.boards} of {boards}",
            provisional=row.score.provisional,
            mark=axis.mark(row.score.score, row.score.low, row.score.high),
        )
        for row in found
    ], axis
