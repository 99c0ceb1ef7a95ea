"""Tests of the performance benchmarks in the real jail: correct libraries pass, and wrong libraries are detected.

The jail is the sandbox of the library. No correctness suite runs before. One instance (set of parameter values) of each
benchmark is tested here, and under `./dev soak` every instance. Faster tests in benchmarks/*/tests check every instance
in one process, without the jail.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.referee_run import ROOT, Case, plan_of, require_root_and_build, run_case, run_plan

if TYPE_CHECKING:
    from pathlib import Path

ALL = "KEYDROME_SOAK" in os.environ
# The metrics that a report of any benchmark may have. All other metrics belong to one benchmark, and its manifest must
# name them.
GENERAL_METRICS = {
    *(
        "client_context_switches",
        "total_ms",
        "cpu_us",
        "calls",
        "ns_per_call",
        "throughput_tps",
        "hit_ratio",
        "deadlocks",
    ),
    *("transactions_planned", "transactions_completed", "transactions_failed"),
    *("records_start", "records_end", "memory_peak_bytes", "bytes_per_record"),
    *("memory_start_bytes", "memory_end_bytes", "bytes_per_record_start"),
    *("setup_cpu_us", "setup_bytes", "library_threads", "library_cpu_us", "final_scan_cpu_us"),
}


# The metrics that a report has only if the plan sets jail.counters.
KERNEL_METRICS = {"page_faults", "context_switches", "migrations"}
HARDWARE_METRICS = {
    *("cycles_per_call", "instructions_per_call", "cache_misses_per_call", "branch_misses_per_call")
}
# Not every processor can count stalled cycles, so these metrics may be missing.
STALLS = {"stalled_frontend_per_call", "stalled_backend_per_call"}
MANIFESTS = {
    path.parent.name: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "benchmarks").glob("*/benchmark.json"))
}


def instances() -> list[tuple[str, str]]:
    """Return the first instance of every performance benchmark; under `./dev soak` return all instances."""
    found = []
    for benchmark, manifest in MANIFESTS.items():
        if manifest["kind"] == "performance":
            names = list(manifest["instances"])
            found += [(benchmark, name) for name in (names if ALL else names[:1])]
    return found


@pytest.fixture(autouse=True)
def real_jail() -> None:
    require_root_and_build()


@pytest.mark.parametrize(("benchmark", "instance"), instances())
def test_right_library_passes(benchmark: str, instance: str, tmp_path: Path) -> None:
    report = run_case(Case("honest", benchmark=benchmark, instance=instance), tmp_path)
    assert report["verdict"] == "passed", report["reason"]
    # On a busy machine the referee, the process that measures the time, may learn late that a phase has ended.
    assert {entry["name"] for entry in report["findings"]} <= {"clock_disagrees", "kernel_work"}
    metrics = report["metrics"]
    assert metrics["transactions_completed"] == metrics["transactions_planned"]
    named = MANIFESTS[benchmark].get("own_metrics", {}).keys()
    own = metrics.keys() - GENERAL_METRICS
    assert own <= named
    assert own or not named


def test_counters_are_reported_where_there_are_some(tmp_path: Path) -> None:
    plan = plan_of(Case("honest"))
    uncounted = run_plan(plan, tmp_path).report
    plan["jail"]["counters"] = True
    counted = run_plan(plan, tmp_path).report
    assert uncounted is not None
    assert counted is not None
    assert not uncounted["metrics"].keys() & (HARDWARE_METRICS | STALLS | KERNEL_METRICS)
    assert counted["metrics"].keys() >= KERNEL_METRICS
    assert counted["metrics"].keys() & HARDWARE_METRICS in (set(), HARDWARE_METRICS)
    if not counted["metrics"].keys() & HARDWARE_METRICS:
        assert not counted["metrics"].keys() & STALLS
    assert counted["metrics"]["page_faults"] > 100
    for report in (counted, uncounted):  # clients always report their own context switches
        assert report["metrics"]["client_context_switches"] > 0


@pytest.mark.parametrize("library", ["success_only", "drops_1000th_write"])
@pytest.mark.parametrize(("benchmark", "instance"), instances())
def test_wrong_library_is_found_out(
    benchmark: str, instance: str, library: str, tmp_path: Path
) -> None:
    report = run_case(Case(library, benchmark=benchmark, instance=instance), tmp_path)
    assert report["verdict"] == "failed", report["reason"]
