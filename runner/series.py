"""A series of sessions: fresh processes and a fresh seed each, the control library beside the candidate.

In a series that is long enough to judge drift the control runs before and after the candidate, with the same
operations. A session in which it was much faster or slower the second time is void: it stays in the report with the
reason, and a further session is run for it, at most as many as were asked for. In shorter series, which rank nobody,
the control runs once, before or after the candidate as a coin falls.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from runner.contract import Cancelled, Finding, JailLevel, Progress, Session, Verdict
from runner.order import Target
from runner.referee import RefereeError, build_plan, history_arguments, run_session
from runner.stats.drift import VALUES_MIN, judge_drift

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from runner.order import Order
    from runner.settings import Settings

CANDIDATE, CONTROL, CONTROL_AFTER = "candidate", "control", "control again"
_BRACKET = 2  # control runs around a candidate


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
    """Run the order's sessions until one fails, and again those that the control voids; `folder` is for working files.

    `beat` is called at least once a second; Cancelled when it returns False. A control that fails is our fault:
    the verdict is infrastructure.
    """
    series = _Series(target, order, settings, folder, beat)
    for number, seed in enumerate(_seeds(order), start=1):
        stopped = series.session(number, seed)
        if stopped is not None:
            return stopped
        if number >= len(order.seeds) and series.counted() >= len(order.seeds):
            break
    # Less than half of the sessions can be void (judge_drift), so with the repetitions there are always enough.
    return series.result(Verdict.PASSED, "")


def _seeds(order: Order) -> Iterator[str]:
    """Give the seeds of the sessions, then as many more for repetitions, as secret as the first."""
    yield from order.seeds
    for number in range(1, len(order.seeds) + 1):
        yield hashlib.sha256(f"repetition {number} of {order.seeds[0]}".encode()).hexdigest()[:16]


def mark_void(sessions: Sequence[Session], metric: str) -> tuple[Session, ...]:
    """Return the sessions, each with the reason why it does not count, if there is one."""
    changes = [_control_change(session, metric) for session in sessions]
    known = [index for index, change in enumerate(changes) if change is not None]
    drift = judge_drift([change for change in changes if change is not None])
    reasons = {index: drift.reason(place) for place, index in enumerate(known)}
    return tuple(
        replace(session, void=reasons.get(index, "")) for index, session in enumerate(sessions)
    )


def _control_change(session: Session, metric: str) -> float | None:
    """Return the logarithm of the control's number after the candidate over that before; None without both."""
    values = [report["metrics"].get(metric) for report in session.controls]
    if len(values) < _BRACKET or not all(values):
        return None
    before, after = values
    return math.log(after / before)


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
        roles = self._roles(seed)
        first = roles[0] == CANDIDATE
        reports: dict[str, dict[str, Any]] = {}
        fault = ""
        for role in roles:
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
            controls = reports.get(CONTROL), reports.get(CONTROL_AFTER)
            self.sessions.append(Session(seed, first, reports[CANDIDATE], *controls))
        return self._ending(number, reports, fault)

    def _ending(
        self, number: int, reports: dict[str, dict[str, Any]], fault: str
    ) -> SeriesResult | None:
        if fault:
            return self.result(Verdict.INFRASTRUCTURE, fault)
        candidate = reports.get(CANDIDATE)
        # Of two runs the last: the second is not tried when the first fails.
        control = reports.get(CONTROL_AFTER, reports.get(CONTROL))
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

    def _roles(self, seed: str) -> list[str]:
        """Return who runs in a session, in order."""
        if not self.order.with_control:
            return [CANDIDATE]
        if len(self.order.seeds) >= VALUES_MIN:
            return [CONTROL, CANDIDATE, CONTROL_AFTER]
        return [CANDIDATE, CONTROL] if candidate_first(seed) else [CONTROL, CANDIDATE]

    def _run(self, role: str, number: int, seed: str) -> dict[str, Any]:
        runs = len(self.order.seeds) * len(self._roles(seed))
        # Repetitions come on top of what was planned: the bar then stays full.
        planned = max(number, len(self.order.seeds))
        where = Progress(number, planned, role, "start", min(self.done / runs, 1.0))

        def tick(phase: str, index: int, count: int) -> bool:
            nonlocal where
            if count > 0:
                fraction = min((self.done + min(index / count, 1.0)) / runs, 1.0)
                where = Progress(number, planned, role, phase, fraction)
            return self.beat(where)

        if not self.beat(where):
            raise Cancelled
        target = self.target if role == CANDIDATE else Target(self.settings.control)
        work = self.folder / f"{number}-{role.replace(' ', '-')}"
        work.mkdir(mode=0o700)
        plan = build_plan(target, self.order, seed, self.settings)
        keep = history_arguments(self.order) if role == CANDIDATE else []
        return run_session(plan, work, self.settings, tick, keep)

    def result(self, verdict: Verdict, reason: str) -> SeriesResult:
        """Return the result with what the sessions so far showed."""
        levels = [JailLevel(s.candidate["jail"]["level"]) for s in self.sessions]
        order = list(JailLevel)
        weakest = max(levels, key=order.index).value if levels else ""
        return SeriesResult(verdict, reason, self._findings(), self._marked(), weakest)

    def counted(self) -> int:
        """Return how many of the sessions so far are not void."""
        return sum(not session.void for session in self._marked())

    def _marked(self) -> tuple[Session, ...]:
        metric = self.order.benchmark.metric
        return tuple(self.sessions) if metric is None else mark_void(self.sessions, metric.name)

    def _findings(self) -> tuple[Finding, ...]:
        """Return every finding once, with the detail of the session that found it first."""
        found: dict[tuple[str, str, str], Finding] = {}
        for session in self.sessions:
            for item in session.candidate["findings"]:
                finding = Finding.from_json(item)
                found.setdefault((finding.suite, finding.name, finding.severity), finding)
        return tuple(found.values())
