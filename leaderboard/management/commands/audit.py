"""Order audits of the leaders of boards: `python -m web.manage audit SLUG...`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.management.base import BaseCommand, CommandError

from leaderboard import audits
from leaderboard.boards import all_boards, board_named

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Call it for finals, before prizes are given. Calling it again orders only what is new."""

    help = "Queue audits in verified mode of all that stand on these boards."
    requires_system_checks = ()  # they import every page, which takes longer than the command

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the boards."""
        parser.add_argument("slug", nargs="+", help="boards whose entries are audited")

    def handle(self, *_args: object, slug: list[str], **_options: object) -> None:
        """Queue and list."""
        boards = {name: board_named(name) for name in slug}
        unknown = [name for name, board in boards.items() if board is None]
        if unknown:
            known = ", ".join(board.slug for board in all_boards())
            message = f"there is no board {unknown[0]!r}; there are: {known}"
            raise CommandError(message)
        runs = [run for board in boards.values() if board for run in audits.order_finals(board)]
        for run in runs:
            self.stdout.write(f"{run.benchmark}/{run.instance} {run.scale}: {run.submission}")
        self.stdout.write(f"{len(runs)} runs queued")
