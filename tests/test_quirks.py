"""Tests that the gate accepts what the contract permits: a correct library with one quirk passes every suite.

The gate is the set of correctness suites that a library must pass. A quirk is an unusual behaviour that is permitted;
faulty/quirks/quirk.h lists the quirks. Some break a promise that is only advisory. Others are habits of entries of the
contest of 2009, such as a file for each index.
`./dev soak` runs each library with 20 seeds at the full size of smoke scale.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from runner.manifest import Kind, load_benchmarks
from tests.binaries import built_settings, library
from tests.referee_run import ROOT, SEEDS, Case, finding_names, require_root_and_build, run_case
from tests.test_keydrome import keydrome

if TYPE_CHECKING:
    from pathlib import Path

QUIRKS_HEADER = ROOT / "tests" / "faulty" / "quirks" / "quirk.h"
# Smaller sizes for the fast tests. The soak uses those of smoke scale.
SMALL: dict[str, dict[str, int]] = {
    "anomalies": {"runs": 150},
    "transactions": {"runs": 60},
    "isolation": {"rounds": 9},
    "differential": {"calls": 30_000, "shrink_ms": 0},
}
# Correct libraries that have no quirk, but unusually expensive calls.
SLOW = ["honest_heavy"]
SUITES = {
    name: benchmark
    for name, benchmark in load_benchmarks(ROOT).items()
    if benchmark.kind is Kind.CORRECTNESS
}


def quirks() -> list[str]:
    """Return the names in the enumeration of quirk.h."""
    text = re.sub("//.*", "", QUIRKS_HEADER.read_text())
    names = re.search(r"enum class Quirk \{(.*?)\};", text, re.DOTALL)
    assert names
    return re.findall(r"\w+", names.group(1))


def test_berkeley_db_with_a_file_for_each_index_passes_the_gate(tmp_path: Path) -> None:
    """The organisers' example of 2009 was such a library. It is inspected and run like a contestant's library."""
    file = library(built_settings(), "faulty", "berkeley_files")
    suites = () if "KEYDROME_SOAK" in os.environ else ("--suite", "unit", "--suite", "scenarios")
    outcome = keydrome("check", file, *suites, "--scale", "smoke", var=tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("library_name", [*(f"quirk_{quirk}" for quirk in quirks()), *SLOW])
def test_a_right_library_passes_the_gate(library_name: str, seed: str, tmp_path: Path) -> None:
    require_root_and_build()
    for name, suite in SUITES.items():
        for instance in suite.instances:
            case = Case(
                library_name,
                name,
                instance,
                parameters={} if "KEYDROME_SOAK" in os.environ else SMALL.get(instance, {}),
                seed=seed,
            )
            report = run_case(case, tmp_path)
            where = f"{name} {instance} {seed}"
            assert (report["verdict"], report["reason"]) == ("passed", ""), where
            assert finding_names(report) == set(), where
