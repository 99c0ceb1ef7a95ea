"""Make all boards anew from the runs: `python -m web.manage rebuild_boards`."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from leaderboard import standing


class Command(BaseCommand):
    """Boards are derived; call this after the rules in a board.json changed."""

    help = "Make every board anew from the finished runs."

    def handle(self, *_args: object, **_options: object) -> None:
        """Rebuild and count."""
        self.stdout.write(f"{standing.rebuild()} entries")
