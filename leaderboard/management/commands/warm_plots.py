"""Build Matplotlib's font cache: `python -m web.manage warm_plots`. Takes up to half a minute the first time."""

from __future__ import annotations

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """Draw one picture and throw it away."""

    help = "Build Matplotlib's font cache, so that the first plot does not wait for it."

    def handle(self, *_args: object, **_options: object) -> None:
        """Draw a curve of two windows."""
        from leaderboard import plots  # noqa: PLC0415 - the import is what takes the time

        picture = plots.draw_throughput(
            {"phase": "warming", "window_ns": 1_000_000, "committed": [1, 2]}
        )
        self.stdout.write(f"plots are warm ({len(picture)} bytes)")
