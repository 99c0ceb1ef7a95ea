"""The gate and the contract's own test must refuse the runtime with a fault in it, and accept it without.

faulty/mutants.json describes the faults. What `contract_test` cannot show (a race, a fault after 100,000 commits) has
an empty `contract_test` there; what recorded rounds cannot show has `gate` there, which says who finds it instead: a
script, or a timed run that is recorded, as the lot has some of them recorded (test_lot.py). Two faults show in no
library that runs on this machine for sure; the sanitizers' builds find them (sanitized/).
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

if TYPE_CHECKING:
    from pathlib import Path

MUTANTS = json.loads((ROOT / "tests" / "faulty" / "mutants.json").read_text())
# Found by waiting for a call that never comes back, 20 s each.
HANGING = {27, 28}
FOUND = [
    (mutant["number"], mutant["contract_test"])
    for mutant in MUTANTS
    if mutant["contract_test"]
    and (mutant["number"] not in HANGING or "KEYDROME_SOAK" in os.environ)
]


# The threads' steps are the machine's choice, so a seed may miss, or find what else goes wrong first.
SEEDS_MAX = 5


def gate_case(mutant: dict[str, Any], seed: str) -> Case:
    """Return the run of the gate that is to find a mutant: recorded rounds unless it says otherwise."""
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
def test_the_gate_finds_a_mutant_under_one_of_its_names(
    mutant: dict[str, Any], start: int, tmp_path: Path
) -> None:
    require_root_and_build()
    found: list[set[str]] = []
    for seed in range(start, start + SEEDS_MAX):
        report = run_case(gate_case(mutant, f"5eed5eed5eed{seed:04x}"), tmp_path)
        found.append(finding_names(report) or {report["verdict"]})
        if found[-1] & set(mutant["names"]):
            return
    pytest.fail(f"found as {found}")


def contract_test(number: int, tests: str) -> subprocess.CompletedProcess[str]:
    """Run some tests of the contract against a mutant."""
    program = ROOT / "build" / "release" / "tests" / "contract_test"
    library = ROOT / "build" / "release" / "lib" / "faulty" / f"mutant_{number:02d}.so"
    assert library.exists(), f"{library} is missing: ./dev build"
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
    assert numbers == list(range(1, 46))
    for mutant in MUTANTS:
        source = (ROOT / "runtime" / mutant["source"]).read_text()
        number = mutant["number"]
        assert f"mutant({number})" in source or f"mutant_strikes<{number}>" in source, number
        assert mutant["names"], number
        assert mutant["fault"], number
