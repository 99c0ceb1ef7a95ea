"""Tests of the runner, which turns a job and a library file into a report, with the real referee, player and jail.

The referee plays and judges a session. The player, the program in the jail (a sandbox), calls the library.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner import series
from runner.catalogue import reference_configurations
from runner.contract import Cancelled, Job, Progress, RunReport
from runner.execute import execute
from runner.manifest import load_benchmarks
from runner.referee import build_plan
from runner.settings import load_settings
from runner.slots import hold_local_slot
from runner.store import BlobStore
from runner.terms import Scale, Verdict
from tests.binaries import built_settings, library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.request import Loadable, Request
    from runner.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
FIRST_UID = 60000


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    """Return settings with a store and working folders of their own, and a free slot: the number of the jail's user."""
    with hold_local_slot() as slot:
        yield replace(built_settings(), var=tmp_path / "var", slot=slot)


def go_on(_progress: Progress) -> bool:
    return True


def job(settings: Settings, file: Path, **fields: Any) -> Job:
    """Return a job for that file at smoke scale, its benchmark's current version and two sessions."""
    store = BlobStore(settings.blobs)
    with file.open("rb") as stream:
        blob = store.put(stream, limit_bytes=settings.library_bytes_max)
    benchmark = fields.get("benchmark", "sigmod2009")
    version = load_benchmarks(settings.root)[benchmark].version
    values = {
        "run_id": 7,
        "attempt": 1,
        "blob_sha256": blob.sha256,
        "benchmark": benchmark,
        "benchmark_version": version,
        "instance": "preliminary1",
        "scale": Scale.SMOKE,
        "seeds": ("00000000000000aa", "00000000000000bb"),
    }
    return Job(**{**values, **fields})


