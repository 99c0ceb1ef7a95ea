"""Tests that the library lmdb ends with an error, and does not crash, if its working directory is full."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.referee_run import BUILD, Case, finding_names, plan_of, require_root_and_build, run_plan

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("tmpfs_bytes", [64 << 10, 1 << 20])
def test_a_full_working_directory_is_a_failure(tmpfs_bytes: int, tmp_path: Path) -> None:
    require_root_and_build()
    plan = plan_of(Case("honest"))  # the next line replaces the library
    plan["library"]["path"] = str(BUILD / "lib" / "indexes" / "lmdb.so")
    plan["jail"]["tmpfs_bytes"] = tmpfs_bytes
    report = run_plan(plan, tmp_path).report
    assert report is not None
    assert report["verdict"] == "failed"
    assert "illegal_answer" in finding_names(report)
    assert "MDB_MAP_FULL" in report["output"]["stderr"]
