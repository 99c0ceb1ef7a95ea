"""Counts what the structures do per operation: `python -m tools.reports.structure_profile --write`, after a build.

The page structures.md compares the structures with containers from packages (the peers), and lists goals. This program
shows what limits the speed. It runs the loops of structure_bench in valgrind's tool callgrind, which counts
instructions, and simulates the caches and the prediction of branches. It also measures the latency of the memory, and
the times without callgrind. `--write` writes docs/reference/structure-profile.md. The program takes about ten minutes.
Install valgrind, libabsl-dev and libtbb-dev before the build.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.machine import machine_facts
from tools.reports.callgrind import Cost, inclusive_costs, simulated_caches
from tools.reports.gate_run import ROOT
from tools.reports.made import made_line
from tools.reports.structures import (
    BUILT,
    ORDERED_PEER,
    STRINGS,
    UNORDERED_PEER,
    add_counts,
    title_of,
)

PAGE = ROOT / "docs" / "reference" / "structure-profile.md"
COUNTS = (100_000, 1_000_000)  # of integers
STRING_COUNT = 100_000  # with more strings, the structures reach their goals
PEERS = (ORDERED_PEER, UNORDERED_PEER)
STRUCTURES = ("btree", "btree_olc", "art", "hash", "bwtree")
OPERATIONS = 20_000  # of a loop in callgrind
SCANS = OPERATIONS // 30  # as many as structure_bench makes
ROUNDS = 7  # of the loops that are timed without callgrind


@dataclass(frozen=True, slots=True)
class Loop:
    """A timed loop of structure_bench."""

    function: str  # the member function of the class Subject
    name: str  # in the results of structure_bench, and for its option --loops
    title: str


LOOPS = (
    Loop("load", "insert", "insert"),
    Loop("look_up", "lookup", "lookup"),
    Loop("chain", "chained", "chained lookup"),
    Loop("batch", "batch", "lookup in a batch"),
    Loop("scan", "scan", "pair of a scan"),
    Loop("mixed", "mixed_threads_1", "lookup and half an update"),
)
_PAIRS = 100  # of a scan


@dataclass(frozen=True, slots=True)
class Profile:
    """One subject, i.e. a structure or a peer, with one number of keys."""

    name: str
    ns: dict[str, float]  # by the name of the loop, per operation or pair
    costs: dict[str, Cost]  # likewise
    megabytes: float
    floor: float  # ns of a dependent load in memory of this size


def main() -> int:
    """Measure, and write the page; return 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_counts(parser, COUNTS)
    parser.add_argument(
        "--strings",
        nargs="*",
        choices=STRINGS,
        default=("ycsb", "email", "url", "random"),
        help=f"sets of {STRING_COUNT:,} strings; default: all sets whose goals are missed",
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is not installed: install the package valgrind")
    tables = [("int", count) for count in options.counts]
    tables += [(keys, STRING_COUNT) for keys in options.strings]
    text = page({(keys, count): profiles(keys, count) for keys, count in tables})
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


def profiles(keys: str, count: int) -> list[Profile]:
    """Measure all subjects with this set and number of keys."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "bench.json"
        run = ["--keys", keys, "--counts", str(count), "--rounds", str(ROUNDS)]
        run += ["--threads", "1", *_loops()]
        _bench(
            [*run, "--peers", ",".join(PEERS), "--json", str(written), *map(_library, STRUCTURES)]
        )
        subjects: dict[str, Any] = json.loads(written.read_text())["runs"][0]["subjects"]
        sizes = [round(subjects[name]["resident_bytes_per_key"] * count) for name in subjects]
        _bench(["--latency", ",".join(map(str, sizes)), "--json", str(written)])
        latencies = [one["ns"] for one in json.loads(written.read_text())["latencies"]]
    floors = dict(zip(subjects, zip(sizes, latencies, strict=True), strict=True))
    found = []
    for name in (*PEERS, *STRUCTURES):
        size, floor = floors[name]
        times = times_of(subjects[name])
        found.append(Profile(name, times, simulate(name, keys, count), size / 1e6, floor))
    return found


def times_of(subject: dict[str, Any]) -> dict[str, float]:
    """Return the ns per operation of each loop, or per pair of a scan, in the fastest round."""
    return {
        loop.name: min(subject[loop.name]) / (_PAIRS if loop.name == "scan" else 1)
        for loop in LOOPS
        if loop.name in subject
    }


def simulate(name: str, keys: str, count: int) -> dict[str, Cost]:
    """Run the loops of one subject in callgrind, alone in a process, and return the costs per operation."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "callgrind.out"
        command = ["valgrind", "-q", "--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes"]
        command += [*simulated_caches(), f"--callgrind-out-file={written}"]
        command += [str(BUILT / "bin" / "structure_bench"), "--keys", keys, "--counts", str(count)]
        command += ["--rounds", "1", "--operations", str(OPERATIONS), "--threads", "1", *_loops()]
        command += ["--without-memory"]  # one load of the keys less
        command += ["--peers", name] if name in PEERS else ["--without-peers", _library(name)]
        ended = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        if ended.returncode != 0:
            raise SystemExit(
                f"structure_bench failed in valgrind for {name}: read its message above"
            )
        text = written.read_text(encoding="utf-8")
    return costs_of(text, count)


def costs_of(text: str, count: int) -> dict[str, Cost]:
    """Return the costs per operation, or per pair of a scan, of each loop in an output of callgrind."""
    operations = {loop.name: OPERATIONS for loop in LOOPS}
    operations |= {"insert": count, "scan": SCANS * _PAIRS}
    costs = inclusive_costs(text)
    found = {}
    for loop in LOOPS:
        start = f"::{loop.function}(keydrome::bench::"
        total = [cost for name, cost in costs.items() if start in name and "Subject" in name]
        if total:
            found[loop.name] = total[0].per(operations[loop.name])
    return found


def _loops() -> list[str]:
    return ["--loops", ",".join(loop.name for loop in LOOPS if loop.name != "insert")]


def _library(name: str) -> str:
    return str(BUILT / "lib" / "structures" / f"{name}.so")


def _bench(arguments: list[str]) -> None:
    command = [str(BUILT / "bin" / "structure_bench"), *arguments]
    if subprocess.run(command, cwd=ROOT, check=False, stdout=sys.stderr).returncode != 0:
        raise SystemExit("structure_bench failed: read its message above")


def page(measured: dict[tuple[str, int], list[Profile]]) -> str:
    """Return the page."""
    facts: dict[str, Any] = machine_facts()
    caches = ", ".join(f"`{one}`" for one in simulated_caches())
    lines = [
        "# What the structures do per operation",
        "",
        f"Written by `python -m tools.reports.structure_profile --write`; do not edit. {made_line()}",
        f"Machine: {facts['class']}. Load average at the end: {os.getloadavg()[0]:.1f}.",
        "",
        "This page helps to see why a structure is fast or slow. The comparisons and goals are in",
        "[structures.md](structures.md). The page [missed-goals.md](../explanation/missed-goals.md) explains the",
        "missed goals. Strings are shown with the sets and the number of keys whose goals for scans are missed.",
        "",
        "*Instructions*, *mispredicted* (branches), *L1 misses* and *LL misses* come from valgrind's tool callgrind.",
        "They include all that a loop calls. Each structure or peer ran alone in a process. callgrind counts",
        "instructions. It simulates two levels of caches and a simple prediction of branches. L1 is the first level,",
        "and LL the last one. The options for the caches, with size, ways and line size, are",
        f"{caches}.",
        "Misses are those of data, both reads and writes. The simulation ignores prefetches, so a miss counts even if",
        "a prefetch hides it. Real processors predict branches better. valgrind has no AVX-512, so btree and btree_olc",
        "ran with AVX2 there. Without valgrind they use AVX-512 if the processor has it.",
        "",
        f"*ns* is the time without callgrind, in the fastest of {ROUNDS} rounds. All structures and peers shared a",
        "process. A batch has 64 lookups. A scan has 100 pairs, and the row shows its costs for one pair. In a",
        "chained lookup, the key depends on the result of the previous lookup. In the last loop, every second lookup",
        "also updates the payload, and some keys are much more popular than others.",
        "",
        "The *latency floor* is the time of a load from a random place, if the load before it gives the address. The",
        "loads follow a random cycle through memory of the size of the structure, on pages of 4 KiB. The floor is",
        "the fastest of several chases. If other programs use the caches, all times are longer.",
        "",
    ]
    for (keys, count), found in measured.items():
        lines += [f"## {title_of(keys, count)}", "", *_table(found), "", *_floors(found), ""]
    return "\n".join(lines)


def _table(found: list[Profile]) -> list[str]:
    lines = [
        "| operation | structure or peer | ns | instructions | mispredicted | L1 misses | LL misses |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for loop in LOOPS:
        for one in found:
            cost = one.costs.get(loop.name)
            if cost is None or loop.name not in one.ns:
                continue
            start = (
                f"| {loop.title} | {one.name} | {one.ns[loop.name]:.1f} | {cost.instructions:,.0f}"
            )
            lines.append(
                f"{start} | {cost.mispredicted:.2f} | {cost.first_misses:.2f} | {cost.last_misses:.2f} |"
            )
    return lines


def _floors(found: list[Profile]) -> list[str]:
    return [
        "| structure or peer | resident memory in MB | latency floor in ns | chained lookup / latency floor |",
        "|---|---:|---:|---:|",
        *(
            f"| {one.name} | {one.megabytes:.1f} | {one.floor:.1f} | {one.ns['chained'] / one.floor:.1f} |"
            for one in found
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())
