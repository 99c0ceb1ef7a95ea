"""Queue lost runs again: `python -m web.manage sweep`. The results worker does the same all the time."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from leaderboard import services


class Command(BaseCommand):
    """Sweep the queue once."""

    help = "Find runs whose worker is gone; queue them again or give them up."

    def handle(self, *_args: object, **_options: object) -> None:
        """Sweep and say what was done."""
        swept = services.sweep()
        self.stdout.write(
            f"{len(swept.requeued)} queued again, {len(swept.given_up)} given up, "
            f"{len(swept.cancelled)} cancelled"
        )
