"""Recomputes all boards (rankings of libraries) from the runs: `python -m web.manage rebuild_boards`."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from leaderboard.ranking import board_entries


class Command(BaseCommand):
    """Recomputes the boards. Use it after the rules in a board.json have changed."""

    help = "Recompute every board from the finished runs."

    def handle(self, *_args: object, **_options: object) -> None:
        """Recompute the boards and print the number of their entries."""
        self.stdout.write(f"recomputed the boards; number of entries: {board_entries.rebuild()}")
