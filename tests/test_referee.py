"""Tests of the command line of the referee, the program that plays and judges one session.

The referee refuses an invalid plan (the JSON file that describes the session) at once, and otherwise writes a report.
"""

from __future__ import annotations

import ctypes
import json
import platform
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.referee_run import (
    BUILD,
    ROOT,
    SLOT,
    Case,
    Ended,
    plan_of,
    require_root_and_build,
    run_plan,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EXIT_UNUSABLE = 2
EXIT_NOT_WRITTEN = 3
SHORT_SLICE_NS = 100_000  # kShortSliceNs of harness/referee/machine/time_slice.h


@pytest.fixture(autouse=True)
def real_jail() -> None:
    require_root_and_build()


@pytest.fixture
def plan() -> dict[str, Any]:
    return plan_of(Case("honest"))


def refusal(plan: dict[str, Any], folder: Path) -> str:
    """Return the referee's reason for refusing the plan."""
    ended = run_plan(plan, folder)
    assert ended.status == EXIT_UNUSABLE, ended
    assert ended.report is None
    assert list(folder.glob("report*")) == []
    return ended.errors


def test_unknown_benchmark_lists_the_known_ones(plan: dict[str, Any], tmp_path: Path) -> None:
    plan["benchmark"] = "tpc_c"
    assert 'there is no benchmark "tpc_c"; choose one of these:' in refusal(plan, tmp_path)


def test_unknown_instance_lists_the_known_ones(plan: dict[str, Any], tmp_path: Path) -> None:
    plan["instance"] = "preliminary9"
    assert "preliminary1" in refusal(plan, tmp_path)


@pytest.mark.parametrize("threads", [0, 1025, 100_000])
def test_thread_count_out_of_range(plan: dict[str, Any], threads: int, tmp_path: Path) -> None:
    plan["parameters"] = {"threads": threads}
    message = refusal(plan, tmp_path)
    assert "threads" in message
    assert "from 1 to 1024" in message


def test_unknown_parameter(plan: dict[str, Any], tmp_path: Path) -> None:
    plan["parameters"] = {"speed": 1}
    assert "speed" in refusal(plan, tmp_path)


def test_unknown_field(plan: dict[str, Any], tmp_path: Path) -> None:
    plan["surprise"] = 1
    assert "plan.surprise: this field is unknown" in refusal(plan, tmp_path)


def test_missing_library(plan: dict[str, Any], tmp_path: Path) -> None:
    plan["library"]["path"] = "/nowhere/lib.so"
    assert "plan.library.path: cannot read /nowhere/lib.so" in refusal(plan, tmp_path)


def test_more_memory_than_the_machine_has(plan: dict[str, Any], tmp_path: Path) -> None:
    plan["jail"]["memory_bytes"] = 1 << 50
    assert "lower the library's memory limit" in refusal(plan, tmp_path)


def test_stale_harness_is_nobodys_fault_but_ours(plan: dict[str, Any], tmp_path: Path) -> None:
    plan["benchmark_version"] += 1
    ended = run_plan(plan, tmp_path)
    assert (ended.status, ended.progress[-1]["verdict"]) == (0, "infrastructure")
    assert ended.report is not None
    assert "stale harness" in ended.report["reason"]
    assert "build the harness again" in ended.report["reason"]


def test_stale_plan_must_be_made_again(plan: dict[str, Any], tmp_path: Path) -> None:
    plan["benchmark_version"] -= 1
    ended = run_plan(plan, tmp_path)
    assert ended.report is not None
    assert "stale plan" in ended.report["reason"]
    assert "make a new plan" in ended.report["reason"]


def test_report_that_cannot_be_written(plan: dict[str, Any], tmp_path: Path) -> None:
    ended = run_plan(plan, tmp_path, tmp_path / "no" / "such" / "folder" / "report.json")
    assert ended.status == EXIT_NOT_WRITTEN
    assert ended.progress == []  # the referee noticed the problem before it started the session


def test_less_isolation_than_required_is_refused(plan: dict[str, Any], tmp_path: Path) -> None:
    weaker = tmp_path / "jail"
    weaker.write_text(f'#!/bin/sh\nexec {BUILD}/bin/jail --without seccomp "$@"\n')
    weaker.chmod(0o755)
    plan["jail"]["path"] = str(weaker)
    ended = run_plan(plan, tmp_path)
    assert ended.report is not None
    assert ended.report["verdict"] == "refused"
    assert "isolation level full is required" in ended.report["reason"]
    assert ended.report["phases"] == []


def test_a_program_that_is_not_a_jail_is_our_fault(plan: dict[str, Any], tmp_path: Path) -> None:
    plan["jail"]["path"] = "/bin/false"
    ended = run_plan(plan, tmp_path)
    assert ended.report is not None
    assert ended.report["verdict"] == "infrastructure"


def phases(ended: Ended) -> list[str]:
    return [event["name"] for event in ended.progress if event["event"] == "phase"]


def test_progress_names_every_phase(plan: dict[str, Any], tmp_path: Path) -> None:
    ended = run_plan(plan, tmp_path)
    assert ended.report is not None
    assert phases(ended) == [phase["name"] for phase in ended.report["phases"]]
    assert ended.progress[-1] == {"event": "verdict", "verdict": "passed"}


def test_throughput_curve_has_at_least_50_windows(plan: dict[str, Any], tmp_path: Path) -> None:
    report = run_plan(plan, tmp_path).report
    assert report is not None
    curve = report["throughput"]
    main = next(phase for phase in report["phases"] if phase["name"] == curve["phase"])
    assert main["wall_ns"] >= 2_000_000
    assert len(curve["committed"]) >= 50
    assert sum(curve["committed"]) >= report["metrics"]["transactions_completed"]


def test_the_times_of_the_steps_fit_the_session(plan: dict[str, Any], tmp_path: Path) -> None:
    report = run_plan(plan, tmp_path).report
    assert report is not None
    times = report["referee"]
    steps = sum(times[step] for step in ("generating_ns", "playing_ns", "judging_ns"))
    assert 0 < steps <= times["session_ns"]
    phases_ns = sum(phase["wall_ns"] for phase in report["phases"])
    played = [report["loading"]["wall_ns"], phases_ns, times["inputs_ns"], times["outcomes_ns"]]
    assert all(part > 0 for part in played)
    assert sum(played) <= times["playing_ns"]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BUILD / "bin" / "referee", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_fingerprint_prints_what_the_file_contains() -> None:
    printed = json.loads(command("fingerprint", "sigmod2009").stdout)
    folder = ROOT / "benchmarks" / "sigmod2009"
    version = str(json.loads((folder / "benchmark.json").read_text())["version"])
    assert printed == {
        version: json.loads((folder / "fingerprint.json").read_text())[version],
    }


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ([], "a command is missing"),
        (["dance"], 'unknown command "dance"'),
        (["run"], "run: the argument PLAN.json is missing"),
        (["run", "a", "--report"], "--report: the name of the file is missing after this option"),
        (["run", "a", "--rapport", "b"], 'run: unknown option "--rapport"'),
    ],
)
def test_wrong_command_line_names_the_argument(arguments: list[str], wrong: str) -> None:
    ended = command(*arguments)
    assert ended.returncode == EXIT_UNUSABLE
    assert ended.stderr.startswith(f"referee: {wrong}\nusage:")


