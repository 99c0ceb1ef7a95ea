"""Performance benchmarks through the real jail: right libraries pass, wrong ones are found with the gate off.

That every instance accuses nobody and finds faults is tested in-process (benchmarks/*/tests); here one instance of
each benchmark runs, and under `./dev soak` all of them.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.referee_run import ROOT, Case, require_root_and_build, run_case

if TYPE_CHECKING:
    from pathlib import Path

ALL = "KEYDROME_SOAK" in os.environ
# Metrics that a benchmark adds to the report, and that its smoke scale is long enough for.
OWN_METRICS = {
    "deletes": {"memory_growth"},
    "inserts": {"inserts_per_s"},
    "keysets": {"inserts_per_s", "lookups_per_s", "misses_per_s", "scanned_records_per_s"},
    "linkbench": {"links_per_list"},
    "lookup_upsert": {"upserts_per_s", "lookups_per_s"},
    "open_loop": {"delivered_max_per_s", "sustained_per_s"},
    "scan": {"scanned_records_per_s", "scanned_mb_per_s"},
    "smallbank": {"committed_per_s", "transactions_aborted"},
}


def instances() -> list[tuple[str, str]]:
    """Return the first instance of every performance benchmark; in a soak all of them."""
    found = []
    for path in sorted((ROOT / "benchmarks").glob("*/benchmark.json")):
        manifest = json.loads(path.read_text(encoding="utf-8"))
        if manifest["kind"] == "performance":
            names = list(manifest["instances"])
            found += [(manifest["name"], name) for name in (names if ALL else names[:1])]
    return found


@pytest.fixture(autouse=True)
def real_jail() -> None:
    require_root_and_build()


@pytest.mark.parametrize(("benchmark", "instance"), instances())
def test_right_library_passes(benchmark: str, instance: str, tmp_path: Path) -> None:
    report = run_case(Case("honest", benchmark=benchmark, instance=instance), tmp_path)
    assert report["verdict"] == "passed", report["reason"]
    assert report["findings"] == []
    metrics = report["metrics"]
    assert metrics["transactions_completed"] == metrics["transactions_planned"]
    assert OWN_METRICS.get(benchmark, set()) <= metrics.keys()


@pytest.mark.parametrize("library", ["success_only", "drops_1000th_write"])
@pytest.mark.parametrize(("benchmark", "instance"), instances())
def test_wrong_library_is_found_out(
    benchmark: str, instance: str, library: str, tmp_path: Path
) -> None:
    report = run_case(Case(library, benchmark=benchmark, instance=instance), tmp_path)
    assert report["verdict"] == "failed", report["reason"]
