"""Runs a series of sessions of the candidate, the library to judge. Each session has fresh processes and its own seed.

In a benchmark that measures times, each session also runs the control, a fixed library, so that noise of the machine
can be seen. In a series of at least 5 sessions the control runs before and after the candidate, with the same
operations. If the control's time changed too much between its two runs (drift.py), the session is discarded. A
discarded session stays in the report with the reason, and another session replaces it. There are at most as many
replacements as requested sessions. If the control's time changes too much in half of the sessions, the machine is too
busy to measure on. The series still runs to its end. The caller then uses `why_machine_too_busy` to decide whether the
result counts.

There are two modes. In timed mode the process that contains the library makes the calls. In verified mode a process
outside the jail (the sandbox of the library) makes them, so the library cannot read its next calls in memory.
`Request.verified` chooses the mode. A session whose seed is in `Request.audited_seeds` is then played a second time, in
the mode that was not chosen (audit.py).

A series of fewer than 5 sessions is too short to rank the candidate. In such a series the control runs once per
session. The session's seed decides whether it runs before or after the candidate.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from runner import audit
from runner.contract import AUDIT_ROLE, Cancelled, Progress, RefereeError, Session, SessionCurves
from runner.drift import VALUES_MIN, judge_drift, why_too_busy
from runner.inspection.user_file import unchanged
from runner.referee import build_plan, history_arguments, run_session
from runner.report import Finding
from runner.request import Loadable
from runner.terms import JailLevel, Severity, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from runner.report import AuditPair, Report
    from runner.request import Request
    from runner.settings import Settings

CANDIDATE, CONTROL, CONTROL_AFTER = "candidate", "control", "control again"
_BRACKET = (
    2  # the number of control runs in a session if one runs before and one after the candidate
)
_AUDIT = 2  # the number of library runs of an audit: the candidate and the control


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """The verdict of a series with its reason, the findings, all sessions, and the weakest of their jail levels."""

    verdict: Verdict
    reason: str
    findings: tuple[Finding, ...] = ()
    sessions: tuple[Session, ...] = ()
    jail_level: str = ""


def candidate_first(seed: str) -> bool:
    """Return True if the candidate runs first. The seed alone decides, like the toss of a fair coin."""
    return hashlib.sha256(f"order of {seed}".encode()).digest()[0] % 2 == 0


def run_series(
    candidate: Loadable,
    request: Request,
    settings: Settings,
    folder: Path,
    heartbeat: Callable[[Progress], bool],
) -> SeriesResult:
    """Run the request's sessions until one fails, and repeat discarded sessions. `folder` is for working files.

    This function calls `heartbeat` at least once a second, and raises Cancelled if `heartbeat` returns False. If the
    control library fails, the verdict is infrastructure, because the candidate is not at fault. Raises RequestError if
    a user's file that every session reads (keys, or a recorded trace of calls) changes.
    """
    series = _Series(candidate, request, settings, folder, heartbeat)
    for number, seed in enumerate(_seeds(request), start=1):
        stopped = series.session(number, seed)
        if stopped is not None:
            return stopped
        if number >= len(request.seeds) and series.counted() >= len(request.seeds):
            break
    # judge_drift discards fewer than half of the sessions, so there are always enough repetitions.
    return series.result(Verdict.PASSED, "")


def _seeds(request: Request) -> Iterator[str]:
    """Yield the seeds of the sessions, then as many seeds for repetitions. All of them are secret."""
    yield from request.seeds
    for number in range(1, len(request.seeds) + 1):
        yield hashlib.sha256(f"repetition {number} of {request.seeds[0]}".encode()).hexdigest()[:16]


def mark_discarded(sessions: Sequence[Session], metric: str) -> tuple[Session, ...]:
    """Return the sessions, each with its field `discarded` set to the reason, or to an empty string if it is valid."""
    changes = [_control_change(session, metric) for session in sessions]
    known = [index for index, change in enumerate(changes) if change is not None]
    drift = judge_drift([change for change in changes if change is not None])
    reasons = {index: drift.reason(place) for place, index in enumerate(known)}
    return tuple(
        replace(session, discarded=reasons.get(index, "")) for index, session in enumerate(sessions)
    )


def _control_failure(number: int, control: Report) -> str:
    """Return why a session has no time of the control library. The reason of an infrastructure verdict has a remedy."""
    text = f"session {number}: the control library, which Keydrome times for comparison,"
    fault = "the judged library is not at fault"
    if control.verdict is Verdict.INFRASTRUCTURE:
        return f"{text} could not be timed; {fault}: {control.reason}"
    verdict = control.verdict.value.replace("_", " ")
    advice = "run ./dev build (on a site: tell an organiser), and try again"
    if control.verdict is Verdict.TIMED_OUT:
        advice = f"try again when the machine has less other work; if this happens again, {advice}"
    return f"{text} did not pass (verdict: {verdict}): {control.reason}; {fault}; {advice}"


def why_machine_too_busy(sessions: Sequence[Session], metric: str, *, on_site: bool = False) -> str:
    """Return why the machine was too busy for these sessions to count, or an empty string if they count."""
    changes = (_control_change(session, metric) for session in sessions)
    return why_too_busy([change for change in changes if change is not None], on_site=on_site)


def _control_change(session: Session, metric: str) -> float | None:
    """Return log(control's metric after the candidate / before the candidate), or None if one of them is unknown."""
    values = [report.metrics.get(metric, 0.0) for report in session.controls]
    if len(values) < _BRACKET or not all(values):
        return None
    before, after = values
    return math.log(after / before)


@dataclass(slots=True)
class _Series:
    candidate: Loadable
    request: Request
    settings: Settings
    folder: Path
    heartbeat: Callable[[Progress], bool]
    sessions: list[Session] = field(default_factory=list)
    # For the progress: the number of library runs that have passed. The runs of an audit count too, even if they were
    # left out because they would take too long.
    done: int = 0
    audit_findings: list[Finding] = field(default_factory=list)
    curves: SessionCurves | None = None  # of the last session, for the progress

    def session(self, number: int, seed: str) -> SeriesResult | None:
        """Run session `number`. Return the result of the series if this session ends the series, otherwise None."""
        roles = self._roles(seed)
        first = roles[0] == CANDIDATE
        reports: dict[str, Report] = {}
        fault = ""
        for role in roles:
            try:
                report = self._run(role, number, seed)
            except RefereeError as error:
                fault = f"session {number}: {error}"
                break
            reports[role] = report
            if report.verdict is not Verdict.PASSED:
                break
            self.done += 1
        if CANDIDATE in reports:
            controls = reports.get(CONTROL), reports.get(CONTROL_AFTER)
            self.sessions.append(Session(seed, first, reports[CANDIDATE], *controls))
            self._keep_curves(number, reports)
        ending = self._ending(number, reports, fault)
        if ending is None and seed in self._audited_seeds():
            done = self.done + _AUDIT
            if audit.is_affordable(reports[CANDIDATE], self.settings):
                ending = self._audit(number, reports)
            self.done = done
        return ending

    def _audited_seeds(self) -> set[str]:
        """Return the seeds of the sessions to audit. Without the control there are none."""
        return set(self.request.audited_seeds) if self.request.with_control else set()

    def _keep_curves(self, number: int, reports: dict[str, Report]) -> None:
        """Keep the throughput of a session that has ended, so that the progress shows it."""
        candidate = reports[CANDIDATE].throughput
        control = reports[CONTROL].throughput if CONTROL in reports else None
        if candidate is not None:
            self.curves = SessionCurves(number, candidate, control)

    def _audit(self, number: int, reports: dict[str, Report]) -> SeriesResult | None:
        """Play session `number` again, in the mode that was not chosen. Return the result if the candidate fails.

        Otherwise return None. If the machine or the control library fails, only an advisory finding (a warning) is
        added, because such a failure proves nothing about the candidate.
        """
        seed = reports[CANDIDATE].seed
        again: dict[str, Report] = {}
        fault = ""
        for role in (CANDIDATE, CONTROL) if candidate_first(seed) else (CONTROL, CANDIDATE):
            try:
                again[role] = self._run(role, number, seed, audited=True)
            except RefereeError as error:
                fault = str(error)
                break
            if again[role].verdict is not Verdict.PASSED:
                fault = f"the {role} library {again[role].verdict.predicate}: {again[role].reason}"
                break
            self.done += 1
        candidate = again.get(CANDIDATE)
        if candidate is not None:
            self.audit_findings += candidate.findings
            if candidate.verdict not in {Verdict.PASSED, Verdict.INFRASTRUCTURE}:
                return self.result(candidate.verdict, audit.AUDITED + candidate.reason)
        if fault:
            suite = self.request.benchmark.name
            text = f"{audit.NOT_AUDITED}: {fault}. {audit.NO_EFFECT}"
            self.audit_findings.append(Finding(suite, "not_audited", Severity.ADVISORY, text))
            return None
        pair = self._pair(reports, again)
        self.sessions[-1] = replace(self.sessions[-1], audit=pair)
        return None

    def _pair(self, reports: dict[str, Report], again: dict[str, Report]) -> AuditPair | None:
        # The control ran once or twice in the chosen mode. Use its last run, which is nearest in time to the
        # runs in the mode that was not chosen.
        control = reports.get(CONTROL_AFTER, reports[CONTROL])
        return audit.make_pair(
            (reports[CANDIDATE], again[CANDIDATE]),
            (control, again[CONTROL]),
            comparable=audit.has_two_cpus_per_thread(reports[CANDIDATE], self.settings),
        )

    def _ending(self, number: int, reports: dict[str, Report], fault: str) -> SeriesResult | None:
        if fault:
            return self.result(Verdict.INFRASTRUCTURE, fault)
        candidate = reports.get(CANDIDATE)
        # Use the last control run. If the first of two control runs failed, the second one did not run.
        control = reports.get(CONTROL_AFTER, reports.get(CONTROL))
        if candidate is not None and candidate.verdict is not Verdict.PASSED:
            return self.result(candidate.verdict, candidate.reason)
        if control is not None and control.verdict is Verdict.REFUSED:
            # The machine's jail is weaker than required, so the candidate would be refused, too.
            return self.result(Verdict.REFUSED, control.reason)
        if control is not None and control.verdict is not Verdict.PASSED:
            return self.result(Verdict.INFRASTRUCTURE, _control_failure(number, control))
        return None

    def _roles(self, seed: str) -> list[str]:
        """Return what a session runs, in order: the candidate, and up to two runs of the control."""
        if not self.request.with_control:
            return [CANDIDATE]
        if len(self.request.seeds) >= VALUES_MIN:
            return [CONTROL, CANDIDATE, CONTROL_AFTER]
        return [CANDIDATE, CONTROL] if candidate_first(seed) else [CONTROL, CANDIDATE]

    def _run(self, role: str, number: int, seed: str, *, audited: bool = False) -> Report:
        runs = len(self.request.seeds) * len(self._roles(seed)) + _AUDIT * len(
            self._audited_seeds()
        )
        # The number of repetitions is not known in advance, so the progress stays at 1 during repetitions.
        planned = max(number, len(self.request.seeds))
        shown = role + AUDIT_ROLE if audited else role
        part_done = min(self.done / runs, 1.0)
        where = Progress(number, planned, shown, "start", part_done, self.curves)

        def tick(phase: str, index: int, count: int) -> bool:
            nonlocal where
            if count > 0:
                fraction = min((self.done + min(index / count, 1.0)) / runs, 1.0)
                where = Progress(number, planned, shown, phase, fraction, self.curves)
            return self.heartbeat(where)

        if not self.heartbeat(where):
            raise Cancelled
        loadable = self.candidate if role == CANDIDATE else Loadable(self.settings.control)
        work = self.folder / f"{number}-{shown.replace(', ', '-').replace(' ', '-')}"
        work.mkdir(mode=0o700)
        request = self.request
        if audited:
            request = replace(request, verified=not request.verified)
        plan = build_plan(loadable, request, seed, self.settings)
        if audited:
            limits = request.benchmark.limits[request.scale]
            plan["limits"]["phase_timeout_ms"] = limits.phase_timeout_ms + audit.PHASE_EXTRA_MS
        keep = history_arguments(self.request) if role == CANDIDATE else []
        with unchanged(request.user_files):
            return run_session(plan, work, self.settings, tick, keep)

    def result(self, verdict: Verdict, reason: str) -> SeriesResult:
        """Return the result of the sessions so far."""
        levels = [session.candidate.jail.level for session in self.sessions]
        order = list(JailLevel)
        weakest = max(levels, key=order.index).value if levels else ""
        return SeriesResult(verdict, reason, self._findings(), self._marked(), weakest)

    def counted(self) -> int:
        """Return the number of sessions so far that are not discarded."""
        return sum(not session.discarded for session in self._marked())

    def _marked(self) -> tuple[Session, ...]:
        metric = self.request.benchmark.metric
        return (
            tuple(self.sessions) if metric is None else mark_discarded(self.sessions, metric.name)
        )

    def _findings(self) -> tuple[Finding, ...]:
        """Return each finding once, with the detail of the first session that reported it."""
        found: dict[tuple[str, str, str], Finding] = {}
        of_sessions = (f for session in self.sessions for f in session.candidate.findings)
        for finding in (*of_sessions, *self.audit_findings):
            found.setdefault((finding.suite, finding.name, finding.severity), finding)
        return tuple(found.values())
