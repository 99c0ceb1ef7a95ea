"""Defines the only Celery task: a wake-up, which makes a worker look for work in the table of runs.

A message names one of two Celery queues. On queue "bench", a bench worker executes one run. On queue "results", the
results worker does the other work; for example, it queues the runs of dead workers again and draws plots.
"""

from __future__ import annotations

import logging
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings

from leaderboard import plots, services
from leaderboard.contests.hidden import queue_due_runs
from leaderboard.contests.mail import send_due_mail
from leaderboard.contests.results import store_due_results
from leaderboard.lead_history import note_leads
from leaderboard.live_boards import note_live_versions
from leaderboard.queue import wakeup
from leaderboard.worker import (
    Worker,
    clean_up,
    hold_slot,
    jail_level,
    register_slot,
    require_built,
    something_waits,
)
from runner.settings import SLOT_MAX, load_settings
from runner.slots import SlotsTakenError

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)
_held = ExitStack()
_workers: list[Worker] = []


@shared_task(name=wakeup.TASK, ignore_result=True)  # type: ignore[untyped-decorator]
def wake_up(queue: str) -> None:
    """Do the work for one wake-up message; `queue` is the Celery queue of the message."""
    work: dict[str, Callable[[], None]] = {wakeup.BENCH: _wake_bench, wakeup.RESULTS: _wake_results}
    work[queue]()


def _wake_bench() -> None:
    """Execute one run. Then, if more runs wait, send the next wake-up.

    One task executes only one run, so that Celery's limits and its warm shutdown apply to each run separately.
    """
    try:
        worker = _this_worker()
    except SlotsTakenError as error:
        _log.warning(
            "this bench worker executes no run: %s, or set KEYDROME_SLOT (the first slot) or KEYDROME_SLOTS "
            "(the number of slots) so that a slot is free",
            error,
        )
        return
    if worker.run_one() and something_waits():
        wakeup.wake(wakeup.BENCH)


@cache
def _this_worker() -> Worker:
    """Return this process's bench worker, which executes runs and holds its slot until the process ends.

    A slot is a number that gives a jail (sandbox) its own user and control group. Only one process at a time may use a
    slot.
    """
    with ExitStack() as held:
        number = _hold_free_slot(held)
        worker = Worker(register_slot(number))
        require_built()
        jail_level()
        clean_up(number)
        worker.take_back()
        # From here on, the process keeps the slot. If a step above fails, for example because the database cannot be
        # reached, the slot is freed, so that the next wake-up can take it.
        _held.push(held.pop_all())
    _workers.append(worker)
    return worker


def _hold_free_slot(held: ExitStack) -> int:
    """Reserve the first free slot of this container and return its number.

    The setting KEYDROME_SLOT is the first slot of the container, and KEYDROME_SLOTS is the number of its slots. Several
    copies of one container can have the same settings, because each copy takes a slot of its own.
    """
    first = load_settings().slot
    last = min(first + max(settings.KEYDROME_SLOTS, 1) - 1, SLOT_MAX)
    return held.enter_context(hold_slot(first, last))


def _wake_results() -> None:
    """Do the work of the results worker.

    Queue the lost runs again (those whose worker died or hangs), and the missing runs on hidden instances (whose
    parameters a contest keeps secret). Store the results of closed contests, record who leads, send queued emails, and
    draw the plots of new results.
    """
    services.recover_and_wake()
    queue_due_runs()
    store_due_results()
    note_live_versions()
    note_leads()
    send_due_mail()
    plots.draw_missing()


@worker_ready.connect  # type: ignore[untyped-decorator]
def _wake_at_start(sender: Any, **_kwargs: Any) -> None:  # noqa: ANN401 - Celery's signal arguments
    """When a worker has started, send a message to each of its queues.

    So runs that an earlier process has left need not wait for the scheduler.
    """
    for queue in sender.app.amqp.queues.consume_from:
        wakeup.wake(queue)


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def _stop_working(**_kwargs: Any) -> None:  # noqa: ANN401 - Celery's signal arguments
    """Stop the bench worker when Celery shuts down. The worker puts its current run back into the queue."""
    for worker in _workers:
        worker.stop()
