"""Tests of tools/bench/board_page.py: it fills the tables, and the page needs no more SQL statements for more runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_more_runs_need_no_more_statements(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    # A process of its own, because the program sets Django up on a database of its own.
    command = [sys.executable, "-m", "tools.bench.board_page", "--repetitions", "1"]
    done = subprocess.run(
        [*command, "--sizes", "10", "14", "--json", str(figures)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    few, more = (row["value"].split(" SQL")[0] for row in json.loads(figures.read_text())["rows"])
    assert int(few) == int(more) > 0
