"""Runs one job: copies the uploaded file, checks it, runs the sessions and returns the report. Read this file first.

A session measures the file's library in fresh processes, with a seed of its own. A job has one or more sessions.
A fault of a job or of a library is not an exception: `execute` returns a report whose verdict and reason describe the
fault. `execute` raises Cancelled if the heartbeat function returns False. It raises Python's own errors if the machine
fails, for example if the disk is full.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from runner.catalogue import load_configuration
from runner.contract import Cancelled, Job, Progress, RunReport, Session
from runner.inspection.library import (
    LibraryFacts,
    inspect_library,
    refusal_findings,
    refusals_text,
)
from runner.machine import facts_of_sessions
from runner.manifest import Kind, RequestError, find_benchmark, load_benchmarks
from runner.request import Request, make_loadable, timeout_factor_of
from runner.series import SeriesResult, why_machine_too_busy
from runner.settings import Settings, load_settings
from runner.spot_check import run_with_spot_check
from runner.store import BlobStore, StoreError
from runner.strict import StrictError
from runner.terms import JailLevel, Verdict
from runner.text import capped
from runner.work_folder import work_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Heartbeat = Callable[[Progress], bool]

LOG_CHARACTERS_MAX = 60_000
_FILE_NAME = "library.so"


class StaleHarnessError(Exception):
    """The job needs a version of the benchmark that this worker (the process that runs jobs) does not have."""


def execute(job: Job, heartbeat: Heartbeat, settings: Settings | None = None) -> RunReport:
    """Run a job and return its report.

    This function calls `heartbeat` at least once a second while sessions run. During the inspection of the file, up to
    30 s may pass without a call. If `heartbeat` returns False, every process of the job is ended and Cancelled is
    raised. The caller must hold the jail slot of the settings (slots.hold_slot). A slot is a number that gives the jail
    (the sandbox for the library) a user of its own.
    """
    settings = settings or load_settings()
    started = _now()
    facts: LibraryFacts | None = None
    with work_folder(settings.work) as folder:
        try:
            request = _request(job, settings)
            file = folder / _FILE_NAME
            BlobStore(settings.blobs).copy(job.blob_sha256, file, mode=0o444)
            result, facts = run_file(
                file, request, settings, folder, heartbeat, recorded_seed=job.recorded_seed
            )
            result = _unless_too_busy(request, result)
        except RequestError as error:
            result = SeriesResult(Verdict.REFUSED, str(error))
        except (StaleHarnessError, StoreError, StrictError) as error:
            result = SeriesResult(Verdict.INFRASTRUCTURE, str(error))
    return RunReport(
        run_id=job.run_id,
        attempt=job.attempt,
        verdict=result.verdict,
        reason=result.reason,
        findings=result.findings,
        sessions=result.sessions,
        jail_level=result.jail_level,
        machine=facts_of_sessions(result.sessions),
        log=session_log(result.sessions),
        library_facts=facts.to_json() if facts else {},
        started_at=started,
        finished_at=_now(),
    )


def run_file(
    file: Path,
    request: Request,
    settings: Settings,
    folder: Path,
    heartbeat: Heartbeat,
    *,
    recorded_seed: str | None = None,
) -> tuple[SeriesResult, LibraryFacts]:
    """Inspect the file (check it without running it), and run the request's sessions; `folder` is for working files.

    The file must not change during the run, and the user of the jail (the sandbox) must be able to read it. So pass a
    copy (`copy_into`). If `recorded_seed` is given, one more session is run with this seed. Its history (all calls with
    their results) is checked for errors of isolation (runner/spot_check.py).

    The file may be a library or a structure, a data structure to which the runtime adds transactions as a configuration
    says. Raises RequestError if a structure comes without a configuration, or a library with one.
    """
    if not heartbeat(Progress(0, len(request.seeds), "inspection", "inspection", 0.0)):
        raise Cancelled
    facts = inspect_library(file, settings, trusted=request.trusted)
    result = run_inspected(
        Inspected(file, facts), request, settings, folder, heartbeat, recorded_seed=recorded_seed
    )
    return result, facts


@dataclass(frozen=True, slots=True)
class Inspected:
    """A file with the result of inspect_library()."""

    file: Path
    facts: LibraryFacts


def run_inspected(
    inspected: Inspected,
    request: Request,
    settings: Settings,
    folder: Path,
    heartbeat: Heartbeat,
    *,
    recorded_seed: str | None = None,
) -> SeriesResult:
    """Run the request's sessions as run_file() does, without another inspection."""
    facts = inspected.facts
    if facts.refusals:
        reason = refusals_text(facts.refusals)
        if facts.is_unfinished:
            return SeriesResult(Verdict.INFRASTRUCTURE, reason)
        return SeriesResult(Verdict.REFUSED, reason, refusal_findings(facts.refusals))
    if missing := settings.why_incomplete():
        return SeriesResult(Verdict.INFRASTRUCTURE, missing)
    candidate = make_loadable(inspected.file, facts, request, settings)
    return run_with_spot_check(candidate, request, settings, folder, heartbeat, seed=recorded_seed)


