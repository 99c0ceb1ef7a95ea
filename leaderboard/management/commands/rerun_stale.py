"""Queue anew what older benchmark versions ranked: `python -m web.manage rerun_stale`."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from leaderboard import reruns


class Command(BaseCommand):
    """Call it after an update that raised the version of a benchmark. Calling it again does nothing."""

    help = "Queue the runs of ranked submissions again whose benchmark has a newer version."

    def handle(self, *_args: object, **_options: object) -> None:
        """Queue and list."""
        runs = reruns.rerun_stale()
        for run in runs:
            self.stdout.write(f"{run.benchmark}/{run.instance} {run.scale}: {run.submission}")
        self.stdout.write(f"{len(runs)} runs queued")
