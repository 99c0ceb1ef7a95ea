"""Finds things that a run left on the machine or in the worker, such as processes, control groups, files and mounts.

A run executes an untrusted library in a jail (a sandbox), and may leave nothing behind. The worker is the process that
starts the run. The battery of attacks uses this module after every case.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.output_file import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FIRST_UID = 60_000
HOST_FILE = Path("/tmp/keydrome-battery")  # noqa: S108 - where hostile libraries look for it
HOST_TEXT = "a file of the host\n"
TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True)
class Before:
    """The state of the machine before a run. The run must leave `folders` empty.

    A slot is a number that gives a jail its own user and control groups; `slots` are those that the run uses.
    """

    slots: tuple[int, ...]
    folders: tuple[Path, ...]
    mounts: frozenset[str]
    descriptors: frozenset[str]

    def left(self, timeout_seconds: float = TIMEOUT_SECONDS) -> list[str]:
        """Return what the run left; wait up to `timeout_seconds` for things that disappear by themselves."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            found = list(self._left())
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(0.02)

    def damage(self) -> list[str]:
        """Return what the run changed, although the jail must prevent it."""
        if _host_file_is_right():
            return []
        return [f"the host's file {HOST_FILE} was changed or deleted, which the jail must prevent"]

    def faults(self) -> list[str]:
        """Return what the run left and changed, as messages."""
        return [*(f"left on the machine: {what}" for what in self.left()), *self.damage()]

    def _left(self) -> Iterator[str]:
        yield from (f"process {what}" for what in processes(self.slots))
        yield from (f"control group {path}" for path in control_groups(self.slots))
        yield from (f"file {path}" for folder in self.folders for path in folder.glob("*"))
        yield from (f"mount {line}" for line in _mounts() - self.mounts)
        yield from (f"shared memory {line}" for line in shared_memory(self.slots))
        yield from (f"descriptor {what}" for what in _descriptors() - self.descriptors)


def look(slots: Iterable[int], folders: Iterable[Path]) -> Before:
    """Record the state of the machine before a run, and write the file that hostile libraries try to change."""
    if not _host_file_is_right():  # a battery of another clone may use the same file
        write_file(HOST_FILE, HOST_TEXT)
    return Before(tuple(slots), tuple(folders), _mounts(), _descriptors())


def _host_file_is_right() -> bool:
    return HOST_FILE.is_file() and HOST_FILE.read_text() == HOST_TEXT


def processes(slots: Iterable[int]) -> list[str]:
    """Return the processes of the slots' users, including zombies."""
    users = {FIRST_UID + slot for slot in slots}
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if entry.stat().st_uid in users:
                found.append(f"{entry.name} {(entry / 'comm').read_text().strip()}")
        except (FileNotFoundError, ProcessLookupError):
            continue  # the process has ended since the folder was listed
    return found


def control_groups(slots: Iterable[int]) -> list[Path]:
    """Return the existing control groups of the slots."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    places = {Path(line.split()[4]) for line in lines if " - cgroup" in line}
    groups = [place / f"keydrome-slot-{slot}" for place in places for slot in slots]
    return sorted(group for group in groups if group.exists())


def _mounts() -> frozenset[str]:
    return frozenset(Path("/proc/self/mountinfo").read_text().splitlines())


def shared_memory(slots: Iterable[int]) -> list[str]:
    """Return the System V shared memory, semaphores and message queues of the slots' users."""
    users = {str(FIRST_UID + slot) for slot in slots}
    return [
        " ".join(line.split())
        for kind in ("shm", "sem", "msg")
        for line in Path("/proc/sysvipc", kind).read_text().splitlines()
        if users & set(line.split())
    ]


def _descriptors() -> frozenset[str]:
    """Return the open files of this process, except those of the database, which change all the time."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except FileNotFoundError:
            continue  # the descriptor that reads this folder
        if "sqlite" not in target:
            found.add(f"{entry.name} {target}")
    return frozenset(found)
