"""Tests of the benchmark `tpcc` with the real referee, jail and player, without the correctness suites.

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


def test_honest_library_passes_and_its_orders_are_counted(tmp_path: Path) -> None:
    report = run_case(Case("honest", "tpcc", "mix"), tmp_path)
    assert (report["verdict"], report["reason"]) == ("passed", "")
    assert finding_names(report) == set()
    metrics = report["metrics"]
    # A transaction that is rolled back as programmed counts as completed, but not as a committed NewOrder.
    assert metrics["transactions_completed"] == metrics["transactions_planned"] == 400
    counts = {entry["class"]: entry["count"] for entry in report["latency"]}
    run_s = next(phase["wall_ns"] for phase in report["phases"] if phase["name"] == "run") / 1e9
    assert metrics["new_order_per_s"] == pytest.approx(counts["new_order"] / run_s)


def test_recorded_session_is_certified(tmp_path: Path) -> None:
    report = run_case(Case("honest", "tpcc", "mix", record=True), tmp_path)
    assert (report["verdict"], report["reason"]) == ("passed", "")
    assert report["metrics"]["transactions_recorded"] > 400
