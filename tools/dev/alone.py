"""Makes commands run one after the other, either in one clone (checkout of the repository) or on the whole machine.

A command that has to wait prints what it waits for.
"""

from __future__ import annotations

import errno
import fcntl
import socket
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAUSE_S = 0.2


@contextmanager
def alone_in_clone(lock: Path, others: str) -> Iterator[None]:
    """Hold a lock file of this clone. While another process has it, print "waiting for `others` to end", and wait."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"waiting for {others} to end ...", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def alone_on_machine(name: str, others: str) -> Iterator[None]:
    """Hold a lock that all clones of this machine share. If another process has the lock, say so, and wait.

    The lock is the abstract Unix socket `name`, which the kernel removes when the process that holds it ends.
    """
    said = False
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as holder:
        while not _bound(holder, name):
            if not said:
                print(f"waiting for {others} to end ...", flush=True)
                said = True
            time.sleep(PAUSE_S)
        yield


def _bound(holder: socket.socket, name: str) -> bool:
    try:
        holder.bind(f"\0{name}")
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True