def copy_into(folder: Path, file: Path) -> Path:
    """Copy a file into a working folder, so that every user can read the copy. Return the path of the copy."""
    copy = folder / _FILE_NAME
    shutil.copyfile(file, copy)
    copy.chmod(0o444)
    return copy


def session_log(sessions: tuple[Session, ...]) -> str:
    """Return one line for each session, and then the untrusted text that the library printed in the last session."""
    lines = []
    for number, session in enumerate(sessions, start=1):
        report = session.candidate
        text = f"session {number}: {report.verdict}"
        text += f": {report.reason}" if report.reason else ""
        lines.append(f"{text}; discarded: {session.discarded}" if session.discarded else text)
    if sessions:
        lines.append(session_output(sessions[-1]))
    return capped("\n".join(lines), LOG_CHARACTERS_MAX)


def session_output(session: Session) -> str:
    """Return the untrusted text that the library printed in a session: standard output, then standard error."""
    output = session.candidate.output
    streams = {"stdout": output.stdout, "stderr": output.stderr}
    parts = (f"--- {name} ---\n{text}" for name, text in streams.items() if text)
    return "\n".join(parts)


def _unless_too_busy(request: Request, result: SeriesResult) -> SeriesResult:
    """Return the result, with the verdict infrastructure if the library passed on a machine that was too busy."""
    metric = request.benchmark.metric
    if metric is None or result.verdict is not Verdict.PASSED:
        return result
    reason = why_machine_too_busy(result.sessions, metric.name, on_site=True)
    return replace(result, verdict=Verdict.INFRASTRUCTURE, reason=reason) if reason else result


def _request(job: Job, settings: Settings) -> Request:
    benchmark = find_benchmark(load_benchmarks(settings.root), job.benchmark)
    if benchmark.version != job.benchmark_version:
        raise StaleHarnessError(
            f"the run needs version {job.benchmark_version} of the benchmark {job.benchmark}, but the worker's files "
            f"have version {benchmark.version}, because they changed after the worker had started: "
            "an organiser must restart the worker; then repeat the run"
        )
    named = job.configuration
    judges = benchmark.kind is Kind.CORRECTNESS
    return Request(
        benchmark=benchmark,
        instance=job.instance,
        scale=job.scale,
        overrides=dict(job.parameters),
        seeds=job.seeds,
        plain=job.plain,
        require=JailLevel(job.require_level),
        control=True,
        configuration=None if named is None else load_configuration(settings, named),
        trusted=job.trusted,
        record=job.record,
        verified=job.verified,
        audited_seeds=job.audited_seeds,
        timeout_factor=timeout_factor_of(job.attempt) if judges else 1,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
