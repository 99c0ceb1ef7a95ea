"""Tests that the memory of a session is known before the session: estimates are right, and bounds hold.

The estimate of the referee's memory follows from the counts of benchmarks/kit/workload/demand.h. Each case is large
enough that operations and records determine the estimate, not its fixed part. With KEYDROME_SOAK, all cases are played,
and every instance at smoke and laptop scale; otherwise only a few.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from runner.manifest import load_benchmarks
from runner.terms import Scale
from tests.binaries import built_settings
from tests.referee_run import BUILD, ROOT, Case, plan_of, require_root_and_build
from tests.test_key_files import integers, texts
from tests.test_trace_files import trace_text
from tools.paper_scale import Target, estimate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BOARDS = ROOT / "leaderboard" / "boards"
MACHINE_BYTES, MACHINE_SHARE = 24 << 30, 0.9  # a session may use this share of the memory
FACTOR_MAX = 1.5
"""The largest allowed estimate, as a multiple of the memory that was used. With larger estimates, sessions that fit
would be refused."""
MIB = 1 << 20
FIXED_BYTES = 16 * MIB
"""An estimate may exceed the memory that was used by this much, because of its fixed parts."""
_TWO = {"threads": 2}
SIZES: dict[str, dict[str, int]] = {
    "affinity/scattered": _TWO | {"records": 400_000, "lookups_per_thread": 100_000},
    "deletes/churn_oldest": _TWO | {"records": 200_000, "transactions_per_round": 30_000},
    "deletes/range_10": _TWO | {"records": 200_000, "transactions_per_round": 10_000},
    "deletes/refill": _TWO | {"records": 200_000},
    "differential/differential": {"calls": 500_000},
    "duplicates/few": _TWO | {"keys": 20_000, "operations_per_thread": 50_000},
    "duplicates/zipf": _TWO | {"keys": 20_000, "operations_per_thread": 10_000},
    "duplicates/one_heavy": _TWO | {"keys": 20_000, "operations_per_thread": 5_000},
    "insert_ratio/inserts_40": _TWO | {"records": 300_000, "operations_per_thread": 75_000},
    "inserts/monotone_shared": _TWO | {"inserts_per_thread": 150_000},
    "inserts/bulk_sorted": _TWO | {"inserts_per_thread": 200_000},
    "inserts/hotspot": _TWO | {"records": 200_000, "inserts_per_thread": 60_000},
    "isolation/isolation": {"rounds": 54},
    "keysets/uniform": _TWO
    | {"records": 150_000, "lookups_per_thread": 50_000, "scans_per_thread": 3_000},
    "keysets/url_like": _TWO
    | {"records": 150_000, "lookups_per_thread": 50_000, "scans_per_thread": 3_000},
    "linkbench/facebook": _TWO | {"nodes": 20_000, "requests_per_thread": 30_000},
    "lookup_upsert/medium": _TWO
    | {"records": 300_000, "upserts_per_thread": 100_000, "lookups_per_thread": 100_000},
    "lookup_upsert/growing": _TWO
    | {"records": 300_000, "upserts_per_thread": 100_000, "lookups_per_thread": 100_000},
    "lookups/half": _TWO | {"records": 300_000, "lookups_per_thread": 100_000},
    "lookups/serial": _TWO | {"records": 300_000, "lookups_per_thread": 100_000},
    "lookups/misses_suffix": _TWO | {"records": 200_000, "lookups_per_thread": 100_000},
    "mixgraph/facebook": _TWO | {"records": 200_000, "operations_per_thread": 50_000},
    "open_loop/int64_a": _TWO
    | {"records": 300_000, "arrivals_per_step": 10_000, "rate_lowest_per_s": 200_000},
    "scan/range_100": _TWO | {"records": 100_000, "scans_per_thread": 20_000},
    "scan/full_wide": _TWO | {"records": 300_000, "scans_per_thread": 4},
    "sigmod2009/preliminary2": {
        "threads": 4,
        "inserts_per_thread": 40_000,
        "tests_per_thread": 10_000,
    },
    "sigmod2009/double_lookup": {
        "threads": 4,
        "inserts_per_thread": 10_000,
        "tests_per_thread": 1_000,
    },
    "skew/shifting_zipf": _TWO
    | {"records": 300_000, "part_ms": 100, "lookups_per_s_max": 1_000_000},
    "smallbank/hot_100": _TWO | {"accounts": 60_000, "transactions_per_thread": 60_000},
    "tatp/nonuniform": _TWO | {"subscribers": 30_000, "transactions_per_thread": 60_000},
    "tpcc/mix": _TWO
    | {"customers_per_district": 600, "items": 10_000, "transactions_per_thread": 5_000},
    "tpcw/browsing": _TWO
    | {
        "items": 1_000,
        "customers": 2_880,
        "newest_orders": 3_333,
        "transactions_per_thread": 1_500,
    },
    "tpcw/ordering": _TWO
    | {
        "items": 1_000,
        "customers": 2_880,
        "newest_orders": 3_333,
        "transactions_per_thread": 20_000,
    },
    "trace/recorded": {},
    "ycsb/a": _TWO | {"records": 100_000, "operations_per_thread": 150_000},
    "ycsb/e": _TWO | {"records": 100_000, "operations_per_thread": 20_000},
    "ycsb/int64_a": _TWO | {"records": 200_000, "operations_per_thread": 150_000},
    "ycsb/many_indices": _TWO | {"records": 100_000, "operations_per_thread": 100_000},
}
QUICK = (
    "affinity/scattered",
    "deletes/churn_oldest",
    "deletes/range_10",
    "duplicates/few",
    "insert_ratio/inserts_40",
    "inserts/bulk_sorted",
    "keysets/uniform",
    "lookups/half",
    "sigmod2009/double_lookup",
    "smallbank/hot_100",
    "ycsb/a",
    "ycsb/many_indices",
)
SOAK = "KEYDROME_SOAK" in os.environ
FACTORS: dict[str, float] = {
    # The estimate still has a margin for records of the final scan, which the judge no longer collects.
    "deletes/churn_oldest": 1.7,
    "duplicates": 1.7,
    "duplicates/few": 1.8,
    "duplicates/one_heavy": 2.0,
    "duplicates/zipf": 1.9,
    # The log of a recorded phase has room for attempts that a correct library does not make.
    "differential/differential": 3.8,
    "isolation/isolation": 1.8,
    # The peak is 85 to 89 MiB, the estimate 159 MiB. The peak depends on how long the ranking of the keys and their
    # loading run at the same time.
    "keys of lookups/half": 2.0,
    "keysets": 1.9,
    "keys of lookups/misses_suffix": 2.1,  # the keys are freed before the session is played
    "linkbench/facebook": 2.3,
    "open_loop/a": 1.8,
    "sigmod2009": 1.8,
    "sigmod2009/preliminary2": 1.6,
    "scan/full_wide": 1.6,
    # The estimate counts as many checks after each of these short scans as after a long scan.
    "scan/range_100": 2.1,
    "skew/shifting_range": 2.5,
    "skew/shifting_zipf": 2.5,  # the estimate counts all operations, but the clock ends the phases
    "tpcw/browsing": 1.8,
    "tpcw/ordering": 2.3,
    "trace/recorded": 1.7,  # the example is so small that the estimate is mostly its fixed part
    "ycsb": 1.7,
}
"""The largest factors of the instances whose estimates are less exact. The name of a benchmark stands for all its
instances that are not listed."""


def _write_plan(case: Case, folder: Path, scale: str = "smoke") -> Path:
    plan = plan_of(case) | {"scale": scale}
    plan["library"]["path"] = str(BUILD / "lib" / "indexes" / "global_lock.so")
    del plan["jail"]["memory_bytes"]
    path = folder / "plan.json"
    path.write_text(json.dumps(plan), encoding="utf-8")
    return path


def _manifests() -> list[dict[str, Any]]:
    text = subprocess.run(
        [BUILD / "bin" / "referee", "list"], check=True, capture_output=True, text=True, timeout=30
    ).stdout
    return list(json.loads(text)["benchmarks"])


def _estimate(plan: Path) -> dict[str, Any]:
    text = subprocess.run(
        [BUILD / "bin" / "referee", "memory", plan],
        check=True,
        capture_output=True,
        text=True,
        timeout=30,
    ).stdout
    return dict(json.loads(text))


def _play(plan: Path, folder: Path, *, address_space: int | None = None) -> dict[str, Any]:
    """Play the session and return its report. `address_space` limits the referee's memory."""

    def limit() -> None:
        if address_space is not None:
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (address_space, hard))

    ended = subprocess.run(
        [BUILD / "bin" / "referee", "run", plan, "--report", folder / "report.json"],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=limit,
    )
    assert ended.returncode == 0, ended.stderr
    return dict(json.loads((folder / "report.json").read_text(encoding="utf-8")))


