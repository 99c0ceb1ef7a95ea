"""Tests that tools/reports/timed_share.py measures a real series (several sessions of one library) at smoke scale."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.referee_run import ROOT, require_root_and_build

if TYPE_CHECKING:
    from pathlib import Path


def test_a_series_is_measured(tmp_path: Path) -> None:
    require_root_and_build()
    state = tmp_path / "times.json"
    name = "sigmod2009/preliminary1"
    command = [
        sys.executable,
        "-m",
        "tools.reports.timed_share",
        "--scale",
        "smoke",
        "--only",
        name,
    ]
    ended = subprocess.run(
        [*command, "--sessions", "2", "--state", str(state)],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    [(measured, times)] = json.loads(state.read_text()).items()
    assert measured == name
    assert times["records"] > 0
    parts = {part: value for part, value in times.items() if part not in {"session", "records"}}
    assert all(value > 0 for value in parts.values()), times
    assert sum(parts.values()) < times["session"]
