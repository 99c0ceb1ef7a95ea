"""Tests of the benchmark `affinity` in the real jail (a sandbox).

Only its instance `affine` binds threads to CPUs, in the phase `run`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.referee_run import Case, require_root_and_build, run_case

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("instance", "pinned"), [("scattered", []), ("affine", ["run"])])
def test_the_report_says_which_phases_are_pinned(
    instance: str, pinned: list[str], tmp_path: Path
) -> None:
    require_root_and_build()
    report = run_case(Case("honest", "affinity", instance), tmp_path)
    assert (report["verdict"], report["reason"]) == ("passed", "")
    assert [phase["name"] for phase in report["phases"] if "pinned" in phase] == pinned
