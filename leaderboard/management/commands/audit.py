"""Queues audits of all entries shown on some boards (rankings): `python -m web.manage audit SLUG...`.

An audit repeats runs in verified mode, in which a library cannot access the memory of the process that makes the calls.
Use this command before prizes are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.management.base import BaseCommand, CommandError

from leaderboard.audits import schedule
from leaderboard.boards import all_boards, board_named
from results.counts import counted

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Queues the audits that are missing. A second call queues only the audits of new entries."""

    help = "Queue audits of all entries shown on these boards: repeat their runs with another process making the calls."
    requires_system_checks = ()  # the checks import every page, which takes longer than the command

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Accept the slugs of the boards (their names in URLs)."""
        parser.add_argument(
            "slug", nargs="+", help="names (in URLs) of the boards whose entries are audited"
        )

    def handle(self, *_args: object, slug: list[str], **_options: object) -> None:
        """Queue the audits and print one line for each run."""
        boards = {name: board_named(name) for name in slug}
        unknown = [name for name, board in boards.items() if board is None]
        if unknown:
            known = ", ".join(board.slug for board in all_boards())
            message = f"unknown board {unknown[0]!r}: choose from {known}"
            raise CommandError(message)
        runs = [run for board in boards.values() if board for run in schedule.audit_board(board)]
        for run in runs:
            self.stdout.write(f"{run.benchmark}/{run.instance} {run.scale}: {run.submission}")
        none = "no run queued: every entry that the named boards show has an audit already"
        self.stdout.write(f"{counted(len(runs), 'run')} queued" if runs else none)