def _check(
    name: str,
    parameters: dict[str, int],
    scale: str,
    folder: Path,
    files: dict[str, Path] | None = None,
    *,
    small: bool = False,
    is_suite: bool = False,
) -> str:
    """Play an instance, and return what is wrong with its estimates, or "".

    `files` has further fields of the plan, which name a user's files: `keys` or `trace`.
    If the session is `small`, the estimate may be too large by its fixed part. If `is_suite` is True, the instance is
    that of a correctness suite.
    """
    benchmark, instance = name.split("/")
    case = Case("honest", benchmark, instance, parameters=parameters, phase_timeout_ms=120_000)
    plan = _write_plan(case, folder, scale)
    named = {member: str(path) for member, path in (files or {}).items()}
    plan.write_text(json.dumps(json.loads(plan.read_text()) | named))
    estimate = _estimate(plan)
    report = _play(plan, folder)
    if report["verdict"] != "passed":
        return f"{name} {scale}: {report['verdict']}: {report['reason']}"
    used, guess = report["referee"]["memory_peak_bytes"], estimate["referee_bytes"]
    library, limit = report["jail"]["memory_peak_bytes"], estimate["library_bytes"]
    assert report["referee"]["memory_estimate_bytes"] == guess
    factor = FACTORS.get(" of ".join([*named, name]), FACTORS.get(benchmark, FACTOR_MAX))
    if is_suite:
        # The sessions are small, and their logs have room for attempts that a correct library does not make.
        factor = math.inf
    most = max(factor * used, used + FIXED_BYTES) if small else factor * used
    if used <= guess <= most and library <= limit:
        return ""
    return (
        f"{name} {scale}: the referee used {used / MIB:.0f} MiB, so its estimate must be from this to "
        f"{most / MIB:.0f} MiB, and is {guess / MIB:.0f} MiB; the library used {library / MIB:.0f} MiB, "
        f"and may use {limit / MIB:.0f} MiB"
    )