def processes_of(slot: int) -> list[int]:
    """Return the processes of a slot's user."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                owner = entry.stat().st_uid
            except FileNotFoundError:
                continue
            if owner == FIRST_UID + slot:
                found.append(int(entry.name))
    return found


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Poll until the condition is true; return False if it is still false after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@contextmanager
def leaves_nothing(settings: Settings) -> Iterator[None]:
    """Check that afterwards no process of the slot and no working folder is left."""
    yield
    assert wait_until(lambda: not processes_of(settings.slot), 10)
    assert list(settings.work.glob("*")) == []


def test_a_right_library_passes_and_the_control_runs_too(settings: Settings) -> None:
    progress: list[Progress] = []

    def beat(now: Progress) -> bool:
        progress.append(now)
        return True

    with leaves_nothing(settings):
        report = execute(job(settings, library(settings, "indexes", "global_lock")), beat, settings)
    assert (report.verdict, report.reason) == (Verdict.PASSED, ""), report.log
    assert [session.seed for session in report.sessions] == ["00000000000000aa", "00000000000000bb"]
    for session in report.sessions:
        assert session.control is not None
        for side in (session.candidate, session.control):
            assert side.metrics["total_ms"] > 0
            assert side.metrics["transactions_failed"] == 0
            assert side.jail.level == report.jail_level
    assert report.jail_level == "full"
    assert report.library_facts["kind"] == "index"
    assert report.machine["fingerprint"]
    assert RunReport.from_json(report.to_json()) == report
    fractions = [p.fraction for p in progress]
    assert fractions == sorted(fractions)
    assert {p.role for p in progress} == {"inspection", "candidate", "control"}
    assert report.machine["pinning"] == "none"
    assert report.machine["compiler"].startswith(
        ("GCC ", "Clang ", "Ubuntu Clang ", "Debian Clang ")
    )
    assert 0 <= report.machine["steal_percent"] <= 100
    phases = {p.phase for p in progress}
    assert {"create", "populate", "test"} <= phases


def test_a_recorded_job_is_certified(settings: Settings) -> None:
    file = library(settings, "indexes", "global_lock")
    with leaves_nothing(settings):
        report = execute(job(settings, file, record=True), go_on, settings)
    assert (report.verdict, report.reason) == (Verdict.PASSED, ""), report.log
    assert all(session.candidate.record for session in report.sessions)


def test_the_same_seed_gives_the_same_session(settings: Settings) -> None:
    asked = job(settings, library(settings, "indexes", "global_lock"), seeds=("00000000000000aa",))
    first, second = (execute(asked, go_on, settings).sessions[0].candidate for _ in range(2))
    for name in ("transactions_planned", "records_start"):
        assert first.metrics[name] == second.metrics[name]
    assert first.parameters == second.parameters
    # Populating needs memory for each record, and the test phase adds records.
    for name in ("memory_start_bytes", "bytes_per_record_start", "bytes_per_record"):
        assert first.metrics[name] > 0
    assert first.metrics["memory_end_bytes"] >= first.metrics["memory_start_bytes"]
    assert first.metrics["memory_start_bytes"] == pytest.approx(
        first.metrics["bytes_per_record_start"] * first.metrics["records_start"]
    )


@pytest.mark.parametrize("configuration", reference_configurations(load_settings()))
def test_a_structure_runs_under_its_configuration(configuration: str, settings: Settings) -> None:
    asked = job(settings, library(settings, "structures", "btree"), configuration=configuration)
    report = execute(asked, go_on, settings)
    assert (report.verdict, report.reason) == (Verdict.PASSED, ""), report.log
    assert report.library_facts["kind"] == "structure"


@pytest.mark.parametrize("benchmark", ["unit", "phantom"])
def test_correctness_runs_without_a_control(benchmark: str, settings: Settings) -> None:
    instance = next(iter(load_benchmarks(settings.root)[benchmark].instances))
    file = library(settings, "indexes", "global_lock")
    asked = job(settings, file, benchmark=benchmark, instance=instance)
    report = execute(asked, go_on, settings)
    assert (report.verdict, report.reason) == (Verdict.PASSED, ""), report.findings
    assert [session.control for session in report.sessions] == [None, None]


@pytest.mark.parametrize(("benchmark", "factors"), [("unit", [1, 3, 9]), ("sigmod2009", [1, 1, 1])])
def test_only_attempts_to_judge_get_more_time(
    benchmark: str, factors: list[int], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Further attempts at a correctness run get more time, because the machine may be busy.

    A timed session on such a machine would not count, so it keeps its limits.
    """
    found: list[int] = []

    def noting(loadable: Loadable, request: Request, *rest: Any) -> dict[str, Any]:
        found.append(request.timeout_factor)
        return build_plan(loadable, request, *rest)

    monkeypatch.setattr(series, "build_plan", noting)
    instance = next(iter(load_benchmarks(settings.root)[benchmark].instances))
    file = library(settings, "indexes", "global_lock")
    asked = job(settings, file, benchmark=benchmark, instance=instance, seeds=("00000000000000aa",))
    for attempt in (1, 2, 3):
        report = execute(replace(asked, attempt=attempt), go_on, settings)
        assert (report.verdict, report.reason) == (Verdict.PASSED, "")
    assert list(dict.fromkeys(found)) == list(dict.fromkeys(factors))


def test_an_untrusted_library_may_need_berkeley_db(settings: Settings) -> None:
    file = library(settings, "indexes", "berkeley")
    report = execute(job(settings, file), go_on, settings)
    assert (report.verdict, report.reason) == (Verdict.PASSED, ""), report.log


@pytest.mark.parametrize(
    ("fields", "verdict", "words"),
    [
        ({"instance": "final"}, Verdict.REFUSED, "has no instance 'final'"),
        ({"parameters": (("threads", 100000),)}, Verdict.REFUSED, "threads is 100000"),
        ({"parameters": (("speed", 1),)}, Verdict.REFUSED, "no parameter 'speed'"),
        ({"configuration": "rw"}, Verdict.REFUSED, "leave the configuration out"),
        (
            {"configuration": "fast"},
            Verdict.REFUSED,
            "no configuration 'fast'; choose one of: bare, exclusive",
        ),
        (
            {"benchmark_version": 999},
            Verdict.INFRASTRUCTURE,
            "needs version 999 of the benchmark sigmod2009",
        ),
        ({"blob_sha256": "0" * 64}, Verdict.INFRASTRUCTURE, "is not in"),
    ],
)
def test_a_job_that_cannot_be_done_says_why(
    fields: dict[str, Any], verdict: Verdict, words: str, settings: Settings
) -> None:
    with leaves_nothing(settings):
        asked = job(settings, library(settings, "indexes", "global_lock"), **fields)
        report = execute(asked, go_on, settings)
    assert report.verdict is verdict
    assert words in report.reason
    assert report.sessions == ()
    assert report.jail_level == ""


