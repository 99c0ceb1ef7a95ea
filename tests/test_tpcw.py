"""Tests of the benchmark `tpcw` with the real referee, jail and player, without the correctness suites.

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


def test_recorded_run_is_certified_and_its_interactions_are_counted(tmp_path: Path) -> None:
    report = run_case(Case("honest", "tpcw", "browsing", record=True), tmp_path)
    assert (report["verdict"], report["reason"]) == ("passed", "")
    metrics = report["metrics"]
    assert metrics["transactions_completed"] == metrics["transactions_planned"] == 800
    run_s = next(phase["wall_ns"] for phase in report["phases"] if phase["name"] == "run") / 1e9
    assert metrics["interactions_per_s"] == pytest.approx(800 / run_s)
    orders = next(e["count"] for e in report["latency"] if e["class"] == "buy_confirm")
    assert metrics["orders_per_s"] == pytest.approx(orders / run_s)


def test_lost_updates_are_found(tmp_path: Path) -> None:
    # The library mutant_10 validates nothing at commit, so it loses updates.
    few = {"items": 50, "newest_orders": 1, "transactions_per_thread": 2000}
    report = run_case(Case("mutant_10", "tpcw", "ordering", parameters=few), tmp_path)
    assert report["verdict"] == "failed", report["reason"]
    assert "stock" in finding_names(report)