@pytest.mark.parametrize("program", ["phase_cost", "harness_cost", "generation_cost"])
def test_measuring_programs_refuse_unknown_options(program: str) -> None:
    ended = subprocess.run(
        [BUILD / "bin" / program, "--jsn", "x"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == EXIT_UNUSABLE
    assert 'unknown option "--jsn"' in ended.stderr
    assert ended.stdout == ""


@contextmanager
def loading_for_ever(case: Case, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the referee on a case that does not end by itself; yield when the library has begun to load."""
    plan = plan_of(case)
    # This jail may still be ending when the next test starts. So it gets another slot (the number that gives a jail its
    # user and control group); this process has reserved several.
    plan["jail"]["slot"] = SLOT + 1
    (folder / "plan.json").write_text(json.dumps(plan))
    arguments = ["run", str(folder / "plan.json"), "--report", str(folder / "report.json")]
    with subprocess.Popen(
        [BUILD / "bin" / "referee", *arguments, "--progress"], stdout=subprocess.PIPE, text=True
    ) as referee:
        assert referee.stdout is not None
        assert json.loads(referee.stdout.readline())["event"] == "loading"
        yield referee


def slice_ns(pid: int) -> int:
    """Return the time slice of a process: the field sched_runtime of sched_getattr(2). Old kernels return 0."""
    number = {"x86_64": 315, "aarch64": 275}[platform.machine()]
    attributes = ctypes.create_string_buffer(48)
    assert ctypes.CDLL(None).syscall(number, pid, attributes, len(attributes), 0) == 0
    return int.from_bytes(attributes.raw[24:32], sys.byteorder)


@pytest.mark.parametrize(
    ("benchmark", "instance", "is_short"),
    [("unit", "unit", True), ("sigmod2009", "preliminary1", False)],
)
def test_only_sessions_that_are_not_timed_have_short_time_slices(
    benchmark: str, instance: str, is_short: bool, tmp_path: Path
) -> None:
    case = Case("hang_in_create", benchmark=benchmark, instance=instance)
    with loading_for_ever(case, tmp_path) as referee:
        found = slice_ns(referee.pid)
        referee.terminate()
    assert (found == SHORT_SLICE_NS) == (is_short and found != 0)


def test_a_killed_run_leaves_no_unfinished_report(tmp_path: Path) -> None:
    with loading_for_ever(Case("hang_in_create"), tmp_path) as referee:
        referee.terminate()
    assert referee.returncode == -signal.SIGTERM
    assert list(tmp_path.glob("report*")) == []
