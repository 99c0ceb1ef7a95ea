"""Converts the report of a finished run into values for the columns of Run and RunDetail, and back.

A run consists of sessions (repetitions). Each session measures the submitted library, the candidate, and the control
library, the baseline. This file uses no database.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leaderboard.models import MAX_LOG_BYTES
from leaderboard.ranking.eligibility import STALE_READ
from results.summary import control_number, session_ratio
from results.summary import summarise as summarise_sessions
from runner.report import AuditPair, JailFacts, LatencyClass, Phase, Throughput, latency_from_json
from runner.strict import ObjectReader
from runner.terms import Scale, Severity, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.contract import RunReport, Session
    from runner.report import Finding, Report


@dataclass(frozen=True, slots=True)
class Summary:
    """Values for the columns of Run (`columns`) and of RunDetail (`detail`), by field name."""

    columns: dict[str, Any]
    detail: dict[str, Any]


def summarise(report: RunReport, metric: str | None, scale: str) -> Summary:
    """Return the column values for a finished run. `metric` names the number by which the benchmark ranks.

    Counts are sums over all sessions. The score and the total time are medians over the sessions that are not
    discarded. (The runner discards a session in which the control library, the baseline, changed too much.) A number
    that no session reported is None.
    """
    sessions = report.sessions
    series = summarise_sessions(sessions, metric)
    columns = {
        "verdict": report.verdict.value,
        "reason": storable(report.reason),
        "jail_level": report.jail_level,
        "decisive_findings": decisive_names(report.findings),
        "score": series.ratio,
        "score_low": series.interval.low if series.interval else None,
        "score_high": series.interval.high if series.interval else None,
        "total_ms": series.medians.get("total_ms"),
        "deadlocks": _total(_metrics(sessions, "deadlocks")),
        "transactions_failed": _total(_metrics(sessions, "transactions_failed")),
        "transactions_completed": _total(_metrics(sessions, "transactions_completed")),
        "transactions_planned": _total(_metrics(sessions, "transactions_planned")),
        "provisional": scale == Scale.SMOKE or series.provisional,
    }
    detail = {
        "findings": [finding.to_json() for finding in report.findings],
        "sessions": [StoredSession.of(session, metric).to_json() for session in sessions],
        "ratios": list(series.ratios) if report.verdict is Verdict.PASSED else [],
        "series": _curves(sessions, series.medians.get("total_ms")),
        "log": capped(report.log),
        "machine_facts": report.machine,
        "library_facts": report.library_facts,
    }
    return Summary(columns=columns, detail={name: _clean(value) for name, value in detail.items()})


def decisive_names(findings: Iterable[Finding]) -> list[str]:
    """Return the names of the findings (faults found by the tests) that decide which boards accept a run.

    These are the findings that decide the verdict (severity required), and `stale_read` with any severity.
    """
    return sorted(
        {
            storable(finding.name)
            for finding in findings
            if finding.severity is Severity.REQUIRED or finding.name == STALE_READ
        }
    )


def storable(text: str) -> str:
    """Return the text with NUL and lone surrogates replaced by U+FFFD, since PostgreSQL cannot store them."""
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _clean(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return the JSON value with every text made storable, because some texts come from untrusted libraries."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {storable(str(name)): _clean(item) for name, item in value.items()}
    return value


def capped(log: str) -> str:
    """Return the log as storable text, cut after MAX_LOG_BYTES bytes of UTF-8."""
    encoded = storable(log).encode()
    if len(encoded) <= MAX_LOG_BYTES:
        return encoded.decode()
    kept = encoded[:MAX_LOG_BYTES].decode("utf-8", "ignore")
    return f"{kept}\n[the log ends here; {len(encoded) - MAX_LOG_BYTES:,} bytes left out]"


def _metrics(sessions: Iterable[Session], name: str) -> list[float]:
    """Return the candidate's value of a metric in each session that reported it."""
    values = (session.candidate.metrics.get(name) for session in sessions)
    return [value for value in values if value is not None]


def _total(values: list[float]) -> int | None:
    """Return the sum as an integer, or None if there are no values."""
    return round(sum(values)) if values else None


