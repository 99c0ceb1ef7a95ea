"""The processes that this one, or another, has started, by their names: referee, jail, jail-init, player."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """A process and its name."""

    pid: int
    name: str

    def kill(self) -> bool:
        """Kill it -9; False when it was gone already."""
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True


def descendants(root: int | None = None) -> list[Process]:
    """Return what a process (this one by default) has started and still runs, parents first."""
    children: dict[int, list[Process]] = {}
    for pid, parent, name in _all():
        children.setdefault(parent, []).append(Process(pid, name))
    found = []
    left = [os.getpid() if root is None else root]
    while left:
        started = children.get(left.pop(0), [])
        found += started
        left += [process.pid for process in started]
    return found


def _all() -> list[tuple[int, int, str]]:
    """Return pid, parent and name of every process."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text(errors="replace")
        except OSError:  # it ended meanwhile
            continue
        head, _, tail = stat.rpartition(")")  # a name may hold anything
        state, parent = tail.split()[:2]
        if state != "Z":
            found.append((int(entry.name), int(parent), head.partition("(")[2]))
    return found
