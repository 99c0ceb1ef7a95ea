"""Lists the running descendants of a process with their names, so that tests can kill one of them by its name."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """A process: its pid and its name, as in /proc/PID/stat."""

    pid: int
    name: str

    def kill(self) -> bool:
        """Kill the process with SIGKILL; return False if the process had already ended."""
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True


def descendants(root: int | None = None) -> list[Process]:
    """Return the running descendants of a process, parents first; the default is the calling process."""
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
        except OSError:  # the process has ended since the folder was listed
            continue
        head, _, tail = stat.rpartition(")")  # a name may contain any character
        state, parent = tail.split()[:2]
        if state != "Z":
            found.append((int(entry.name), int(parent), head.partition("(")[2]))
    return found
