"""Work off the queue without Celery: `python -m web.manage work --slot 0 --drain`."""

from __future__ import annotations

import logging
import signal
from typing import TYPE_CHECKING

from django.core.management.base import BaseCommand, CommandError

from leaderboard.versions import SchemaSkewError
from leaderboard.worker import (
    NotBuiltError,
    SlotTakenError,
    Worker,
    clear_away,
    hold_slot,
    require_built,
    this_slot,
)
from runner.settings import SLOT_MAX, load_settings

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Claim and execute runs on one slot of this machine."""

    help = "Work off the queue on one slot; without --once or --drain until SIGTERM or Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the slot and when to end."""
        parser.add_argument(
            "--slot", type=int, default=load_settings().slot, help=f"0 to {SLOT_MAX}"
        )
        until = parser.add_mutually_exclusive_group()
        until.add_argument("--once", action="store_true", help="work off one run, then end")
        until.add_argument("--drain", action="store_true", help="end when nothing waits")

    def handle(
        self, *_args: object, slot: int, once: bool, drain: bool, **_options: object
    ) -> None:
        """Hold the slot and work."""
        if not 0 <= slot <= SLOT_MAX:
            message = f"--slot is {slot}: it must be a number from 0 to {SLOT_MAX}"
            raise CommandError(message)
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
        try:
            with hold_slot(slot):
                worker = Worker(this_slot(slot))
                for number in (signal.SIGTERM, signal.SIGINT):
                    signal.signal(number, lambda *_: worker.stop())
                require_built()
                clear_away()
                worker.take_back()
                if once:
                    worker.run_one()
                elif drain:
                    worker.drain()
                else:
                    worker.work()
        except (NotBuiltError, SlotTakenError, SchemaSkewError) as error:
            raise CommandError(str(error)) from error
