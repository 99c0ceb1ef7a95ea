"""Who may use which slot of the jail's uid pool: one job at a time, on the whole machine.

Two jails in one slot would share a user id and a control group, and the second would sweep the first away. A slot is
held by binding a name in the kernel's abstract socket namespace: it is free again when the holder ends, however it
ends, and leaves no file behind. Workers are given their slots (KEYDROME_SLOT); the command line takes a free one of
those above LOCAL_SLOT_FIRST, so that trying a library on a bench machine never disturbs a worker's jail.
"""

from __future__ import annotations

import errno
import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runner.settings import SLOT_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCAL_SLOT_FIRST = 900


class SlotsTakenError(Exception):
    """Every slot in question is in use."""


@contextmanager
def hold_slot(first: int, last: int) -> Iterator[int]:
    """Hold the first free slot of first..last and give its number; SlotsTakenError at once when none is free."""
    for slot in range(first, last + 1):
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        try:
            holder.bind(f"\0keydrome-slot-{slot}")
        except OSError as error:
            holder.close()
            if error.errno != errno.EADDRINUSE:
                raise
            continue
        try:
            yield slot
        finally:
            holder.close()
        return
    where = str(first) if first == last else f"{first} to {last}"
    raise SlotsTakenError(f"slot {where} of the jail is in use by another run")


@contextmanager
def hold_local_slot() -> Iterator[int]:
    """Hold a slot for the command line."""
    with hold_slot(LOCAL_SLOT_FIRST, SLOT_MAX) as slot:
        yield slot
