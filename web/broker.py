"""Implements the message broker of the embedded site, which needs no server: messages are files in a folder.

The embedded site is the site with its default settings. Its broker is the filesystem transport of kombu (Celery's
messaging library), made safe for concurrent processes. kombu's own transport creates the file
of a message first and fills the file afterwards. A worker that reads the file between these two steps finds no JSON,
and Celery then stops the worker. This transport therefore writes a message under another name, and renames the complete
file.

A binding is a file that says which queues belong to an exchange. kombu creates the file empty before it locks the file,
so another process could read the empty file. This transport therefore takes a lock of its own first.
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
    """A channel on a folder of messages that several processes use at the same time, each with its own Channel."""

    def _put(  # type: ignore[override] # kombu's own classes disagree on the parameter's name
        self, queue: str, payload: dict[str, Any], **_options: object
    ) -> None:
        """Append a message to `queue`. Raises OSError if the file cannot be written.

        The file's name starts with the time since boot, because kombu reads messages in the order of their names.
        """
        folder = Path(self.data_folder_out)
        name = f"{round(time.monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        # kombu finds a message by the queue's name after the first dot of the file's name. The temporary file has no
        # dot in its name, so kombu ignores the file.
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
        """Return the queues that are bound to `exchange`. Holds the lock while it reads the file."""
        with self._bindings(fcntl.LOCK_SH):
            found: list[filesystem.exchange_queue_t] = super().get_table(exchange)
        return found

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        with self._bindings(fcntl.LOCK_EX):
            super()._queue_bind(exchange, routing_key, pattern, queue)

    @contextmanager
    def _bindings(self, kind: int) -> Iterator[None]:
        """Hold the lock of all bindings, shared or exclusive. The kernel releases the lock if the process dies."""
        self.control_folder.mkdir(exist_ok=True)
        with (self.control_folder / "lock").open("a") as lock:
            fcntl.flock(lock, kind)
            yield


class Transport(filesystem.Transport):
    """The transport with the channel above. The setting CELERY_BROKER_TRANSPORT names this class."""

    Channel = Channel
