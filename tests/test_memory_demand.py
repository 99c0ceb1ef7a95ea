"""Tests that the memory of a session is known before the session: the referee stays within its own estimate.

The estimate is in benchmarks/kit/workload/demand.h. Each case is large enough that the operations and records, not the
fixed part of the estimate, decide.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from runner.manifest import load_benchmarks
from runner.terms import Scale
from tests.binaries import built_settings
from tests.referee_run import BUILD, ROOT, Case, plan_of, require_root_and_build
from tools.paper_scale import Target, estimate

if TYPE_CHECKING:
    from pathlib import Path

BOARDS = ROOT / "leaderboard" / "boards"
MACHINE_BYTES, MACHINE_SHARE = 24 << 30, 0.9  # a session may use this share of the memory
FACTOR_MAX = 4
"""An estimate of more than this many times what was used would refuse sessions that fit."""
CASES = [
    Case("honest", "affinity", "scattered", parameters={"threads": 2, "records": 400_000}),
    Case("honest", "lookups", "misses_suffix", parameters={"threads": 2, "records": 200_000}),
    Case(
        "honest",
        "scan",
        "range_100",
        parameters={"threads": 2, "records": 100_000, "scans_per_thread": 20_000},
    ),
    Case(
        "honest",
        "sigmod2009",
        "preliminary2",
        parameters={"threads": 4, "inserts_per_thread": 40_000, "tests_per_thread": 10_000},
    ),
    Case(
        "honest",
        "ycsb",
        "a",
        parameters={"threads": 2, "records": 100_000, "operations_per_thread": 200_000},
    ),
    Case("honest", "tpcc", "mix", parameters={"customers_per_district": 600, "items": 10_000}),
]


def _write_plan(case: Case, folder: Path) -> Path:
    plan = plan_of(case)
    plan["jail"]["memory_bytes"] = 2 << 30
    path = folder / "plan.json"
    path.write_text(json.dumps(plan), encoding="utf-8")
    return path


def _estimate(plan: Path) -> dict[str, Any]:
    text = subprocess.run(
        [BUILD / "bin" / "referee", "memory", plan],
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    ).stdout
    return dict(json.loads(text))


def _run(plan: Path, folder: Path) -> int:
    """Play the session and return the most memory in bytes that the referee or one of its children used."""
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [BUILD / "bin" / "referee", "run", plan, "--report", folder / "report.json"],
            stdout=output,
            stderr=output,
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, (folder / "output").read_text(encoding="utf-8")
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert report["verdict"] == "passed", report["reason"]
    return usage.ru_maxrss << 10


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.benchmark}-{case.instance}")
def test_the_referee_stays_within_its_estimate(case: Case, tmp_path: Path) -> None:
    require_root_and_build()
    plan = _write_plan(case, tmp_path)
    estimate = _estimate(plan)
    used = _run(plan, tmp_path)
    assert used <= estimate["referee_bytes"] <= FACTOR_MAX * used
    assert estimate["library_bytes"] == 2 << 30


def test_a_session_that_does_not_fit_is_refused_at_once(tmp_path: Path) -> None:
    require_root_and_build()
    plan = _write_plan(
        Case("honest", "affinity", "scattered", parameters={"records": 2_000_000_000}), tmp_path
    )
    refused = subprocess.run(
        [BUILD / "bin" / "referee", "run", plan, "--report", tmp_path / "report.json"],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert refused.returncode == 2
    assert "lower records to " in refused.stderr
    assert not (tmp_path / "report.json").exists()


def test_every_board_fits_a_machine_of_24_gib() -> None:
    """Even if the referee needs all that its estimate allows."""
    settings = built_settings()
    benchmarks = load_benchmarks(settings.root)
    boards = [json.loads(path.read_text()) for path in sorted(BOARDS.glob("*/board.json"))]
    assert boards
    for board in boards:
        target = Target(benchmarks[board["benchmark"]], board["instance"])
        for scale in board["scales"]:
            need = estimate(target, Scale(scale), settings)
            assert not need.too_small, f"{board['title']}: {need.too_small}"
            total = need.referee_bytes + need.library_bytes
            assert total <= MACHINE_SHARE * MACHINE_BYTES, f"{board['title']}: {need.estimate}"
