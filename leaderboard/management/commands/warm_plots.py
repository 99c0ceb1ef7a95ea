"""Builds Matplotlib's font cache: `python -m web.manage warm_plots`.

The first call takes up to half a minute. Without this command, drawing the first plot of a run would take this long.
"""

from __future__ import annotations

from django.core.management.base import BaseCommand

from leaderboard import plots
from runner.report import Throughput


class Command(BaseCommand):
    """Draws a test plot and discards it, because Matplotlib builds its font cache before it draws."""

    help = (
        "Build Matplotlib's font cache, so that drawing the first plot does not take half a minute."
    )

    def handle(self, *_args: object, **_options: object) -> None:
        """Draw a curve with two points."""
        picture = plots.draw_throughput(Throughput("warming", 1_000_000, (1, 2)))
        self.stdout.write(
            f"the font cache is built: a test plot of {len(picture):,} bytes was drawn"
        )
