"""Tests of tools/bench/many_runs.py, which fills a database with runs, and page_load.py, which measures pages.

A run is a request to judge one library on one benchmark.
The measurement itself is not tested, because it needs PostgreSQL and takes minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.bench.many_runs import SESSIONS, Best, Site, _keep, _run_row
from tools.bench.page_load import Measured

ROOT = Path(__file__).resolve().parents[2]


def test_sqlite_is_refused(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "KEYDROME_VAR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path}/x.sqlite3",
    }
    for command in (
        ["web.manage", "migrate", "-v", "0"],
        ["tools.bench.many_runs", "--runs", "10"],
    ):
        told = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert told.returncode == 1
    assert "this program needs PostgreSQL: set DATABASE_URL" in told.stderr


def test_quantiles_are_times_that_were_measured() -> None:
    found = Measured([float(time) for time in range(1, 101)], 2)
    assert (found.quantile(0.5), found.quantile(0.99), found.quantile(1.0)) == (51.0, 100.0, 100.0)


def test_a_user_keeps_the_best_libraries_of_a_board() -> None:
    from leaderboard.boards import all_boards  # noqa: PLC0415 - needs Django set up

    board = next(one for one in all_boards() if one.slug == "preliminary1")
    site = Site([7], 1, [board], [])
    for number, score in enumerate((0.5, 0.9, 0.4, 0.7)):
        _keep(Best(score, number, str(number), (score,) * SESSIONS), number, site)
    assert [one.score for one in site.best["preliminary1", 7]] == [0.4, 0.5, 0.7]


def test_only_timed_runs_are_ranked() -> None:
    from django.utils import timezone  # noqa: PLC0415 - needs Django set up

    request = ("unit", 1, "unit", "correctness")
    now = timezone.now()
    gate = _run_row(1, submission=1, request=request, at=now, machine=1)
    timed = _run_row(2, submission=1, request=request, at=now, machine=1, score=0.5, slug="x")
    assert len(gate) == len(timed)
    assert "[]" in gate
    assert '["x"]' in timed
