"""Makes the data of the site's tests: users, small libraries that gcc builds, submissions and finished runs.

A submission is an uploaded library. A run tests or times one submission on one benchmark, and a report is its result.
Submissions and runs go through leaderboard/services.py, as on a real site. No library is executed: the reports of the
runs are invented.
"""

from __future__ import annotations

import io
import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone

from leaderboard import catalogue, services
from leaderboard.catalogue import Target
from leaderboard.live_boards import note_live_versions
from leaderboard.machines import registry
from leaderboard.models import BoardEntry, LiveVersion, Machine, Run, Submission
from leaderboard.queue import claims
from runner.contract import RunReport, Session
from runner.report import Finding, Report
from runner.terms import Severity, Verdict
from runner.tests.samples import make_witness

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from django.contrib.auth.models import User
    from django.http.response import HttpResponseBase

CALLS = (
    "create",
    "openIndex",
    "closeIndex",
    "beginTransaction",
    "abortTransaction",
    "commitTransaction",
    "get",
    "getNext",
    "insertRecord",
    "deleteRecord",
)
BOARD = Target("sigmod2009", "preliminary1")
WINDOWS = 60
PASSWORD = "a horse and a battery"


def compile_library(folder: Path, *, calls: Sequence[str] = CALLS, tag: str = "") -> bytes:
    """Build a shared library that exports these calls. Each call returns 0; each `tag` gives a different digest."""
    source = folder / "library.c"
    body = "\n".join(f"int {call}(void) {{ return 0; }}" for call in calls)
    source.write_text(f'{body}\nconst char keydrome_tag[] = "{tag}";\n')
    target = folder / "library.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-fno-builtin", "-w", str(source), "-o", str(target)],
        check=True,
    )
    return target.read_bytes()


@dataclass(frozen=True)
class World:
    """Three users and a library. Alice submits the library, Bob is another contestant, Olga is an organiser."""

    alice: User
    bob: User
    olga: User
    library: bytes

    def file(self, name: str = "mine.so", content: bytes | None = None) -> SimpleUploadedFile:
        """Return a file that a test can upload in a form."""
        return SimpleUploadedFile(name, self.library if content is None else content)

    def submit(
        self,
        owner: User | None = None,
        *,
        description: str = "first try",
        name: str = "mine.so",
        targets: Sequence[Target] = (BOARD,),
        content: bytes | None = None,
    ) -> Submission:
        """Submit the library through services.submit, which the upload form also calls."""
        return services.submit(
            owner=owner or self.alice,
            file=io.BytesIO(self.library if content is None else content),
            file_name=name,
            description=description,
            targets=targets,
        )


def claim() -> Run:
    """Claim and start the next run of the queue, as a worker does."""
    run = _next_run(_machine())
    assert run is not None, "the queue is empty"
    return run


def _machine() -> Machine:
    return registry.seen("bench1", "2 cores of a test", {"cores": 2})


def _next_run(machine: Machine) -> Run | None:
    run = claims.claim(claims.Slot(machine, 0))
    assert run is None or claims.start(run.pk, run.attempt)
    return run


def finish(
    run: Run,
    verdict: Verdict = Verdict.PASSED,
    *,
    slower: float = 1.0,
    more_metrics: dict[str, float] | None = None,
    **changes: Any,
) -> Run:
    """Store a plausible report for a claimed run. `changes` replace fields of the RunReport.

    The library's time is multiplied by `slower`, and `more_metrics` are added to its metrics.
    """
    timed = run.kind == "performance"
    sessions = tuple(
        _session(run, seed, number, verdict, timed=timed, slower=slower)
        for number, seed in enumerate(run.seeds)
    )
    for session in sessions:
        session.candidate.metrics.update(more_metrics or {})
    now = timezone.now().isoformat()
    report = RunReport(
        run_id=run.pk,
        attempt=run.attempt,
        verdict=verdict,
        reason="" if verdict is Verdict.PASSED else "The library gave a wrong answer.",
        findings=(),
        sessions=sessions,
        jail_level="full",
        machine={"cpu": "Test CPU", "cores": 2, "kernel": "6.1"},
        log="hello from the library\n",
        library_facts={"kind": "index"},
        started_at=now,
        finished_at=now,
    )
    assert services.record(replace(report, **changes))
    return Run.objects.get(pk=run.pk)


