"""Reserves jail slots. A slot is a number that gives the jail in it a user id and a control group of its own.

A jail is the sandbox in which one untrusted library runs. When a jail starts, it kills all processes that an earlier
jail left in its slot. So a second jail in the same slot would kill the first one. Therefore at most one process on the
machine may hold a slot.

`hold_slot` reserves a slot for this process. The kernel frees the slot when the process ends, even after SIGKILL.

The numbers are divided, so that a running site, commands, tests and measurements of several clones use different slots:

    0 to 99     workers, which run a site's jobs: each has a fixed slot (KEYDROME_SLOT) or a free one (KEYDROME_SLOTS)
    100 to 899  test processes and measurements: each reserves ten consecutive slots that are free
    900 to 999  commands, reports and native tests: each takes a free slot

KEYDROME_SLOT and KEYDROME_SLOTS may also name slots above 99. Therefore a test process reserves ten slots only if none
of them is in use.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from runner.settings import SLOT_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

TEST_SLOT_FIRST = 100
TEST_SLOTS = 10
LOCAL_SLOT_FIRST = 900

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_held_for_tests = ExitStack()


class SlotsTakenError(Exception):
    """All slots that the caller would accept are in use."""


@contextmanager
def hold_slot(first: int, last: int, *, lock_files: Path | None = None) -> Iterator[int]:
    """Hold the first free slot from `first` to `last`, and yield its number. Raises SlotsTakenError if none is free.

    A name in the kernel's abstract socket namespace reserves the slot. Each container has its own namespace, so workers
    in containers need file locks too. `lock_files` is the folder for these locks; all containers of a machine must
    share the folder. If several machines share the folder, each machine has its own locks.
    """
    for slot in range(first, last + 1):
        with ExitStack() as held:
            if _bind_name(_slot_name(slot), held) and (
                lock_files is None or _lock(lock_files, slot, held)
            ):
                yield slot
                return
    taken = (
        f"slot {first} is in use by another process: wait until it ends"
        if first == last
        else f"slots {first} to {last} are in use by other processes: wait until one ends"
    )
    raise SlotsTakenError(f"jail {taken}")


def hold_worker_slot(first: int, last: int, var: Path) -> AbstractContextManager[int]:
    """Hold a slot for a worker. Other workers that use the same folder `var`, even in containers, cannot hold it."""
    return hold_slot(first, last, lock_files=var / "locks")


@contextmanager
def hold_local_slot() -> Iterator[int]:
    """Hold a slot for the command line."""
    with hold_slot(LOCAL_SLOT_FIRST, SLOT_MAX) as slot:
        yield slot


@cache
def slots_for_tests() -> range:
    """Reserve TEST_SLOTS consecutive slots until this process ends, and return their numbers.

    No other test process takes these slots. Within this process, each slot is free and can be held.
    jail/tests/jailing.py reserves its slots in the same way.
    """
    for first in range(TEST_SLOT_FIRST, LOCAL_SLOT_FIRST, TEST_SLOTS):
        block = range(first, first + TEST_SLOTS)
        with ExitStack() as held:
            if _bind_name(f"keydrome-test-slots-{first}", held) and all(map(_is_free, block)):
                _held_for_tests.push(held.pop_all())
                return block
    raise SlotsTakenError(
        f"all jail slots for tests ({TEST_SLOT_FIRST} to {LOCAL_SLOT_FIRST - 1}) are in use by other processes: "
        "wait until one ends"
    )


def other_slots(own: int, sockets: Path = Path("/proc/net/unix")) -> set[int]:
    """Return the slots that processes hold in this network namespace, without the slot `own`."""
    prefix = f"@{_slot_name(0).removesuffix('0')}"
    names = (line.split()[-1] for line in sockets.read_text(errors="replace").splitlines()[1:])
    found = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
    return {int(text) for text in found if text.isdigit()} - {own}


def _is_free(slot: int) -> bool:
    with ExitStack() as held:
        return _bind_name(_slot_name(slot), held)


def _slot_name(slot: int) -> str:
    """Return the name that reserves a slot. The jail uses the same name (jail/support/slot_name.c)."""
    return f"keydrome-slot-{slot}"


def _bind_name(name: str, held: ExitStack) -> bool:
    """Reserve a name in this network namespace. Return False if another process has reserved the name."""
    holder = held.enter_context(
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    )
    try:
        holder.bind(f"\0{name}")
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True


@cache
def _machine() -> str:
    """Return a name that all containers of this machine have in common: the id of the machine's last boot."""
    return _BOOT_ID.read_text().strip()


def _lock(folder: Path, slot: int, held: ExitStack) -> bool:
    """Reserve the slot among all processes that share the folder. Return False if another process has reserved it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(
        folder / f"slot-{slot}-{_machine()}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
    )
    held.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
