"""Tests of the benchmark `tatp` with the real referee, jail and player, without the correctness suites.

The referee plays and judges a session. The player, the program in the jail (a sandbox), calls the library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.referee_run import Case, finding_names, require_root_and_build, run_case

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def real_jail() -> None:
    require_root_and_build()


def test_honest_library_passes_and_its_failures_are_counted(tmp_path: Path) -> None:
    report = run_case(Case("honest", "tatp", "nonuniform", record=True), tmp_path)
    assert (report["verdict"], report["reason"]) == ("passed", "")
    metrics = report["metrics"]
    assert metrics["transactions_completed"] == metrics["transactions_planned"] == 6000
    assert metrics["failed_percent"] == pytest.approx(25.1, abs=4)
    run_s = next(phase["wall_ns"] for phase in report["phases"] if phase["name"] == "run") / 1e9
    succeeded = 6000 * (1 - metrics["failed_percent"] / 100)
    assert metrics["succeeded_per_s"] == pytest.approx(succeeded / run_s)


def test_transactions_without_validation_are_found(tmp_path: Path) -> None:
    """The library mutant_10 validates nothing at commit, so two updates of a row at once leave two rows, or none.

    With only two subscribers, such conflicts are frequent.
    """
    parameters = {"subscribers": 2, "transactions_per_thread": 30_000}
    report = run_case(Case("mutant_10", "tatp", "uniform", parameters=parameters), tmp_path)
    assert report["verdict"] == "failed", report["reason"]
    assert finding_names(report) & {"row_count", "lost_update"}
