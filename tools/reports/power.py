"""Measures how small a difference `keydrome compare` finds: `python -m tools.reports.power --write`, as root.

Runs one long comparison of a library, the same file under another name, and copies of it whose calls on data take 5,
10 and 20 % longer (tests/faulty/slowed.cc). Then judges every window of fifteen successive blocks as a comparison of
its own; in a block every library plays the same operations once. The windows overlap, so the measured shares are less
certain than the number of windows suggests.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from results.stats.pairs import Relation, compare
from tools.reports import gate_run
from tools.reports.gate_run import ROOT

PAGE = ROOT / "docs" / "reference" / "power.md"
BLOCKS = 100
WINDOW = 15
BENCHMARK, INSTANCE, SCALE = "insert_ratio", "inserts_20", "laptop"
THREADS, RECORDS = "2", "20000"
BASE, SAME = "slowed_0", "the_same"
SLOWED_PERCENT = (0, 5, 10, 20)
_COLUMNS = (
    "the other library",
    "ratio of all blocks",
    "windows",
    "found ahead",
    "found apart (beyond 3 %)",
    "found equal",
    "other found ahead (wrong)",
)


@dataclass(frozen=True, slots=True)
class Found:
    """The results of all windows for the base and one other library."""

    other: str
    ratio: float  # of all blocks: base / other
    windows: int
    ahead: int  # the base is ahead, or apart
    apart: int  # the base is apart
    wrong: int  # the other leads
    equal: int


def main() -> int:
    """Measure, or judge an earlier measurement; return 0 if there were enough blocks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=BLOCKS, help=f"{WINDOW} to 100")
    parser.add_argument(
        "--json", type=Path, help="judge this result of compare instead of running one"
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    result = json.loads(options.json.read_text()) if options.json else measure(options.blocks)
    blocks = [block["values"] for block in result["blocks"] if not block["void"]]
    if len(blocks) < WINDOW:
        sys.stderr.write(
            f"only {len(blocks)} blocks count, but {WINDOW} are needed; run the program again\n"
        )
        return 1
    others = [SAME, *(f"slowed_{percent}" for percent in SLOWED_PERCENT[1:])]
    text = page(result, [judge(blocks, other) for other in others])
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


def measure(blocks: int) -> dict[str, Any]:
    """Run the comparison and return its result."""
    built = ROOT / "build" / "release" / "lib" / "faulty"
    with tempfile.TemporaryDirectory() as folder:
        files = [shutil.copy(built / f"slowed_{percent}.so", folder) for percent in SLOWED_PERCENT]
        files.append(shutil.copy(built / f"{BASE}.so", Path(folder) / f"{SAME}.so"))
        written = Path(folder) / "compare.json"
        command = [str(ROOT / ".venv" / "bin" / "keydrome"), "compare", *map(str, files)]
        command += ["--keep-same", "--sessions", str(blocks), "--json", str(written)]
        command += ["--benchmark", BENCHMARK, "--instance", INSTANCE]
        command += ["--scale", SCALE, "--threads", THREADS, "-p", f"records={RECORDS}"]
        subprocess.run(command, cwd=ROOT, check=True)
        result: dict[str, Any] = json.loads(written.read_text())
        return result


def judge(blocks: list[dict[str, float]], other: str) -> Found:
    """Judge every window of blocks by itself, comparing the base with one other library."""
    pairs = []
    for start in range(len(blocks) - WINDOW + 1):
        window = blocks[start : start + WINDOW]
        values = {name: [block[name] for block in window] for name in (BASE, other)}
        pairs.append(compare(values, lower_is_better=True).pairs[0])
    return Found(
        other=other,
        ratio=median(block[BASE] / block[other] for block in blocks),
        windows=len(pairs),
        ahead=sum(pair.leader == BASE for pair in pairs),
        apart=sum(pair.leader == BASE and pair.relation is Relation.APART for pair in pairs),
        wrong=sum(pair.leader == other for pair in pairs),
        equal=sum(pair.relation is Relation.EQUAL for pair in pairs),
    )


def page(result: dict[str, Any], found: list[Found]) -> str:
    """Return the page."""
    counted = [block for block in result["blocks"] if not block["void"]]
    changes = [
        max(one, 1 / one)
        for block in counted
        for one in [block["control_last"] / block["control_first"]]
    ]
    commit, count = gate_run.commit(), len(counted)
    lines = [
        "# What fifteen sessions find on this machine",
        "",
        f"Written by `python -m tools.reports.power --write` at commit {commit}; do not edit. The experiment shows",
        "how small a difference `keydrome compare` finds. It compares a library with itself under another name,",
        "and with copies in which calls on records take 5, 10 and 20 % longer.",
        "",
        f"Workload: {BENCHMARK}/{INSTANCE} at {SCALE} scale with {THREADS} threads and {RECORDS} records. {count}",
        f"of {len(result['blocks'])} blocks count; in a block every library runs once. Within a block, the time of the",
        f"control library changed by a factor of {median(changes):.2f} in the median and {max(changes):.2f} at most.",
        "The machine is virtual, on a shared host. Every fifteen successive blocks (a *window*) were judged as a",
        "comparison of their own, so the windows overlap. The percentages are shares of the windows.",
        "docs/explanation/judging-numbers.md has the same figures for a simulated quiet desktop.",
        "",
        f"| {' | '.join(_COLUMNS)} |",
        "|---" * len(_COLUMNS) + "|",
    ]
    for one in found:
        shares = [one.ahead, one.apart, one.equal, one.wrong]
        cells = " | ".join(f"{100 * share / one.windows:.0f} %" for share in shares)
        lines.append(f"| {_name(one.other)} | {one.ratio:.3f} | {one.windows} | {cells} |")
    lines += [
        "",
        "A ratio is the time of the library divided by the time of the other library. In the first row both are the",
        "same file, so every difference found there is wrong.",
    ]
    return "\n".join(lines) + "\n"


def _name(other: str) -> str:
    return "the same file" if other == SAME else f"{other.removeprefix('slowed_')} % slower"


if __name__ == "__main__":
    raise SystemExit(main())
