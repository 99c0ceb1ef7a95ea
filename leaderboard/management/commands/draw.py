"""Draw the curves of runs that have none yet: `python -m web.manage draw`."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from leaderboard import plotting


class Command(BaseCommand):
    """Draw what is missing. The results worker does the same after every run."""

    help = "Draw the curves of runs that have none yet."

    def handle(self, *_args: object, **_options: object) -> None:
        """Draw in batches until nothing is missing."""
        total = 0
        while drawn := plotting.draw_missing():
            total += drawn
        self.stdout.write(f"looked at {total} runs")
