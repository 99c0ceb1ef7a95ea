"""Tests of tools/reports/structure_profile.py and callgrind.py, which count what the structures do per operation.

callgrind's output is read with names that are written once, with costs without trailing zeros, and by the loops of
structure_bench. The page shows only loops that were measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools.reports.callgrind import Cost, inclusive_costs, simulated_caches
from tools.reports.structure_profile import (
    OPERATIONS,
    SCANS,
    Profile,
    costs_of,
    page,
    times_of,
)

if TYPE_CHECKING:
    from pathlib import Path

EVENTS = "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim"
SUBJECT = "keydrome::bench::StructureSubject"
LOOK_UP = f"{SUBJECT}::look_up(keydrome::bench::Queries const&)"
SCAN = f"{SUBJECT}::scan(keydrome::bench::Queries const&, unsigned int)"
LOAD = f"{SUBJECT}::load(keydrome::bench::Keys const&)"
# main calls load once and look_up twice. look_up calls find, whose costs are part of those of look_up.
OUTPUT = f"""version: 1
positions: line
{EVENTS}

fl=(1) bench.cc
fn=(1) main
16 5
cfn=(2) {LOAD}
calls=1 0
16 2000 10 10 0 400 100
cfi=(2) subject.cc
cfn=(3) {LOOK_UP}
calls=1 0
+1 {OPERATIONS * 300} 9 9 9 {OPERATIONS * 2} {OPERATIONS} 0 {OPERATIONS} 0 7 {OPERATIONS * 3} 0 {OPERATIONS}
cfn=(3)
calls=1 0
* {OPERATIONS * 100} 9 9 9 0 {OPERATIONS}
cfn=(4) {SCAN}
calls=1 0
* {SCANS * 100 * 40}

fn=(3)
16 3
cfn=(5) find
calls=4 0
* 44 1

totals: 1 2 3
"""


def test_costs_are_means_of_the_calls_with_all_that_they_call() -> None:
    costs = inclusive_costs(OUTPUT)
    assert costs["find"] == Cost(11, 0, 0, 0)
    assert costs[LOAD] == Cost(2000, 0, 500, 0)
    found = costs[LOOK_UP].per(OPERATIONS)
    assert found == Cost(instructions=200, mispredicted=2, first_misses=2, last_misses=0.5)
    assert "main" not in costs


def test_costs_of_loops_are_those_per_operation() -> None:
    costs = costs_of(OUTPUT, count=100)
    assert set(costs) == {"insert", "lookup", "scan"}
    assert costs["insert"].instructions == 20
    assert costs["lookup"].instructions == 200
    assert costs["scan"].instructions == 40


def test_the_name_of_a_peer_may_contain_templates() -> None:
    peer = LOAD.replace("StructureSubject", "MapSubject<absl::btree_map<unsigned long, (x)>, K>")
    assert costs_of(OUTPUT.replace(LOAD, peer), count=100)["insert"].instructions == 20


def test_times_are_those_of_the_fastest_round() -> None:
    times = times_of({"lookup": [30.0, 20.0, 25.0], "scan": [400.0, 300.0], "peer": False})
    assert times == {"lookup": 20.0, "scan": 3.0}


def cache(folder: Path, number: int, *facts: str) -> None:
    """Write the description of a cache, as the kernel does: level, type, size, ways and line size."""
    place = folder / f"index{number}"
    place.mkdir()
    names = ("level", "type", "size", "ways_of_associativity", "coherency_line_size")
    for name, fact in zip(names, facts, strict=True):
        (place / name).write_text(f"{fact}\n")


def test_the_simulated_caches_have_the_sizes_of_the_machine(tmp_path: Path) -> None:
    cache(tmp_path, 0, "1", "Data", "32K", "8", "64")
    cache(tmp_path, 1, "1", "Instruction", "64K", "4", "64")
    cache(tmp_path, 2, "2", "Unified", "1024K", "8", "64")
    # 24,576 sets, which is not a power of two.
    cache(tmp_path, 3, "3", "Unified", "24576K", "16", "64")
    assert simulated_caches(tmp_path) == [
        "--I1=65536,4,64",
        "--D1=32768,8,64",
        "--LL=16777216,16,64",
    ]
    assert simulated_caches(tmp_path / "missing") == []


@pytest.mark.parametrize("loop", ["lookup", "chained"])
def test_the_page_has_a_row_for_each_measured_loop(loop: str) -> None:
    cost = Cost(instructions=1234.4, mispredicted=0.5, first_misses=2.25, last_misses=0.01)
    times = {"chained": 60.0, "lookup": 60.0}
    one = Profile("btree", ns=times, costs={loop: cost}, megabytes=2.5, floor=20.0)
    text = page({("int", 100_000): [one]})
    title = {"lookup": "lookup", "chained": "chained lookup"}[loop]
    assert f"| {title} | btree | 60.0 | 1,234 | 0.50 | 2.25 | 0.01 |" in text
    assert "| btree | 2.5 | 20.0 | 3.0 |" in text
    assert text.count("| btree |") == 2
    assert "## Integers: 8 bytes, random, 100,000 keys" in text
