"""Runs a bench worker, which executes runs, without Celery: `python -m web.manage work --slot 0 --drain`."""

from __future__ import annotations

import logging
import signal
from typing import TYPE_CHECKING

from django.core.management.base import BaseCommand, CommandError

from leaderboard.queue.versions import SchemaSkewError
from leaderboard.worker import (
    NotBuiltError,
    Worker,
    clean_up,
    hold_slot,
    jail_level,
    register_slot,
    require_built,
)
from runner.settings import SLOT_MAX, SettingsError, load_settings
from runner.slots import SlotsTakenError

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Claims runs and executes them on one slot, one at a time.

    A slot is a number that gives a jail (sandbox) its own user and control group. Only one process may use a slot.
    """

    help = "Execute queued runs, one at a time, until SIGTERM or Ctrl-C. With --once or --drain, end earlier."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Accept the slot, and options that say when the command ends."""
        parser.add_argument(
            "--slot",
            type=int,
            default=load_settings().slot,
            help="number that gives the sandbox of this worker its own user and control groups, "
            f"from 0 to {SLOT_MAX}; no other process may use the same number; default: %(default)s",
        )
        until = parser.add_mutually_exclusive_group()
        until.add_argument("--once", action="store_true", help="execute one run, then exit")
        until.add_argument("--drain", action="store_true", help="exit when no run is queued")

    def handle(
        self, *_args: object, slot: int, once: bool, drain: bool, **_options: object
    ) -> None:
        """Reserve the slot and execute runs until a signal arrives. With --once or --drain, end earlier."""
        if not 0 <= slot <= SLOT_MAX:
            message = f"--slot is {slot}: it must be from 0 to {SLOT_MAX}"
            raise CommandError(message)
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
        try:
            with hold_slot(slot):
                worker = Worker(register_slot(slot))
                for number in (signal.SIGTERM, signal.SIGINT):
                    signal.signal(number, lambda *_: worker.stop())
                require_built()
                jail_level()
                clean_up(slot)
                worker.take_back()
                if once:
                    worker.run_one()
                elif drain:
                    worker.drain()
                else:
                    worker.work()
        except SlotsTakenError as error:
            message = f"{error}, or choose another slot with --slot or KEYDROME_SLOT"
            raise CommandError(message) from error
        except (NotBuiltError, SchemaSkewError, SettingsError) as error:
            raise CommandError(str(error)) from error
