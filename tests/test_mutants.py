"""Tests that every mutant is refused. A mutant is the runtime with one deliberate fault.

The runtime is the code that adds transactions to a data structure.
Two kinds of tests can refuse a mutant. One is the program contract_test (indexes/tests), which calls a library
directly. The other is the gate: the correctness benchmarks that a library must pass before it is ranked.
faulty/mutants.json describes the mutants, and faulty/mutants/ has the patches that make the faults.
Fields of mutants.json:
 - `contract_test` names the contract's tests that find the fault. It is empty if these tests cannot find it, as with a
   race or a fault after 100,000 commits.
 - `gate` names the run of the gate that finds the fault. Without this field, the run is the benchmark `isolation`. The
   value null means that no run finds the fault reliably. Two mutants have null, and the builds with sanitizers find
   their faults (sanitized/).
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.referee_run import (
    ROOT,
    SEEDS,
    Case,
    finding_names,
    require_root_and_build,
    run_case,
)
from tools import refresh_mutants

if TYPE_CHECKING:
    from pathlib import Path

MUTANTS = json.loads((ROOT / "tests" / "faulty" / "mutants.json").read_text())
# The contract's test finds these mutants only by waiting 20 s for a call that never returns.
HANGING = {27, 28}
FOUND = [
    (mutant["number"], mutant["contract_test"])
    for mutant in MUTANTS
    if mutant["contract_test"]
    and (mutant["number"] not in HANGING or "KEYDROME_SOAK" in os.environ)
]


# Up to this many seeds are tried for each fault. The kernel schedules the threads, so one run may miss the fault, or
# show another consequence of it first.
SEEDS_MAX = 5


def gate_case(mutant: dict[str, Any], seed: str) -> Case:
    """Return the run that must find a mutant: the field `gate`, or without this field the benchmark `isolation`."""
    gate = mutant.get("gate", {})
    return Case(
        f"mutant_{mutant['number']:02d}",
        gate.get("benchmark", "isolation"),
        gate.get("instance", "isolation"),
        parameters=gate.get("parameters", {}),
        phase_timeout_ms=gate.get("phase_timeout_ms", 10_000),
        record=gate.get("record", False),
        seed=seed,
    )


@pytest.mark.parametrize(
    "mutant",
    [m for m in MUTANTS if m.get("gate", True)],
    ids=lambda mutant: f"M{mutant['number']}",
)
@pytest.mark.parametrize("start", range(0, len(SEEDS) * SEEDS_MAX, SEEDS_MAX))
def test_the_gate_has_an_expected_finding_for_a_mutant(
    mutant: dict[str, Any], start: int, tmp_path: Path
) -> None:
    require_root_and_build()
    found: list[set[str]] = []
    for seed in range(start, start + SEEDS_MAX):
        report = run_case(gate_case(mutant, f"5eed5eed5eed{seed:04x}"), tmp_path)
        found.append(finding_names(report) or {report["verdict"]})
        if found[-1] & set(mutant["names"]):
            return
    pytest.fail(
        f"no run had an expected finding (`names` in mutants.json); the runs had {found}: "
        "correct the benchmark, or the fields `gate` and `names` of this mutant"
    )


def contract_test(number: int, tests: str) -> subprocess.CompletedProcess[str]:
    """Run some tests of the contract against a mutant."""
    program = ROOT / "build" / "release" / "tests" / "contract_test"
    library = ROOT / "build" / "release" / "lib" / "faulty" / f"mutant_{number:02d}.so"
    assert library.exists(), f"{library} is missing: run ./dev build"
    command = [str(program), "--library", str(library), f"--gtest_filter={tests}"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(("number", "tests"), FOUND)
def test_a_mutant_is_refused(number: int, tests: str) -> None:
    done = contract_test(number, tests)
    hung = number in HANGING and "hangs" in done.stderr
    assert hung or (done.returncode == 1 and "FAILED" in done.stdout), done.stdout[-2000:]


def test_the_same_library_without_a_fault_is_accepted() -> None:
    done = contract_test(0, "Required*")
    assert done.returncode == 0, done.stdout[-2000:]


def test_every_mutant_says_what_it_breaks() -> None:
    numbers = [mutant["number"] for mutant in MUTANTS]
    assert numbers == list(range(1, 56))
    for mutant in MUTANTS:
        number = mutant["number"]
        assert mutant["names"], number
        assert mutant["fault"], number


def test_every_patch_is_a_mutant_and_applies_to_the_product() -> None:
    patches = sorted(refresh_mutants.FOLDER.glob("*.patch"))
    assert {patch.stem for patch in patches} == {mutant["patch"] for mutant in MUTANTS}
    for patch in patches:
        assert refresh_mutants.changed_file(patch).startswith("runtime/"), patch.name
        stale = f"{patch.name} is out of date: run python -m tools.refresh_mutants"
        assert refresh_mutants.refreshed(patch) == patch.read_text(), stale


def test_the_product_has_no_trace_of_mutants() -> None:
    sources = [p for p in (ROOT / "runtime").rglob("*") if p.suffix in {".h", ".cc"}]
    assert [str(path) for path in sources if "mutant" in path.read_text().lower()] == []
