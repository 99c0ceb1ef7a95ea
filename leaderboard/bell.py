"""The doorbell: tells idle workers that there may be work. Losing a ring is harmless, the sweep rings again."""

from __future__ import annotations

import logging

from celery import current_app
from kombu.exceptions import OperationalError

BENCH = "bench"
RESULTS = "results"
TASK = "leaderboard.doorbell"
# A ring that nobody heard within this time says nothing new.
EXPIRES_SECONDS = 60

_log = logging.getLogger(__name__)


def ring(queue: str) -> None:
    """Ring the bell of a queue; call it after commit, or the worker looks for rows not yet there."""
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
        _log.warning("the bell of %s could not be rung, the sweep will: %s", queue, error)
