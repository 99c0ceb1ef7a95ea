"""Tests that a session may have 1,024 threads, as on the papers' largest machines, even if the machine has few CPUs.

A session is one repetition of a benchmark.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.referee_run import BUILD, ROOT, Case, plan_of, require_root_and_build, run_plan

if TYPE_CHECKING:
    from pathlib import Path

THREADS = 1024
LIBRARIES: dict[str, dict[str, Any]] = {
    "global_lock": {"path": str(BUILD / "lib" / "indexes" / "global_lock.so")},
    "btree": {
        "path": str(BUILD / "lib" / "runtime" / "runtime.so"),
        "structure": str(BUILD / "lib" / "structures" / "btree.so"),
        "configuration": json.loads(
            (ROOT / "runtime" / "configurations" / "rw.json").read_text(encoding="utf-8")
        ),
    },
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_session_with_1024_threads_passes(library: str, tmp_path: Path) -> None:
    require_root_and_build()
    case = Case(
        "honest",
        "ycsb",
        "a",
        parameters={"threads": THREADS, "records": 4 * THREADS, "operations_per_thread": 20},
    )
    plan = plan_of(case) | {"library": LIBRARIES[library]}
    del plan["jail"]["memory_bytes"]
    ended = run_plan(plan, tmp_path)
    assert ended.report is not None, ended.errors
    assert ended.report["verdict"] == "passed", ended.report["reason"]
    assert ended.report["metrics"]["transactions_completed"] >= 20 * THREADS
