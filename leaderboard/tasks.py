"""The one Celery task. A message only says "look into the table"; the rows say what is to be done."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings

from leaderboard import bell, plotting, services
from leaderboard.worker import (
    SlotTakenError,
    Worker,
    clear_away,
    hold_slot,
    require_built,
    something_waits,
    this_slot,
)
from runner.settings import SLOT_MAX, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)
_held = ExitStack()
_workers: list[Worker] = []


@shared_task(name=bell.TASK, ignore_result=True)  # type: ignore[untyped-decorator]
def doorbell(queue: str) -> None:
    """Wake up: the bench queue works off one run, the results queue sweeps and draws."""
    wake: dict[str, Callable[[], None]] = {bell.BENCH: _wake_bench, bell.RESULTS: _wake_results}
    wake[queue]()


def _wake_bench() -> None:
    """Work off one run and ring again, so that Celery's limits and a warm shutdown hold per run."""
    try:
        worker = _this_worker()
    except SlotTakenError as error:
        _log.warning("%s", error)
        return
    if worker.run_one() and something_waits():
        bell.ring(bell.BENCH)


@cache
def _this_worker() -> Worker:
    """Return this process's worker, taking its slot until the process ends."""
    with ExitStack() as held:
        number = _hold_free_slot(held)
        worker = Worker(this_slot(number))
        require_built()
        clear_away()
        worker.take_back()
        # Kept only now: after a fault above, a database that is away for example, the next ring must find it free.
        _held.push(held.pop_all())
    _workers.append(worker)
    return worker


def _hold_free_slot(held: ExitStack) -> int:
    """Hold the first free of KEYDROME_SLOTS slots from KEYDROME_SLOT on, so that copies of a container differ."""
    first = load_settings().slot
    last = min(first + max(settings.KEYDROME_SLOTS, 1) - 1, SLOT_MAX)
    for number in range(first, last):
        try:
            held.enter_context(hold_slot(number))
        except SlotTakenError:
            continue
        return number
    held.enter_context(hold_slot(last))
    return last


def _wake_results() -> None:
    """Find lost runs and draw what is new."""
    services.sweep()
    plotting.draw_missing()


@worker_ready.connect  # type: ignore[untyped-decorator]
def _ring_at_start(sender: Any, **_kwargs: Any) -> None:  # noqa: ANN401 - Celery's signal arguments
    """Look into the table at once: what the process before left on our slot need not wait for the sweep."""
    for queue in sender.app.amqp.queues.consume_from:
        bell.ring(queue)


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def _stop_working(**_kwargs: Any) -> None:  # noqa: ANN401 - Celery's signal arguments
    """Give the run at hand back to the queue when Celery is told to stop."""
    for worker in _workers:
        worker.stop()
