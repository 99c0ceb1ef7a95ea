"""Measures what `keydrome compare` finds on this machine: `python -m tools.reports.power --write`, as root.

`keydrome compare` says which of two libraries is faster. It measures blocks: in a block every library plays the same
operations once. A *window* is one whole comparison as a user makes it, of fifteen blocks; no two windows share a block.
There are two kinds of windows:

- The steps: a library, the same file under another name, and copies of it whose calls on data take 5, 10 and 20 %
  longer (tests/faulty/slowed.cc), on one small instance. They show how small a difference `compare` finds.
- The boards: the library and the same file under another name, on the instance of every board (ranking). Every
  difference that `compare` finds there is wrong.

Each block also times the control library (the baseline), first and last. A window during which the machine was too busy
to measure (runner/drift.py) is not judged. It counts only in the number of all windows and in the figures on how much
the control library's time changed. With --state the program stores the windows, and continues after an interruption.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from results.stats.pairs import Relation, compare
from runner.drift import why_too_busy
from runner.output_file import output_path, write_file
from tools.reports.gate_run import ROOT
from tools.reports.made import made_line

PAGE = ROOT / "docs" / "reference" / "power.md"
BOARDS = ROOT / "leaderboard" / "boards"
SESSIONS = 15
STEP_WINDOWS, BOARD_ROUNDS = 20, 2
STEPS = "steps"  # the name of the windows of the first kind; a window of the second kind is named by its instance
STEPS_TARGET = ("insert_ratio", "inserts_20")
STEPS_OPTIONS = ("--threads", "2", "-p", "records=20000")
BASE, SAME = "slowed_0", "the_same"
SLOWED_PERCENT = (5, 10, 20)
_COLUMNS = (
    "the other library",
    "ratio",
    "windows",
    "found ahead",
    "found apart (beyond 3 %)",
    "found equal",
    "other library found ahead (wrong)",
)
# The blocks of a window as `keydrome compare --json` writes them.
Blocks = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Found:
    """The results of all windows for the base (the library that is not slowed) and one other library.

    The base is *ahead* if it is surely faster, and *apart* if it is surely more than 3 % faster.
    """

    other: str
    ratio: float  # base / other, the median over all blocks
    windows: int
    ahead: int  # the base is ahead, or apart
    apart: int  # the base is apart
    wrong: int  # the other library is ahead, although it is not faster
    equal: int


def main() -> int:
    """Measure every window that is not in the state; return 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--windows",
        type=int,
        default=STEP_WINDOWS,
        help=f"number of comparisons of libraries that are slowed on purpose; default: {STEP_WINDOWS}",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=BOARD_ROUNDS,
        help=f"number of comparisons on the instance of each board; default: {BOARD_ROUNDS}",
    )
    parser.add_argument(
        "--scale",
        default="laptop",
        help="size of the sessions: smoke, laptop or paper; default: laptop",
    )
    parser.add_argument(
        "--state",
        type=output_path,
        help="JSON file that keeps the results, so that a later start continues from them",
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    known: dict[str, list[Blocks]] = {}
    if options.state and options.state.is_file():
        known = json.loads(options.state.read_text())
    wanted = [STEPS] * options.windows + board_instances() * options.rounds
    for number, name in enumerate(wanted, start=1):
        windows = known.setdefault(name, [])
        if len(windows) >= wanted[:number].count(name):
            continue
        sys.stdout.write(
            f"comparison {number} of {len(wanted)}: {'slowed libraries' if name == STEPS else name}\n"
        )
        sys.stdout.flush()
        windows.append(measure(name, options.scale))
        if options.state:
            write_file(options.state, json.dumps(known))
    text = page(known, options.scale)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


def board_instances() -> list[str]:
    """Return the instances on which the boards rank, as BENCHMARK/INSTANCE."""
    found = [json.loads(path.read_text()) for path in sorted(BOARDS.glob("*/board.json"))]
    return list(dict.fromkeys(f"{board['benchmark']}/{board['instance']}" for board in found))


def measure(name: str, scale: str) -> Blocks:
    """Run one window, and return its blocks."""
    built = ROOT / "build" / "release" / "lib" / "faulty"
    percents = SLOWED_PERCENT if name == STEPS else ()
    benchmark, instance = STEPS_TARGET if name == STEPS else name.split("/")
    with tempfile.TemporaryDirectory() as folder:
        names = [*(f"slowed_{percent}" for percent in (0, *percents)), SAME]
        files = [Path(folder) / f"{name}.so" for name in names]
        for file in files:
            source = BASE if file.stem == SAME else file.stem
            shutil.copy(built / f"{source}.so", file)
        written = Path(folder) / "compare.json"
        command = [str(ROOT / ".venv" / "bin" / "keydrome"), "compare", *map(str, files)]
        command += ["--keep-same", "--sessions", str(SESSIONS), "--json", str(written)]
        command += ["--benchmark", benchmark, "--instance", instance, "--scale", scale]
        command += STEPS_OPTIONS if name == STEPS else ()
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        blocks: Blocks = json.loads(written.read_text())["blocks"]
        return blocks


def changes(blocks: Blocks) -> list[float]:
    """Return, for each block, log(last / first) of the times of the control library, which runs first and last."""
    return [math.log(block["control_last"] / block["control_first"]) for block in blocks]


def quiet(windows: list[Blocks]) -> list[list[dict[str, float]]]:
    """Return the values of each window during which the machine was not too busy, without its discarded blocks."""
    return [
        [block["values"] for block in blocks if not block["void"]]
        for blocks in windows
        if not why_too_busy(changes(blocks))
    ]


def judge(windows: list[list[dict[str, float]]], other: str) -> Found:
    """Judge each window by itself, comparing the base with one other library."""
    pairs = []
    for window in windows:
        values = {name: [block[name] for block in window] for name in (BASE, other)}
        pairs.append(compare(values, lower_is_better=True).pairs[0])
    ratios = [block[BASE] / block[other] for window in windows for block in window]
    return Found(
        other=other,
        ratio=median(ratios) if ratios else math.nan,
        windows=len(pairs),
        ahead=sum(pair.leader == BASE for pair in pairs),
        apart=sum(pair.leader == BASE and pair.relation is Relation.APART for pair in pairs),
        wrong=sum(pair.leader == other for pair in pairs),
        equal=sum(pair.relation is Relation.EQUAL for pair in pairs),
    )


def page(known: dict[str, list[Blocks]], scale: str) -> str:
    """Return the page."""
    boards = {name: windows for name, windows in known.items() if name != STEPS}
    steps = known.get(STEPS, [])
    lines = [
        "# What a comparison of fifteen blocks finds on this machine",
        "",
        f"Written by `python -m tools.reports.power --write` at {scale} scale; do not edit. {made_line()}",
        "This page shows how small a difference `keydrome compare` finds, and how often it finds one that does not",
        "exist. A *window* is one comparison of fifteen blocks; in a block every library runs once. No two windows",
        "share a block. A window in which the machine was too busy to measure on is not counted. A library is *ahead*",
        "if it is surely faster, and *apart* if it is surely more than 3 % faster.",
        f"The load average was {os.getloadavg()[0]:.1f} at the end.",
        "docs/explanation/judging-numbers.md has the same figures for a simulated desktop without other load.",
        "",
        "## Libraries that differ by a known amount",
        "",
        f"Workload: {'/'.join(STEPS_TARGET)} with {' '.join(STEPS_OPTIONS)}. {_counts(steps)}",
        "The base is the library that is not slowed. A ratio is the median, over all blocks, of the time of the base",
        "divided by the time of the other library. The percentages are shares of the windows. In the first row both",
        "libraries are the same file, so every difference that `compare` reports is wrong.",
        "",
        _table_row(_COLUMNS),
        "|---" * len(_COLUMNS) + "|",
    ]
    others = [SAME, *(f"slowed_{percent}" for percent in SLOWED_PERCENT)]
    lines += [_row(judge(quiet(steps), other), _name(other)) for other in others]
    lines += [
        "",
        "## The same file twice, on the instances of the boards",
        "",
        f"{_counts([window for windows in boards.values() for window in windows])} Every reported difference is wrong.",
        "",
        _table_row(("instance", *_COLUMNS[1:], "median change of the control")),
        "|---" * (len(_COLUMNS) + 1) + "|",
    ]
    for name, windows in boards.items():
        moves = [abs(change) for blocks in windows for change in changes(blocks)]
        noise = f" {100 * math.expm1(median(moves)):.0f} % |" if moves else " - |"
        lines.append(_row(judge(quiet(windows), SAME), name) + noise)
    together = judge([window for windows in boards.values() for window in quiet(windows)], SAME)
    lines.append(_row(together, "*all*") + " |")
    return "\n".join(lines) + "\n"


def _counts(windows: list[Blocks]) -> str:
    counted = len(quiet(windows))
    text = f"{counted} of {len(windows)} windows count."
    moves = [abs(change) for blocks in windows for change in changes(blocks)]
    if not moves:
        return text
    return (
        f"{text} Each block times the control library (the baseline) first and last.\n"
        "Between these two, its time changed by a factor of "
        f"{math.exp(median(moves)):.2f} in the median and {math.exp(max(moves)):.2f} at most."
    )


def _row(one: Found, title: str) -> str:
    shares = (one.ahead, one.apart, one.equal, one.wrong)
    if not one.windows:
        return _table_row((title, "-", "0", *("-" for _ in shares)))
    percents = (f"{100 * share / one.windows:.0f} %" for share in shares)
    return _table_row((title, f"{one.ratio:.3f}", str(one.windows), *percents))


def _table_row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _name(other: str) -> str:
    return "the same file" if other == SAME else f"{other.removeprefix('slowed_')} % slower"


if __name__ == "__main__":
    raise SystemExit(main())
