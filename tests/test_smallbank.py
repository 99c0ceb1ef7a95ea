"""Tests of the benchmark `smallbank` with the real referee, jail and player, without the correctness suites.

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


def test_honest_library_passes_and_its_aborts_are_counted(tmp_path: Path) -> None:
    report = run_case(Case("honest", "smallbank", "hot_10", record=True), tmp_path)
    assert (report["verdict"], report["reason"]) == ("passed", "")
    metrics = report["metrics"]
    assert metrics["transactions_completed"] == metrics["transactions_planned"] == 6000
    counts = {entry["class"]: entry["count"] for entry in report["latency"]}
    committed = sum(count for name, count in counts.items() if name != "check")
    assert metrics["transactions_aborted"] == 6000 - committed > 500
    run_s = next(phase["wall_ns"] for phase in report["phases"] if phase["name"] == "run") / 1e9
    assert metrics["committed_per_s"] == pytest.approx(committed / run_s)


def test_lost_updates_are_found(tmp_path: Path) -> None:
    # The library mutant_10 validates nothing at commit, so it loses updates.
    report = run_case(Case("mutant_10", "smallbank", "hot_10"), tmp_path)
    assert report["verdict"] == "failed", report["reason"]
    assert "account_money" in finding_names(report)
