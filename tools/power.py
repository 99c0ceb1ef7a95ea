"""How small a difference `keydrome compare` finds on this machine: `python -m tools.power --write`, as root.

Compares a library, the same file under another name, and copies of it whose calls on data take 5, 10 and 20 % longer
(tests/faulty/slowed.cc), in one long comparison. Every fifteen blocks in succession are then judged as a comparison of
their own, for each pair by itself. Windows overlap, so that their number says nothing about how sure the shares are.
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

from runner.stats.pairs import Standing, compare
from tools import gate_run
from tools.gate_run import ROOT

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
    "wrongly behind",
)


@dataclass(frozen=True, slots=True)
class Found:
    """What the windows say of the base and one other library."""

    other: str
    ratio: float  # of all blocks: base / other
    windows: int
    ahead: int  # the base is ahead, or apart
    apart: int  # the base is apart
    wrong: int  # the other leads
    equal: int


def main() -> int:
    """Measure, or judge what was measured before; 0 when there was enough to judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=BLOCKS, help=f"{WINDOW} to 100")
    parser.add_argument("--json", type=Path, help="what compare wrote, instead of comparing")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    result = json.loads(options.json.read_text()) if options.json else measure(options.blocks)
    blocks = [block["values"] for block in result["blocks"] if not block["void"]]
    if len(blocks) < WINDOW:
        sys.stderr.write(f"{len(blocks)} blocks count, {WINDOW} are needed; run it again\n")
        return 1
    others = [SAME, *(f"slowed_{percent}" for percent in SLOWED_PERCENT[1:])]
    text = page(result, [judge(blocks, other) for other in others])
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


def measure(blocks: int) -> dict[str, Any]:
    """Run the comparison and return what it wrote."""
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
    """Judge every window of blocks by itself, for the base and one other library alone."""
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
        apart=sum(pair.leader == BASE and pair.standing is Standing.APART for pair in pairs),
        wrong=sum(pair.leader == other for pair in pairs),
        equal=sum(pair.standing is Standing.EQUAL for pair in pairs),
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
        f"Made by `python -m tools.power --write` at commit {commit}; do not edit. A library was compared with itself",
        "under another name, and with copies whose calls on data take 5, 10 and 20 % longer, on",
        f"{BENCHMARK}/{INSTANCE} at {SCALE} scale with {THREADS} threads and {RECORDS} records.",
        f"{count} of {len(result['blocks'])} blocks count; within a block the control changed",
        f"{median(changes):.2f} times in the median and",
        f"{max(changes):.2f} times at most: a virtual machine on a shared host. Each run of fifteen successive blocks",
        "was judged as a comparison by itself; the windows overlap. docs/explanation/judging-numbers.md has the same",
        "for a simulated quiet desktop.",
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
        "Ratios are time of the library / time of the other. In the first row the libraries are one file, so",
        "everything found ahead, apart or behind there is wrong.",
    ]
    return "\n".join(lines) + "\n"


def _name(other: str) -> str:
    return "the same file" if other == SAME else f"{other.removeprefix('slowed_')} % slower"


if __name__ == "__main__":
    raise SystemExit(main())