@pytest.mark.parametrize("name", SIZES if SOAK else QUICK)
def test_the_estimate_is_what_a_session_uses(name: str, tmp_path: Path) -> None:
    require_root_and_build()
    assert _check(name, SIZES[name], "smoke", tmp_path) == ""


@pytest.mark.parametrize(
    ("name", "write"), [("lookups/half", integers), ("lookups/misses_suffix", texts)]
)
def test_the_estimate_counts_the_keys_of_a_file(
    name: str, write: Callable[[Path, int], Path], tmp_path: Path
) -> None:
    require_root_and_build()
    keys = write(tmp_path / "keys", 1_000_000)
    assert _check(name, SIZES[name], "smoke", tmp_path, {"keys": keys}) == ""


def _inserts() -> str:
    """Return a trace that only inserts, without transactions."""
    lines = [f"{number % 2} insert a {number}\n" for number in range(300_000)]
    return "keydrome trace 1\nindex a int64\n" + "".join(lines)


@pytest.mark.parametrize("text", [lambda: trace_text(200_000, 400_000), _inserts])
def test_the_estimate_counts_the_calls_of_a_trace(text: Callable[[], str], tmp_path: Path) -> None:
    require_root_and_build()
    trace = tmp_path / "trace"
    trace.write_text(text())
    assert _check("trace/recorded", {}, "smoke", tmp_path, {"trace": trace}) == ""


def test_every_performance_benchmark_has_a_size() -> None:
    played = {name.split("/")[0] for name in SIZES}
    kinds = {manifest["name"]: manifest["kind"] for manifest in _manifests()}
    assert {name for name, kind in kinds.items() if kind == "performance"} <= played


BENCHMARKS = sorted(path.parent.name for path in (ROOT / "benchmarks").glob("*/benchmark.json"))


@pytest.mark.parametrize("scale", ["smoke", "laptop"] if SOAK else ["smoke"])
@pytest.mark.parametrize("benchmark", BENCHMARKS if SOAK else ["skew"])
def test_the_estimates_of_instances_are_right(benchmark: str, scale: str, tmp_path: Path) -> None:
    """With KEYDROME_SOAK, play every instance at smoke and laptop scale. Each benchmark is a test of its own, so that
    its time is shown, and so that a developer can run it alone."""
    require_root_and_build()
    manifest = json.loads((ROOT / "benchmarks" / benchmark / "benchmark.json").read_text())
    instances = manifest["instances"] if SOAK else ["shifting_zipf"]
    is_suite = manifest["kind"] != "performance"
    wrong = [
        _check(f"{benchmark}/{instance}", {}, scale, tmp_path, small=True, is_suite=is_suite)
        for instance in instances
    ]
    assert [text for text in wrong if text] == []


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
    assert "lower the parameter records to " in refused.stderr
    assert not (tmp_path / "report.json").exists()


def test_every_board_fits_a_machine_of_24_gib() -> None:
    """The sum of the largest estimates for referee and library must fit."""
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


@pytest.mark.parametrize("mib", [30, 60, 80])
def test_a_referee_at_its_bound_ends_the_run_with_a_reason(mib: int, tmp_path: Path) -> None:
    """The referee reaches the bounds at different times: while it generates, plays or judges."""
    require_root_and_build()
    case = Case("honest", "affinity", "scattered", parameters={"threads": 2, "records": 300_000})
    report = _play(_write_plan(case, tmp_path), tmp_path, address_space=mib << 20)
    assert report["verdict"] == "infrastructure"
    assert "needs more memory than the" in report["reason"]
    assert "choose a smaller scale or lower parameters" in report["reason"]
