"""Draws the missing plots of finished runs: `python -m web.manage draw`."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from leaderboard import plots
from results.counts import counted


class Command(BaseCommand):
    """Draws all missing plots. The site's results worker, a background process, also draws them after every run."""

    help = "Draw the plots of finished runs that have none yet."

    def handle(self, *_args: object, **_options: object) -> None:
        """Draw in batches until no plot is missing."""
        total = 0
        while drawn := plots.draw_missing():
            total += drawn
        self.stdout.write(f"checked {counted(total, 'run')} and drew the missing plots")
