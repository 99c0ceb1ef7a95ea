"""Sends wake-up messages, which inform idle workers (processes that execute runs) that runs may be waiting.

A message contains only the name of a Celery queue. The worker reads the table of runs to find its work. A lost message
only delays a run, because Celery's scheduler sends another message every KEYDROME_SWEEP_SECONDS.
"""

from __future__ import annotations

import logging

from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

BENCH = "bench"
RESULTS = "results"
# The task's name in messages. The name must not change, because a newer site sends messages to running older workers.
TASK = "leaderboard.wake_up"
# A message that no worker receives within this time expires. The next message of the scheduler replaces it.
EXPIRES_SECONDS = 60

_log = logging.getLogger(__name__)


def wake(queue: str) -> None:
    """Wake the workers of a Celery queue. Call this after the commit, because workers cannot see uncommitted rows.

    If the broker cannot be reached, this function logs a warning and returns.
    """
    try:
        current_app.send_task(
            TASK,
            args=[queue],
            queue=queue,
            expires=EXPIRES_SECONDS,
            ignore_result=True,
            retry=False,
        )
    except (OperationalError, OSError) as error:
        _log.warning(
            "cannot send a wake-up message to the queue %s, so a waiting run may start up to %d s later: %s: "
            "check the message broker (KEYDROME_BROKER_URL)",
            queue,
            settings.KEYDROME_SWEEP_SECONDS,
            error,
        )
