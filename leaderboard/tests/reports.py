"""Makes reports about runs, with the same fields as those of the real runner."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.contract import RunReport, Session
from runner.report import Finding, Report
from runner.terms import Severity, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leaderboard.models import Run
    from runner.report import AuditPair

STARTED = "2026-11-21T10:00:00.000+00:00"
FINISHED = "2026-11-21T10:00:05.000+00:00"


def session_report(run: Run, total_ms: float, failed: int = 0) -> Report:
    """Return a report of the referee, which runs a library, with the fields that the leaderboard reads."""
    value = {
        "schema": "keydrome.report.v1",
        "verdict": "passed",
        "reason": "",
        "benchmark": run.benchmark,
        "benchmark_version": run.benchmark_version,
        "instance": run.instance,
        "scale": run.scale,
        "seed": "0" * 16,
        "plain": False,
        "findings": [],
        "phases": [{"name": "test", "timed": True, "wall_ns": int(total_ms * 1e6)}],
        "metrics": {
            "total_ms": total_ms,
            "deadlocks": 2,
            "transactions_failed": failed,
            "transactions_completed": 1000 - failed,
            "transactions_planned": 1000,
        },
        "latency": [
            {
                "class": "scan",
                "count": 3,
                "p50_ns": 100,
                "p90_ns": 200,
                "p99_ns": 200,
                "p999_ns": 200,
                "max_ns": 190,
                "buckets": [[100, 2], [200, 1]],
            }
        ],
        "throughput": {"phase": "test", "window_ns": 1000000, "committed": [10, 20, 30]},
        "jail": {"level": "full"},
        "output": {"stdout": "", "stderr": ""},
    }
    return Report.from_json(value)


def with_metrics(report: Report, metrics: Mapping[str, float]) -> Report:
    """Return the report with further numbers."""
    return replace(report, metrics={**report.metrics, **metrics})


def make_report(
    run: Run,
    *,
    ratios: Sequence[float] | None = None,
    verdict: Verdict = Verdict.PASSED,
    reason: str = "",
    failed: int = 0,
    jail_level: str = "full",
    log: str = "session 1: passed",
    findings: tuple[Finding, ...] = (),
    void: Sequence[int] = (),
    control_ms: float = 100.0,
    control_changes: Sequence[float] = (),
    audits: Sequence[AuditPair] = (),
    metrics: Mapping[str, float] | None = None,
) -> RunReport:
    """Return a report about a claimed run, with one session for each of `ratios`.

    A ratio is the time of the candidate (the submitted library) divided by the time of the control library. `void` has
    the indices of discarded sessions. If `control_changes` is given, the control runs a second time in each session,
    after the candidate; its second time is the first one multiplied by one of these factors, in turn. `audits` are the
    times of sessions that were played twice: in timed mode, and in verified mode, where another process makes the
    calls. The first sessions get them, one each. `metrics` are further numbers of the candidate, the same in every
    session.
    """
    given = [1.0] * run.sessions if ratios is None else ratios
    sessions = tuple(
        Session(
            seed=f"{number:016x}",
            candidate_first=bool(number % 2),
            candidate=with_metrics(session_report(run, control_ms * ratio, failed), metrics or {}),
            control=None if run.is_gate else session_report(run, control_ms),
            control_after=None
            if run.is_gate or not control_changes
            else session_report(run, control_ms * control_changes[number % len(control_changes)]),
            discarded="the control library ran twice, and its second result is 1.20 times its first"
            if number in void
            else "",
            audit=audits[number] if number < len(audits) else None,
        )
        for number, ratio in enumerate(given)
    )
    return RunReport(
        run_id=run.pk,
        attempt=run.attempt,
        verdict=verdict,
        reason=reason,
        findings=findings,
        sessions=sessions,
        jail_level=jail_level,
        machine={"name": "bench1", "class": "fast"},
        log=log,
        library_facts={"kind": "index"},
        started_at=STARTED,
        finished_at=FINISHED,
    )


def warning(detail: str) -> Finding:
    """Return an advisory finding, which is a warning and does not change the verdict."""
    return Finding("unit", "cursor_sticks", Severity.ADVISORY, detail)
