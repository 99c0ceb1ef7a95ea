"""One job from blob to report. Read this first.

`execute` never raises for what a job or a library does: every way to end is a verdict with a reason. It raises
Cancelled when the beat function asks for it, and what Python raises when the machine itself fails (no disk, no memory).
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from runner.catalogue import load_configuration
from runner.contract import (
    Cancelled,
    JailLevel,
    Job,
    Progress,
    RunReport,
    Session,
    Verdict,
)
from runner.elf import LibraryFacts, inspect_library, refusal_findings
from runner.lot import run_with_lot
from runner.machine import machine_facts
from runner.manifest import RequestError, find_benchmark, load_benchmarks
from runner.order import Order, make_target
from runner.series import SeriesResult
from runner.settings import Settings, load_settings
from runner.store import BlobStore, StoreError
from runner.strict import StrictError
from runner.text import capped
from runner.work_folder import work_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Beat = Callable[[Progress], bool]

LOG_CHARACTERS_MAX = 60_000
_FILE_NAME = "library.so"


class StaleHarnessError(Exception):
    """This worker has another version of the benchmark than the run asks for."""


def execute(job: Job, beat: Beat, settings: Settings | None = None) -> RunReport:
    """Run a job and return what happened.

    `beat` is called at least once a second while sessions run (inspection may take longer, at most 30 s) and returns
    False to cancel; then Cancelled is raised, and nothing of the job runs any more. The caller holds the settings' jail
    slot (slots.hold_slot) meanwhile.
    """
    settings = settings or load_settings()
    started = _now()
    facts: LibraryFacts | None = None
    with work_folder(settings.work) as folder:
        try:
            order = _order(job, settings)
            file = folder / _FILE_NAME
            BlobStore(settings.blobs).copy(job.blob_sha256, file, mode=0o444)
            result, facts = run_file(
                file, order, settings, folder, beat, recorded_seed=job.recorded_seed
            )
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
        machine=machine_facts(),
        log=session_log(result.sessions),
        library_facts=facts.to_json() if facts else {},
        started_at=started,
        finished_at=_now(),
    )


def run_file(
    file: Path,
    order: Order,
    settings: Settings,
    folder: Path,
    beat: Beat,
    *,
    recorded_seed: str | None = None,
) -> tuple[SeriesResult, LibraryFacts]:
    """Inspect the file and run the order's sessions with it; `folder` is for working files.

    The file must not change meanwhile and must be readable for everybody: give a copy (`copy_into`). With a
    `recorded_seed` there is one more session, recorded (runner/lot.py). RequestError when the file does not fit the
    order's configuration.
    """
    if not beat(Progress(0, len(order.seeds), "inspection", "inspection", 0.0)):
        raise Cancelled
    facts = inspect_library(file, settings, trusted=order.trusted)
    if facts.refusals:
        reason = "; ".join(map(str, facts.refusals))
        return SeriesResult(Verdict.REFUSED, reason, refusal_findings(facts.refusals)), facts
    missing = settings.missing_binaries()
    if missing:
        names = ", ".join(map(str, missing))
        reason = f"not built: {names}; build (./dev build) or set KEYDROME_BUILD"
        return SeriesResult(Verdict.INFRASTRUCTURE, reason), facts
    target = make_target(file, facts, order, settings)
    return run_with_lot(target, order, settings, folder, beat, seed=recorded_seed), facts


def copy_into(folder: Path, file: Path) -> Path:
    """Copy a user's file into a working folder, under a name of ours and readable for everybody; return the copy."""
    copy = folder / _FILE_NAME
    shutil.copyfile(file, copy)
    copy.chmod(0o444)
    return copy


def session_log(sessions: tuple[Session, ...]) -> str:
    """Return what the candidate printed in its last session, headed by one line of ours per session."""
    lines = []
    for number, session in enumerate(sessions, start=1):
        report = session.candidate
        text = f"session {number}: {report['verdict']}"
        text += f": {report['reason']}" if report["reason"] else ""
        lines.append(f"{text}; void: {session.void}" if session.void else text)
    if sessions:
        lines.append(session_output(sessions[-1]))
    return capped("\n".join(lines), LOG_CHARACTERS_MAX)


def session_output(session: Session) -> str:
    """Return what the candidate printed in a session: untrusted text, standard output before standard error."""
    output = session.candidate["output"]
    parts = (f"--- {name} ---\n{output[name]}" for name in ("stdout", "stderr") if output[name])
    return "\n".join(parts)


def _order(job: Job, settings: Settings) -> Order:
    benchmark = find_benchmark(load_benchmarks(settings.root), job.benchmark)
    if benchmark.version != job.benchmark_version:
        raise StaleHarnessError(
            f"the run asks for {job.benchmark} version {job.benchmark_version}, this worker has version "
            f"{benchmark.version}: update and restart whichever is older"
        )
    named = job.configuration
    return Order(
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
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
