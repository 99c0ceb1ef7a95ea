"""Measures how long a contestant waits: `keydrome bench` and `keydrome check` of the structure `btree` at smoke scale.

Each repetition runs the commands in turn on a pseudo terminal, and also a Python program that only computes. A slow
machine makes all of them slower, so its time says how fast the machine is. A *silence* is a time in which a command
shows nothing new (tools/silence.py). The commands run once before, because Python keeps the compiled form of a module
after its first use. Needs root, for the jail (sandbox):
`sudo .venv/bin/python -m tools.bench.contestant_loop`.
"""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tools.bench.figures import Row, parse_arguments, publish
from tools.silence import run, silences

if TYPE_CHECKING:
    from collections.abc import Sequence

REPETITIONS = 5
SILENCE_AT_MOST_S = 2.0
KEYDROME = str(Path(sys.executable).parent / "keydrome")


@dataclass(frozen=True)
class Command:
    """A command that a contestant waits for, and how long it should take at most."""

    title: str
    arguments: tuple[str, ...]
    at_most_s: float


COMMANDS = (
    Command("keydrome bench btree, smoke scale", ("bench", "btree", "--scale", "smoke"), 1.0),
    Command("keydrome check btree, smoke scale", ("check", "btree", "--scale", "smoke"), 6.0),
)
COMPUTING = "sum(range(10**8))"


def main() -> None:
    """Measure the commands, and publish medians and the longest silence."""
    options = parse_arguments(__doc__, REPETITIONS)
    seconds: dict[str, list[float]] = {one.title: [] for one in COMMANDS}
    quiet: dict[str, list[float]] = {one.title: [] for one in COMMANDS}
    computing = []
    # With this variable, which some containers set, Python would compile every module again in every command.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for one in COMMANDS:
        run([KEYDROME, *one.arguments])
    for _ in range(options.repetitions):
        computing.append(run([sys.executable, "-c", COMPUTING])[1])
        for one in COMMANDS:
            output, took, status = run([KEYDROME, *one.arguments])
            if status != 0:
                raise SystemExit(
                    f"`{shlex.join([KEYDROME, *one.arguments])}` ended with status {status}, so there are no times: "
                    "run this command to see why"
                )
            seconds[one.title].append(took)
            quiet[one.title].append(silences(output, took)[0].seconds)
    rows = []
    for one in COMMANDS:
        rows.append(_row(one.title, seconds[one.title], median(seconds[one.title]), one.at_most_s))
        longest = max(quiet[one.title])
        title = f"{one.title}: longest time without new output"
        rows.append(_row(title, quiet[one.title], longest, SILENCE_AT_MOST_S))
    rows.append(
        Row("for comparison: Python adds the numbers below a hundred million", _value(computing))
    )
    publish("How long a contestant waits", rows, options.json)


def _row(title: str, values: Sequence[float], measured: float, at_most_s: float) -> Row:
    return Row(
        title, _value(values), f"at most {at_most_s:g} s", measured=measured, at_most=at_most_s
    )


def _value(values: Sequence[float]) -> str:
    return f"median {median(values):.2f} s ({min(values):.2f} to {max(values):.2f}, {len(values)} times)"


if __name__ == "__main__":
    main()
