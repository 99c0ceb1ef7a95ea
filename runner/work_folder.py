"""A folder per job that exists while the job runs, also when a worker was killed in the middle of the last one."""

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
    """Give a fresh folder (mode 0700) under `parent` and remove it afterwards; removes what dead processes left.

    Each folder has a lock file beside it that its process holds; the kernel drops the lock with the process, so a
    lock that can be taken belongs to nobody. Several processes may work in one `parent`.
    """
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _sweep(parent)
    name = secrets.token_hex(8)
    folder = parent / name
    lock = parent / f"{name}.lock"
    descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _sweep(parent: Path) -> None:
    for lock in parent.glob("*.lock"):
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
                lock.unlink(missing_ok=True)
            finally:
                os.close(descriptor)