def test_a_benchmark_that_does_not_exist_is_refused(settings: Settings) -> None:
    asked = replace(job(settings, library(settings, "indexes", "null")), benchmark="fun")
    report = execute(asked, go_on, settings)
    assert report.verdict is Verdict.REFUSED
    assert "there is no benchmark 'fun'; choose one of: " in report.reason


def test_a_structure_without_a_configuration_is_refused(settings: Settings) -> None:
    report = execute(job(settings, library(settings, "structures", "btree")), go_on, settings)
    assert report.verdict is Verdict.REFUSED
    assert "needs a configuration" in report.reason


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("success_only", Verdict.FAILED),
        ("drops_1000th_write", Verdict.FAILED),
        ("crash_in_constructor", Verdict.CRASHED),
    ],
)
def test_a_wrong_library_ends_its_run_in_the_first_session(
    name: str, verdict: Verdict, settings: Settings
) -> None:
    with leaves_nothing(settings):
        report = execute(job(settings, library(settings, "faulty", name)), go_on, settings)
    assert report.verdict is verdict, report.reason
    assert report.reason
    assert len(report.sessions) == 1
    if verdict is Verdict.FAILED:
        assert any(finding.severity == "required" for finding in report.findings)


def test_a_run_that_hangs_can_be_cancelled(settings: Settings) -> None:
    beats = 0

    def beat(progress: Progress) -> bool:
        nonlocal beats
        beats += progress.role == "candidate" and progress.phase == "create"
        return beats < 4

    asked = job(settings, library(settings, "faulty", "hang_in_create"))
    with leaves_nothing(settings), pytest.raises(Cancelled):
        execute(asked, beat, settings)


def test_a_worker_killed_in_mid_run_takes_the_jail_with_it(settings: Settings) -> None:
    asked = job(settings, library(settings, "faulty", "hang_in_create"))
    script = (
        "import sys; from dataclasses import replace; from pathlib import Path\n"
        "from runner.contract import Job; from runner.execute import execute\n"
        "from runner.settings import load_settings\n"
        "settings = replace(load_settings(), var=Path(sys.argv[1]), slot=int(sys.argv[2]))\n"
        "execute(Job.from_json(sys.argv[3]), lambda _: True, settings)\n"
    )
    arguments = [str(settings.var), str(settings.slot), asked.to_json()]
    worker = subprocess.Popen([sys.executable, "-c", script, *arguments], cwd=ROOT)
    try:
        assert wait_until(lambda: bool(processes_of(settings.slot)), 60)
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    assert wait_until(lambda: not processes_of(settings.slot), 10)
    # The next job removes the working folder that the killed worker left.
    with leaves_nothing(settings):
        report = execute(
            replace(asked, blob_sha256=_other(settings), seeds=asked.seeds[:1]),
            go_on,
            settings,
        )
    assert report.verdict is Verdict.PASSED, report.reason


def _other(settings: Settings) -> str:
    return job(settings, library(settings, "indexes", "global_lock")).blob_sha256


def test_an_unannounced_recorded_session_fails_the_run(settings: Settings) -> None:
    file = library(settings, "faulty", "garbage_codes")
    report = execute(job(settings, file, recorded_seed="00000000000000cc"), go_on, settings)
    assert report.verdict is Verdict.FAILED, report.reason
    assert report.reason.startswith("spot check (one more session, ")
    assert {"illegal_answer", "undocumented_code"} <= {f.name for f in report.findings}
    assert report.sessions == ()


def test_a_recorded_session_of_a_right_library_changes_nothing(settings: Settings) -> None:
    right = job(settings, library(settings, "faulty", "honest"), recorded_seed="00000000000000cc")
    report = execute(right, go_on, settings)
    assert (report.verdict, report.reason) == (Verdict.PASSED, "")
    assert [session.seed for session in report.sessions] == list(right.seeds)
    assert not any(session.candidate.record for session in report.sessions)