def finish_all(*, verdicts: dict[str, Verdict] | None = None) -> None:
    """Finish all queued runs. `verdicts` maps benchmarks to verdicts; runs of other benchmarks pass."""
    machine = _machine()
    while (run := _next_run(machine)) is not None:
        finish(run, (verdicts or {}).get(run.benchmark, Verdict.PASSED))


def findings() -> tuple[Finding, ...]:
    """Return one finding of each severity."""
    return (
        Finding("unit", "duplicate_keys", Severity.REQUIRED, "get() lost a payload of key 42"),
        Finding(
            "unit",
            "sticky_db_end",
            Severity.ADVISORY,
            "getNext() continued after DB_END",
            make_witness(),
        ),
    )


def run_of(submission: Submission, benchmark: str = BOARD.benchmark) -> Run:
    """Return the submission's run on a benchmark."""
    return submission.runs.get(benchmark=benchmark)


def lone_machine() -> Machine:
    """Return the machine on which `claim` claims runs."""
    return Machine.objects.get(name="bench1")


def choices() -> list[str]:
    """Return the benchmark instances that the upload form shows, as texts."""
    return [str(choice.target) for choice in catalogue.choices()]


def content_of(answer: HttpResponseBase) -> bytes:
    """Return the whole body of a response. Reading a file to its end also closes the file."""
    if isinstance(answer, StreamingHttpResponse):
        return b"".join(cast("Iterable[bytes]", answer))
    assert isinstance(answer, HttpResponse)
    return answer.content


def _session(
    run: Run, seed: str, number: int, verdict: Verdict, *, timed: bool, slower: float = 1.0
) -> Session:
    candidate = _report(run, seed, verdict, slower * (40.0 + number), timed=timed)
    control = _report(run, seed, Verdict.PASSED, 80.0 + number, timed=timed) if timed else None
    return Session(seed, number % 2 == 0, candidate, control)


def _report(run: Run, seed: str, verdict: Verdict, total_ms: float, *, timed: bool) -> Report:
    report: dict[str, Any] = {
        "schema": "keydrome.report.v1",
        "verdict": verdict.value,
        "reason": "",
        "benchmark": run.benchmark,
        "benchmark_version": run.benchmark_version,
        "instance": run.instance,
        "scale": run.scale,
        "parameters": {"threads": 50, "inserts": 400},
        "seed": seed,
        "plain": False,
        "findings": [],
        "phases": [{"name": "test", "timed": True, "wall_ns": int(total_ms * 1e6)}],
        "metrics": {},
        "jail": {"level": "full"},
        "output": {"stdout": "", "stderr": ""},
    }
    if not timed:
        return Report.from_json(report)
    report["metrics"] = {
        "total_ms": total_ms,
        "deadlocks": 3,
        "transactions_failed": 0,
        "transactions_completed": 80000,
        "transactions_planned": 80000,
        "throughput_tps": 2.0e6,
        "memory_peak_bytes": 64 << 20,
        "hit_ratio": 0.93,
        "cpu_us": 91000,
    }
    if run.benchmark == "open_loop":
        report["metrics"]["sustained_per_s"] = 5e7 / total_ms
    report["throughput"] = {
        "phase": "test",
        "window_ns": 500_000,
        "committed": [1000 + 10 * (i % 7) for i in range(WINDOWS)],
    }
    report["latency"] = [
        {
            "class": name,
            "count": 1000,
            "p50_ns": 900 * factor,
            "p90_ns": 2000 * factor,
            "p99_ns": 9000 * factor,
            "p999_ns": 40000 * factor,
            "max_ns": 90000 * factor,
            "buckets": [[900 * factor, 500], [2000 * factor, 400], [90000 * factor, 100]],
        }
        for name, factor in (("scan", 8), ("get", 1), ("update", 3))
    ]
    return Report.from_json(report)


def outdate_boards() -> None:
    """Make the boards look as if the benchmark of BOARD had been updated after its runs ended.

    Subtracts 1 from the benchmark version of these runs, of all board entries, and of the versions that boards show.
    """
    note_live_versions()
    older = F("benchmark_version") - 1
    Run.objects.filter(benchmark=BOARD.benchmark).update(benchmark_version=older)
    BoardEntry.objects.update(benchmark_version=older)
    LiveVersion.objects.update(version=F("version") - 1)
