"""The contract's own test must refuse the runtime with a fault in it, and accept the same library without.

faulty/mutants.json describes the faults. What `contract_test` cannot show (a race, a fault after 100,000 commits) has
an empty `contract_test` there and is for the checker of recorded runs to find.
"""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.referee_run import ROOT

MUTANTS = json.loads((ROOT / "tests" / "faulty" / "mutants.json").read_text())
# Found by waiting for a call that never comes back, 20 s each.
HANGING = {27, 28}
FOUND = [
    (mutant["number"], mutant["contract_test"])
    for mutant in MUTANTS
    if mutant["contract_test"]
    and (mutant["number"] not in HANGING or "KEYDROME_SOAK" in os.environ)
]


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
    assert numbers == sorted(set(numbers))
    for mutant in MUTANTS:
        source = (ROOT / "runtime" / mutant["source"]).read_text()
        number = mutant["number"]
        assert f"mutant({number})" in source or f"mutant_strikes<{number}>" in source, number
        assert mutant["names"], number
        assert mutant["fault"], number
