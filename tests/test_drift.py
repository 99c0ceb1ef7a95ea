"""Tests what happens to a run on a machine that is too busy to measure on, with the real referee and jail.

The referee plays and judges a session. The test injects the noise: each session times the control library, which is the
same for all runs, twice. A wrapper around the referee replaces these times, so that the second is 1.5 times the first.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cli.main import main
from runner.contract import Job
from runner.execute import execute
from runner.manifest import load_benchmarks
from runner.slots import hold_local_slot
from runner.store import BlobStore
from runner.terms import Scale, Verdict
from tests.binaries import built_settings, library

if TYPE_CHECKING:
    from pathlib import Path

    from runner.settings import Settings

SESSIONS = 5
# The control's reported times in ms, first and second run of a session. Only these are injected; all else is real.
FIRST_MS, SECOND_MS = 100, 150
WRAPPER = """#!/usr/bin/env -S python3 -IS
import json, subprocess, sys
status = subprocess.run([{referee!r}, *sys.argv[1:]]).returncode
role = sys.argv[2].split("/")[-2]
path = sys.argv[4]
report = json.load(open(path))
if role.endswith("-control") or role.endswith("-control-again"):
    report["metrics"]["total_ms"] = {second_ms} if role.endswith("-again") else {first_ms}
json.dump(report, open(path, "w"))
sys.exit(status)
"""


def settings_of_noise(folder: Path, second_ms: int) -> Settings:
    """Return settings of a build whose referee reports these times for the control."""
    real = built_settings()
    build = folder / "build"
    (build / "bin").mkdir(parents=True)
    (build / "lib").symlink_to(real.build / "lib")
    for program in (real.build / "bin").iterdir():
        if program.name != "referee":
            (build / "bin" / program.name).symlink_to(program)
    wrapper = build / "bin" / "referee"
    text = WRAPPER.format(referee=str(real.referee), first_ms=FIRST_MS, second_ms=second_ms)
    wrapper.write_text(text)
    wrapper.chmod(0o755)
    return replace(real, build=build, var=folder / "var")


def job(settings: Settings) -> Job:
    file = library(settings, "indexes", "global_lock")
    with file.open("rb") as stream:
        blob = BlobStore(settings.blobs).put(stream, limit_bytes=settings.library_bytes_max)
    return Job(
        run_id=1,
        attempt=1,
        blob_sha256=blob.sha256,
        benchmark="lookups",
        benchmark_version=load_benchmarks(settings.root)["lookups"].version,
        instance="hits",
        scale=Scale.SMOKE,
        seeds=tuple(hashlib.sha256(bytes([n])).hexdigest()[:16] for n in range(SESSIONS)),
    )


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_run_for_a_board_ends_as_infrastructure(is_busy: bool, tmp_path: Path) -> None:
    """The worker queues such a run again (leaderboard/tests/test_worker.py)."""
    settings = settings_of_noise(tmp_path, SECOND_MS if is_busy else FIRST_MS)
    with hold_local_slot() as slot:
        settings = replace(settings, slot=slot)
        report = execute(job(settings), lambda _progress: True, settings)
    assert len(report.sessions) == SESSIONS
    assert all(session.candidate.verdict is Verdict.PASSED for session in report.sessions)
    if not is_busy:
        assert (report.verdict, report.reason) == (Verdict.PASSED, "")
        return
    assert report.verdict is Verdict.INFRASTRUCTURE
    assert report.reason.startswith("the site's machine was too busy to measure on")
    assert "changed by 50 % (median of 5 changes, at most 20 % allowed)" in report.reason


def test_bench_warns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of_noise(tmp_path, SECOND_MS)
    monkeypatch.setenv("KEYDROME_BUILD", str(settings.build))
    out = tmp_path / "bench.json"
    file = str(library(settings, "indexes", "global_lock"))
    arguments = ["--benchmark", "lookups", "--scale", "smoke", "--sessions", str(SESSIONS)]
    assert main(["bench", file, *arguments, "--json", str(out)]) == 0
    assert "warning: this machine is too busy to measure on" in capsys.readouterr().out
    assert json.loads(out.read_text())["verdict"] == "passed"
