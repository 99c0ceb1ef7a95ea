"""Creates one working folder per job and removes it when the job ends.

If a worker, the process that runs jobs, is killed, the next job removes the worker's folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def work_folder(parent: Path) -> Iterator[Path]:
    """Create a folder (mode 0700) in `parent`, and remove it afterwards. Also remove the folders of dead processes.

    A process that uses folder NAME holds a lock on the file NAME.lock in `parent`. The kernel releases the lock when
    the process dies. If another process can acquire the lock, the folder no longer belongs to a process and can be
    removed. Several processes may use one `parent`.
    """
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_leftovers(parent)
    lock, descriptor = _new_lock(parent)
    folder = lock.with_suffix("")
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _new_lock(parent: Path) -> tuple[Path, int]:
    """Create and lock a file NAME.lock with a new NAME; return its path and descriptor.

    Between creating and locking, the file is unlocked, so another process may take it for a leftover and remove it.
    This function then finds that the locked file has been deleted (its link count is 0), and creates another file.
    """
    while True:
        lock = parent / f"{secrets.token_hex(8)}.lock"
        descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink > 0:
            return lock, descriptor
        os.close(descriptor)


def _remove_leftovers(parent: Path) -> None:
    for lock in parent.glob("*.lock"):
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink(missing_ok=True)
            finally:
                os.close(descriptor)
