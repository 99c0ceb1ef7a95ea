"""Queues lost runs again: `python -m web.manage recover_lost`.

A run is lost if its worker, the process that executes it, died or hangs. Two kinds of workers regularly queue lost runs
too: the bench workers, which execute runs, and the results worker, which draws plots.
"""

from __future__ import annotations

from django.core.management.base import BaseCommand

from leaderboard import services


class Command(BaseCommand):
    """Queues lost runs again or, after their last attempt, ends them."""

    help = "Queue again the runs whose worker died or hangs; after the last attempt, end them as failures of the site."

    def handle(self, *_args: object, **_options: object) -> None:
        """Recover the lost runs; print how many were queued again, given up and cancelled."""
        recovered = services.recover_and_wake()
        self.stdout.write(
            f"runs whose worker died or hangs: queued again: {len(recovered.requeued)}; "
            f"ended, because no attempt was left: {len(recovered.given_up)}; "
            f"cancelled at a user's request: {len(recovered.cancelled)}"
        )