@dataclass(frozen=True, slots=True)
class StoredSession:
    """One session of a run as RunDetail.sessions stores it, without its curves.

    - `candidate`, `control`: the metrics, by name, of the submitted library and of the control library (the baseline).
      `control` is None if the control did not run.
    - `control_ms`: the control's total time. If the control ran twice, the geometric mean of its two times.
    - `phases`, `control_phases`: the phases of the submitted library and of the control library. `control_phases` is
      empty if the control did not run, and in values that older versions stored.
    - `discarded`: why the session does not count; empty if it counts. The JSON field is `void`.
    - `audit`: the times per call in timed and in verified mode, if the session was played in both. In timed mode the
      library's own process makes every call; in verified mode a process outside the jail (sandbox) does.
    """

    seed: str
    candidate_first: bool
    verdict: Verdict
    candidate: dict[str, float]
    control: dict[str, float] | None
    ratio: float | None
    phases: tuple[Phase, ...]
    parameters: dict[str, int]
    jail: JailFacts
    control_ms: float | None = None
    discarded: str = ""
    audit: AuditPair | None = None
    control_phases: tuple[Phase, ...] = ()

    @classmethod
    def of(cls, session: Session, metric: str | None) -> StoredSession:
        """Return the stored form of a session. `metric` names the number by which the benchmark ranks."""
        report = session.candidate
        return cls(
            seed=session.seed,
            candidate_first=session.candidate_first,
            verdict=report.verdict,
            candidate=report.metrics,
            control=None if session.control is None else session.control.metrics,
            ratio=None if metric is None else session_ratio(session, metric),
            phases=report.phases,
            parameters=report.parameters,
            jail=report.jail,
            control_ms=control_number(session, "total_ms"),
            discarded=session.discarded,
            audit=session.audit,
            control_phases=() if session.control is None else session.control.phases,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the session as a JSON value, which from_json reads."""
        return {
            "seed": self.seed,
            "candidate_first": self.candidate_first,
            "verdict": self.verdict.value,
            "candidate": self.candidate,
            "control": self.control,
            "control_ms": self.control_ms,
            "ratio": self.ratio,
            "void": self.discarded,
            "phases": [phase.to_json() for phase in self.phases],
            "control_phases": [phase.to_json() for phase in self.control_phases],
            "parameters": self.parameters,
            "jail": self.jail.to_json(),
            "audit": self.audit and self.audit.to_json(),
        }

    @classmethod
    def from_json(cls, value: object) -> StoredSession:
        """Return the session that `to_json` stored. Raises StrictError if the value has another form.

        Values that older versions stored lack `void` and `control_ms`. In these versions the control ran only once per
        session. So `control_ms` becomes the total time of this one control run.
        """
        reader = ObjectReader(value, "session")
        control = reader.optional_numbers("control")
        old = not reader.has("control_ms")
        audit = reader.optional_mapping("audit")
        stored = cls(
            seed=reader.text("seed"),
            candidate_first=reader.boolean("candidate_first"),
            verdict=reader.word("verdict", Verdict),
            candidate=reader.numbers("candidate"),
            control=control,
            ratio=reader.optional_number("ratio"),
            phases=_phases(reader, "phases"),
            parameters=reader.integers("parameters", required=False),
            jail=JailFacts.from_json(reader.mapping("jail")),
            control_ms=(control or {}).get("total_ms")
            if old
            else reader.optional_number("control_ms"),
            discarded=reader.text("void", default=""),
            audit=None if audit is None else AuditPair.from_json(audit),
            control_phases=_phases(reader, "control_phases"),
        )
        reader.end()
        return stored


def _phases(reader: ObjectReader, name: str) -> tuple[Phase, ...]:
    return tuple(Phase.from_json(phase) for phase in reader.items(name, required=False))


@dataclass(frozen=True, slots=True)
class Curves:
    """The curves of one library in one session. A missing curve is None or empty.

    RunDetail.series stores the curves of the submitted library, and those of the control library as `control`. Older
    versions stored no curves of the control.
    """

    throughput: Throughput | None
    latency: tuple[LatencyClass, ...]
    control: Curves | None = None

    @classmethod
    def from_json(cls, series: dict[str, Any]) -> Curves:
        """Return the curves in a value of RunDetail.series. Raises StrictError if the value has another form."""
        throughput, control = series.get("throughput"), series.get("control")
        return cls(
            throughput=None if throughput is None else Throughput.from_json(throughput),
            latency=latency_from_json(series.get("latency", [])),
            control=None if control is None else cls.from_json(control),
        )


def _curves(sessions: tuple[Session, ...], typical_ms: float | None) -> dict[str, Any]:
    """Return the curves of the session whose total time is nearest the median time `typical_ms`.

    If no times are known, return the curves of the first session.
    """
    if not sessions:
        return {}
    chosen = sessions[0]
    if typical_ms is not None:
        timed = [
            s
            for s in sessions
            if s.candidate.metrics.get("total_ms") is not None and not s.discarded
        ]
        chosen = min(timed, key=lambda s: abs(s.candidate.metrics["total_ms"] - typical_ms))
    curves = {"session": sessions.index(chosen) + 1} | _curves_of(chosen.candidate)
    if chosen.control is not None:
        curves["control"] = _curves_of(chosen.control)
    return curves


def _curves_of(report: Report) -> dict[str, Any]:
    curves: dict[str, Any] = {}
    if report.throughput is not None:
        curves["throughput"] = report.throughput.to_json()
    if report.latency:
        curves["latency"] = [found.to_json() for found in report.latency]
    return curves
