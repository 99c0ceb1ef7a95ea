"""What a run may not leave behind, on the machine and in the worker (case E01)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FIRST_UID = 60_000
HOST_FILE = Path("/tmp/keydrome-battery")  # noqa: S108 - where hostile libraries look for it
HOST_TEXT = "a file of the host\n"
PATIENCE_SECONDS = 5.0


@dataclass(frozen=True)
class Before:
    """How the machine looked before a run, in these slots of the jail, with these folders for working files."""

    slots: tuple[int, ...]
    folders: tuple[Path, ...]
    mounts: frozenset[str]
    descriptors: frozenset[str]

    def left(self, patience_seconds: float = PATIENCE_SECONDS) -> list[str]:
        """Return what is there now and was not, or is no more; what only needs a moment to go is given one."""
        deadline = time.monotonic() + patience_seconds
        while True:
            found = list(self._left())
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(0.02)

    def _left(self) -> Iterator[str]:
        yield from (f"process {what}" for what in processes(self.slots))
        yield from (f"control group {path}" for path in control_groups(self.slots))
        yield from (f"file {path}" for folder in self.folders for path in folder.glob("*"))
        yield from (f"mount {line}" for line in _mounts() - self.mounts)
        yield from (f"shared memory {line}" for line in shared_memory(self.slots))
        yield from (f"descriptor {what}" for what in _descriptors() - self.descriptors)
        if not HOST_FILE.is_file() or HOST_FILE.read_text() != HOST_TEXT:
            yield f"the host's file {HOST_FILE} is another"


def look(slots: Iterable[int], folders: Iterable[Path]) -> Before:
    """Look at the machine before a run. Writes the file that hostile libraries would like to change, and leaves it."""
    HOST_FILE.write_text(HOST_TEXT)
    return Before(tuple(slots), tuple(folders), _mounts(), _descriptors())


def processes(slots: Iterable[int]) -> list[str]:
    """Return the processes of the slots' users, dead ones too."""
    users = {FIRST_UID + slot for slot in slots}
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if entry.stat().st_uid in users:
                found.append(f"{entry.name} {(entry / 'comm').read_text().strip()}")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
    return found


def control_groups(slots: Iterable[int]) -> list[Path]:
    """Return the slots' control groups that are there."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    places = {Path(line.split()[4]) for line in lines if " - cgroup" in line}
    groups = [place / f"keydrome-slot-{slot}" for place in places for slot in slots]
    return sorted(group for group in groups if group.exists())


def _mounts() -> frozenset[str]:
    return frozenset(Path("/proc/self/mountinfo").read_text().splitlines())


def shared_memory(slots: Iterable[int]) -> list[str]:
    """Return the System V objects of the slots' users."""
    users = {str(FIRST_UID + slot) for slot in slots}
    return [
        " ".join(line.split())
        for kind in ("shm", "sem", "msg")
        for line in Path("/proc/sysvipc", kind).read_text().splitlines()
        if users & set(line.split())
    ]


def _descriptors() -> frozenset[str]:
    """Return this process's open files; the database's own, which come and go, are left out."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except FileNotFoundError:
            continue  # the one that reads this folder
        if "sqlite" not in target:
            found.add(f"{entry.name} {target}")
    return frozenset(found)
