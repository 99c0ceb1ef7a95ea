"""Prints boards (rankings of libraries) as text: `python -m web.manage show_board [SLUG...]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.management.base import BaseCommand, CommandError

from leaderboard import board_page
from leaderboard.boards import all_boards, board_named, main_boards
from leaderboard.ranking.board_result import result, shown_as
from results.summary import RANKED_SESSIONS_MIN

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from leaderboard.board_page import Standings
    from leaderboard.boards import Board
    from leaderboard.models import BoardEntry
    from results.metrics import RankedBy

# The column with the value of the board's metric. The table prints the metric's label and unit as its heading.
RESULT = "result"
HEAD = (
    "rank",
    "library",
    "user",
    RESULT,
    "ratio",
    "interval",
    "deadlocks",
    "failed",
    "completed",
    "jail",
    "digest",
)
RIGHT = {RESULT, "ratio", "deadlocks", "failed", "completed"}


class Command(BaseCommand):
    """Prints the boards as text tables, with the same rows as their pages."""

    help = "Print boards (rankings of libraries) as text tables."
    requires_system_checks = ()  # the checks import every page, which takes longer than the command

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Accept the boards to print."""
        parser.add_argument(
            "slug",
            nargs="*",
            help="names (in URLs) of the boards to print; default: the main boards of the front page",
        )

    def handle(self, *_args: object, slug: list[str], **_options: object) -> None:
        """Print one table per board."""
        for name in slug or [board.slug for board in main_boards()]:
            board = board_named(name)
            if board is None:
                known = ", ".join(board.slug for board in all_boards())
                message = f"unknown board {name!r}: choose from {known}"
                raise CommandError(message)
            self.stdout.write("\n".join([*text_table(board_page.standings(board)), ""]))


def text_table(standings: Standings) -> list[str]:
    """Return a board as lines of text: the title, the machine class, and an aligned table of its entries."""
    board = standings.board
    why = (
        f"some entries have smoke scale (a test size) or fewer than {RANKED_SESSIONS_MIN} sessions"
    )
    mark = f"  PROVISIONAL, because {why}" if standings.provisional else ""
    title = f"{board.title} ({board.benchmark} version {standings.benchmark_version}){mark}"
    if not standings.rows:
        return [title, "  no entries yet"]
    shown = shown_as(board)
    heading = f"{shown.label} {shown.unit}".rstrip()
    head = tuple(heading if name == RESULT else name for name in HEAD)
    cells = [head, *(_cells(row, board, shown) for row in standings.rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEAD))]
    aligned = [
        "  ".join(
            cell.rjust(width) if name in RIGHT else cell.ljust(width)
            for name, cell, width in zip(HEAD, line, widths, strict=True)
        ).rstrip()
        for line in cells
    ]
    lines = [title, f"machine class: {standings.machine_class}", *aligned]
    if several := next((row for row in standings.rows if row.rank_low != row.rank_high), None):
        lines.append(
            f"A rank such as {_ranks(several)} is an interval: the sessions so far do not decide the order of the "
            "entries in it. More sessions may decide the order."
        )
    return lines


def _ranks(row: BoardEntry) -> str:
    """Return the rank of an entry, or its rank interval."""
    return str(row.rank_low) if row.rank_low == row.rank_high else f"{row.rank_low}-{row.rank_high}"


def _cells(row: BoardEntry, board: Board, shown: RankedBy) -> tuple[str, ...]:
    """Return the texts of one row, in the order of HEAD."""
    run = row.run
    name = run.submission.description or run.submission.file_name
    value = result(run, board)
    return (
        _ranks(row),
        f"{name} [{row.configuration}]" if row.configuration else name,
        row.user.get_username(),
        "-" if value is None else shown.text(value),
        f"{row.score:.3f}",
        f"{row.score_low:.3f}-{row.score_high:.3f}",
        _number(run.deadlocks),
        _number(run.transactions_failed),
        _number(run.transactions_completed),
        run.jail_level,
        row.blob_sha256[:12],
    )


def _number(value: int | None) -> str:
    """Return a number as text for the table; a dash if it is unknown."""
    return "-" if value is None else f"{value:,}"
