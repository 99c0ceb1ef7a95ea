"""Queries a database that may be down at the moment, because the fault storm kills processes of the site at random."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
TIMEOUT_SECONDS = 120.0


def ask(question: Callable[[], T], timeout_seconds: float = TIMEOUT_SECONDS) -> T:
    """Return the result of a query. While the database is down, repeat the query for up to `timeout_seconds`."""
    from django.db import InterfaceError, OperationalError, close_old_connections  # noqa: PLC0415 - needs Django

    deadline = time.monotonic() + timeout_seconds
    while True:
        try:
            return question()
        except (OperationalError, InterfaceError):
            close_old_connections()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
