"""The embedded site's message broker: kombu's folder of files, in which no one sees half a file.

kombu's own transport makes a message's file and then fills it. A worker that looks in between takes
an empty file, fails to read it as JSON, and Celery ends the worker. The same holds for the files that
tell which queues an exchange feeds, while the first process makes them. So here a message appears
under its name when it is whole, and who reads or writes a table of bindings holds a lock on it.
"""

from __future__ import annotations

import fcntl
import tempfile
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kombu.transport import filesystem
from kombu.utils.json import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator


class Channel(filesystem.Channel):
    """A channel that several processes may use at once, each with its own object."""

    def _put(  # type: ignore[override] # kombu's own classes disagree on the parameter's name
        self, queue: str, payload: dict[str, Any], **_options: object
    ) -> None:
        """Append a message to `queue`. Names sort by time, as kombu's reader wants; OSError when it cannot."""
        folder = Path(self.data_folder_out)
        name = f"{round(time.monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        # A name without a dot: a reader knows its messages by what follows the first one.
        with tempfile.NamedTemporaryFile("w", dir=folder, prefix="writing-", delete=False) as file:
            written = Path(file.name)
            try:
                file.write(dumps(payload))
                file.flush()
                written.rename(folder / name)
            except BaseException:
                written.unlink(missing_ok=True)
                raise

    def get_table(self, exchange: str) -> list[filesystem.exchange_queue_t]:
        """Return the bindings of an exchange."""
        with self._bindings(fcntl.LOCK_SH):
            found: list[filesystem.exchange_queue_t] = super().get_table(exchange)
        return found

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        with self._bindings(fcntl.LOCK_EX):
            super()._queue_bind(exchange, routing_key, pattern, queue)

    @contextmanager
    def _bindings(self, kind: int) -> Iterator[None]:
        """Hold the lock of all tables; a process that dies gives it back."""
        self.control_folder.mkdir(exist_ok=True)
        with (self.control_folder / "lock").open("a") as lock:
            fcntl.flock(lock, kind)
            yield


class Transport(filesystem.Transport):
    """What the setting CELERY_BROKER_TRANSPORT names."""

    Channel = Channel
