"""A series of sessions: fresh processes and a fresh seed each, the control library beside the candidate."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runner.contract import Cancelled, Finding, JailLevel, Progress, Session, Verdict
from runner.order import Target
from runner.referee import RefereeError, build_plan, run_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.order import Order
    from runner.settings import Settings

CANDIDATE, CONTROL = "candidate", "control"


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """What a series showed; the fields mean what they mean in RunReport."""

    verdict: Verdict
    reason: str
    findings: tuple[Finding, ...] = ()
    sessions: tuple[Session, ...] = ()
    jail_level: str = ""


def candidate_first(seed: str) -> bool:
    """Return the order of a session: a coin thrown with the session's secret seed, so that a replay repeats it."""
    return hashlib.sha256(f"order of {seed}".encode()).digest()[0] % 2 == 0


def run_series(
    target: Target,
    order: Order,
    settings: Settings,
    folder: Path,
    beat: Callable[[Progress], bool],
) -> SeriesResult:
    """Run the order's sessions until one fails; `folder` is for working files.

    `beat` is called at least once a second; Cancelled when it returns False. A control that fails is our fault:
    the verdict is infrastructure.
    """
    series = _Series(target, order, settings, folder, beat)
    for number, seed in enumerate(order.seeds, start=1):
        stopped = series.session(number, seed)
        if stopped is not None:
            return stopped
    return series.result(Verdict.PASSED, "")


@dataclass(slots=True)
class _Series:
    target: Target
    order: Order
    settings: Settings
    folder: Path
    beat: Callable[[Progress], bool]
    sessions: list[Session] = field(default_factory=list)
    done: int = 0  # candidate and control runs that have ended

    def session(self, number: int, seed: str) -> SeriesResult | None:
        """Run session `number`; a result when the series ends with it."""
        first = candidate_first(seed)
        roles = [CANDIDATE, CONTROL] if first else [CONTROL, CANDIDATE]
        reports: dict[str, dict[str, Any]] = {}
        fault = ""
        for role in roles if self.order.with_control else [CANDIDATE]:
            try:
                report = self._run(role, number, seed)
            except RefereeError as error:
                fault = f"session {number}: {error}"
                break
            reports[role] = report
            if report["verdict"] != Verdict.PASSED:
                break
            self.done += 1
        if CANDIDATE in reports:
            self.sessions.append(Session(seed, first, reports[CANDIDATE], reports.get(CONTROL)))
        return self._ending(number, reports, fault)

    def _ending(
        self, number: int, reports: dict[str, dict[str, Any]], fault: str
    ) -> SeriesResult | None:
        if fault:
            return self.result(Verdict.INFRASTRUCTURE, fault)
        candidate, control = reports.get(CANDIDATE), reports.get(CONTROL)
        if candidate is not None and candidate["verdict"] != Verdict.PASSED:
            return self.result(Verdict(candidate["verdict"]), candidate["reason"])
        if control is not None and control["verdict"] == Verdict.REFUSED:
            # The machine gives less than the run requires: the candidate would have been refused as well.
            return self.result(Verdict.REFUSED, control["reason"])
        if control is not None and control["verdict"] != Verdict.PASSED:
            reason = (
                f"session {number}: the control library {control['verdict']}: {control['reason']}"
            )
            return self.result(Verdict.INFRASTRUCTURE, reason)
        return None

    def _run(self, role: str, number: int, seed: str) -> dict[str, Any]:
        runs = len(self.order.seeds) * (2 if self.order.with_control else 1)
        where = Progress(number, len(self.order.seeds), role, "start", self.done / runs)

        def tick(phase: str, index: int, count: int) -> bool:
            nonlocal where
            if count > 0:
                fraction = (self.done + min(index / count, 1.0)) / runs
                where = Progress(number, len(self.order.seeds), role, phase, fraction)
            return self.beat(where)

        if not self.beat(where):
            raise Cancelled
        target = self.target if role == CANDIDATE else Target(self.settings.control)
        work = self.folder / f"{number}-{role}"
        work.mkdir(mode=0o700)
        plan = build_plan(target, self.order, seed, self.settings)
        return run_session(plan, work, self.settings, tick)

    def result(self, verdict: Verdict, reason: str) -> SeriesResult:
        """Return the result with what the sessions so far showed."""
        levels = [JailLevel(s.candidate["jail"]["level"]) for s in self.sessions]
        order = list(JailLevel)
        weakest = max(levels, key=order.index).value if levels else ""
        return SeriesResult(verdict, reason, self._findings(), tuple(self.sessions), weakest)

    def _findings(self) -> tuple[Finding, ...]:
        """Return every finding once, with the detail of the session that found it first."""
        found: dict[tuple[str, str, str], Finding] = {}
        for session in self.sessions:
            for item in session.candidate["findings"]:
                finding = Finding.from_json(item)
                found.setdefault((finding.suite, finding.name, finding.severity), finding)
        return tuple(found.values())
