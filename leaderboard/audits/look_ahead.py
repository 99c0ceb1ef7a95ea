"""Adds the warning (finding) `look_ahead` to a run: the library may read its next calls in the memory of its caller.

The warning is computed from the audited sessions of a binary. An audited session was played twice with the same seed,
once in timed mode and once in verified mode. In timed mode, the process that contains the library makes the calls. In
verified mode, another process makes them, so the library cannot read its next calls in memory. The finding is added if
verified mode slows calls to the library down far more than the calls to the control library, the baseline
(results/look_ahead.py).

A single run rarely has the five audited sessions that a conclusion needs. So all runs of the same binary count
together, if they have the same configuration, benchmark instance, benchmark version, scale and machine class.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leaderboard.models import Run, RunDetail, State
from leaderboard.submissions.report_columns import StoredSession
from results.look_ahead import Audit, look_ahead_finding, pairs_of, summarise_audit
from runner.terms import Verdict

if TYPE_CHECKING:
    from runner.contract import RunReport
    from runner.report import AuditPair


def with_look_ahead(run: Run, report: RunReport) -> RunReport:
    """Return the report, with the finding `look_ahead` if the audited sessions of the binary were suspiciously slow.

    A run that did not pass, or that has no audited sessions of its own, gets no finding, without any SQL. For other
    runs, 1 SQL statement.
    """
    new = pairs_of(report.sessions)
    if not new or report.verdict is not Verdict.PASSED:
        return report
    finding = look_ahead_finding(run.benchmark, summarise_audit((*_stored_pairs(run), *new)))
    return report if finding is None else replace(report, findings=(*report.findings, finding))


def audit_of(run: Run) -> Audit | None:
    """Return the result of all audited sessions that count together with the sessions of this run, or None.

    At most 1 SQL statement.
    """
    pairs = [] if run.is_gate else _stored_pairs(run)
    return summarise_audit(pairs) if pairs else None


def _stored_pairs(run: Run) -> list[AuditPair]:
    """Return the times of the audited sessions that are stored and count together with the sessions of this run.

    Discarded sessions are left out.
    """
    if run.machine is None:
        return []
    runs = Run.objects.filter(
        submission__blob_sha256=run.submission.blob_sha256,
        submission__configuration=run.submission.configuration,
        submission__deleted_at__isnull=True,
        benchmark=run.benchmark,
        instance=run.instance,
        benchmark_version=run.benchmark_version,
        scale=run.scale,
        machine__machine_class=run.machine.machine_class,
        state=State.DONE,
        verdict=Verdict.PASSED,
    )
    stored = (
        RunDetail.objects.filter(run__in=runs).order_by("pk").values_list("sessions", flat=True)
    )
    sessions = [StoredSession.from_json(value) for values in stored for value in values]
    return [s.audit for s in sessions if s.audit is not None and not s.discarded]
