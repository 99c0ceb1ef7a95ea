"""Measures how long a command shows nothing new on a terminal: `python -m tools.silence COMMAND ARGUMENT...`.

The command runs on a pseudo terminal. A line that is drawn again with the same text is not new. A line whose clock has
advanced is new. The program prints the longest silences, each with the text before it. Run it alone on the machine.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN = 3
_BYTES = 1 << 16
_TAIL = 90
# Matches what a terminal does not show: control sequences and line ends.
_INVISIBLE = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]|[\r\n]")


@dataclass(frozen=True, slots=True)
class Silence:
    """A time in which nothing new appears. `start_s` counts from the start of the command."""

    seconds: float
    start_s: float
    before: str  # the text that appeared last


def silences(output: Sequence[tuple[float, bytes]], end_s: float) -> list[Silence]:
    """Return the silences of a command, the longest first.

    `output` has what the command wrote, with times in seconds since its start; `end_s` is the time of its end.
    """
    news: list[tuple[float, str]] = [(0.0, "")]
    for at, written in output:
        text = _INVISIBLE.sub(b"", written).decode("utf-8", "replace").strip()
        if text not in {"", news[-1][1]}:
            news.append((at, text))
    news.append((end_s, ""))
    found = [Silence(after - before, before, text) for (before, text), (after, _) in pairwise(news)]
    return sorted(found, key=lambda one: one.seconds, reverse=True)


def run(command: Sequence[str]) -> tuple[list[tuple[float, bytes]], float, int]:
    """Run a command on a terminal. Return what it wrote, with times, how long it took, and its exit status."""
    began = time.monotonic()
    output: list[tuple[float, bytes]] = []
    process, terminal = pty.fork()
    if process == 0:
        os.environ |= {"TERM": "xterm-256color", "COLUMNS": "120"}
        os.execvp(command[0], list(command))  # noqa: S606 - the developer gives the command
    while written := _read(terminal):
        output.append((time.monotonic() - began, written))
    _, status = os.waitpid(process, 0)
    return output, time.monotonic() - began, os.waitstatus_to_exitcode(status)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, _BYTES)
    except OSError:  # Linux reports the end of the last process on a terminal as an error
        return b""


def main() -> int:
    """Run the command of the arguments, and print its longest silences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, help="the command to measure, with its arguments"
    )
    command = parser.parse_args().command
    if not command:
        parser.error(
            "the command to measure is missing: give it, such as `python -m tools.silence keydrome list`"
        )
    output, seconds, _ = run(command)
    print(f"{seconds:.1f} s: {' '.join(command)}")
    for one in silences(output, seconds)[:SHOWN]:
        print(
            f"  no output for {one.seconds:.2f} s, beginning at {one.start_s:.2f} s, after {one.before[-_TAIL:]!r}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
