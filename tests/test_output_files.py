"""Tests that no program harms the file that a person names for its results, even as root.

A device stays a device, `-` is the standard output, and a file that cannot be written is an error before the run. The
tests create their own device nodes and never use those of /dev. cli/tests/test_cli.py tests the commands of `keydrome`.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.referee_run import BUILD, ROOT, Case, plan_of, require_root_and_build

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BIN = BUILD / "bin"
# Timeout of a program. Those in LONG take far longer if they do not check the file first.
SECONDS = 60
FULL = "No space left on device"
# Programs that measure for minutes, and the option that names the file of results.
LONG: dict[str, list[str | Path]] = {
    "certify_bench": [BIN / "certify_bench", "--json"],
    "generation_cost": [BIN / "generation_cost", "--json"],
    "harness_cost": [BIN / "harness_cost", "--json"],
    "phase_cost": [BIN / "phase_cost", "--json"],
    "latency": [sys.executable, "jail/bench/latency.py", "--json"],
    **{
        f"bench.{name}": [sys.executable, "-m", f"tools.bench.{name}", "--json"]
        for name in (
            "board_page",
            "contestant_loop",
            "modes",
            "overhead",
            "queue_scale",
            "reference_libraries",
        )
    },
    **{
        f"reports.{name}": [sys.executable, "-m", f"tools.reports.{name}", "--state"]
        for name in (
            "battery",
            "certified",
            "fault_storm",
            "kill_matrix",
            "laptop_scale",
            "papers",
            "structures",
            "timed_share",
        )
    },
}
# Programs that end soon.
SHORT: dict[str, Callable[[Path], list[str | Path]]] = {
    "certify": lambda folder: [BIN / "certify", a_history(folder), "--order"],
    "certify_bench": lambda _: [BIN / "certify_bench", "100", "--json"],
    "generation_cost": lambda _: [BIN / "generation_cost", "unit", "--json"],
    "latency": lambda _: [
        *[sys.executable, "jail/bench/latency.py", "--turns", "2", "--busy-turns", "2"],
        "--json",
    ],
    "referee": lambda folder: [BIN / "referee", "run", a_plan(folder), "--report"],
}


def a_history(folder: Path) -> Path:
    histories = folder / "histories"
    histories.mkdir()
    program = BUILD / "tests" / "random_histories"
    made = subprocess.run(
        [program, histories, "1", "50"], check=True, capture_output=True, text=True, timeout=SECONDS
    )
    seed = next(line.split()[0] for line in made.stdout.splitlines() if line.endswith(" certified"))
    return histories / seed


def a_plan(folder: Path) -> Path:
    require_root_and_build()
    path = folder / "plan.json"
    path.write_text(json.dumps(plan_of(Case("honest"))))
    return path


def run(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def device(folder: Path, name: str, minor: int) -> Path:
    path = folder / name
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, minor))
    return path


@pytest.mark.parametrize("name", SHORT)
def test_a_device_stays_a_device(name: str, tmp_path: Path) -> None:
    command = SHORT[name](tmp_path)
    null, full = device(tmp_path, "null", 3), device(tmp_path, "full", 7)
    ended = run([*command, null])
    assert ended.returncode == 0, ended.stdout + ended.stderr
    ended = run([*command, full])
    assert ended.returncode != 0
    assert FULL in ended.stderr, ended.stdout + ended.stderr
    assert null.is_char_device()
    assert full.is_char_device()
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []


@pytest.mark.parametrize("name", SHORT)
def test_a_dash_is_the_standard_output(name: str, tmp_path: Path) -> None:
    ended = run([*SHORT[name](tmp_path), "-"])
    assert ended.returncode == 0, ended.stdout + ended.stderr
    mark = {"certify": "keydrome serial order 1\n", "referee": '"keydrome.report.v1"'}
    assert mark.get(name, '"rows"') in ended.stdout
    assert not (ROOT / "-").exists()


@pytest.mark.parametrize("name", LONG)
def test_a_file_that_cannot_be_written_is_an_error_before_the_run(
    name: str, tmp_path: Path
) -> None:
    file = tmp_path / "missing" / "file.json"
    ended = run([*LONG[name], file])
    assert ended.returncode != 0
    assert str(file) in ended.stderr, ended.stdout + ended.stderr
    assert not file.parent.exists()


def test_the_folder_of_histories_is_checked_before_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "missing"
    report = tmp_path / "report.json"
    ended = run(
        [BIN / "referee", "run", a_plan(tmp_path), "--report", report, "--histories", folder]
    )
    assert ended.returncode != 0
    assert str(folder) in ended.stderr, ended.stdout + ended.stderr
    assert not report.exists()
