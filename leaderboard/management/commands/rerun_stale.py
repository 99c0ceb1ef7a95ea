"""Repeats runs of ranked submissions and of running contests if the runs used an older benchmark version.

Usage: `python -m web.manage rerun_stale`.
"""

from __future__ import annotations

from django.core.management.base import BaseCommand

from leaderboard.submissions import reruns
from results.counts import counted


class Command(BaseCommand):
    """Queues the runs again. Use the command after an update that raised a benchmark's version.

    A second call queues nothing.
    """

    help = "Repeat the runs of ranked submissions and running contests that used an old benchmark version."

    def handle(self, *_args: object, **_options: object) -> None:
        """Queue the runs and print one line for each."""
        runs = reruns.rerun_stale()
        for run in runs:
            self.stdout.write(f"{run.benchmark}/{run.instance} {run.scale}: {run.submission}")
        none = "no run queued: each entry has a run, ended or not, with the newest version of its benchmark"
        self.stdout.write(f"{counted(len(runs), 'run')} queued" if runs else none)
