"""From a runner's report to the columns of a run. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leaderboard.eligibility import STALE_READ
from leaderboard.models import MAX_LOG_BYTES
from runner.contract import Scale, Severity, Verdict
from runner.summary import control_number, session_ratio
from runner.summary import summarise as summarise_sessions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.contract import RunReport, Session


@dataclass(frozen=True, slots=True)
class Summary:
    """Values for Run's columns and for RunDetail's, by field name."""

    columns: dict[str, Any]
    detail: dict[str, Any]


def summarise(report: RunReport, metric: str | None, scale: str) -> Summary:
    """Return what a finished run shows. `metric` is the number that its benchmark is ranked by.

    Counts are sums over all sessions, times are medians over those that are not void. What no session reported stays
    None.
    """
    sessions = report.sessions
    series = summarise_sessions(sessions, metric)
    columns = {
        "verdict": report.verdict.value,
        "reason": storable(report.reason),
        "jail_level": report.jail_level,
        "faults": faults_of(finding.to_json() for finding in report.findings),
        "score": series.ratio,
        "score_low": series.interval.low if series.interval else None,
        "score_high": series.interval.high if series.interval else None,
        "total_ms": series.medians.get("total_ms"),
        "deadlocks": _total(_metrics(sessions, "deadlocks")),
        "transactions_failed": _total(_metrics(sessions, "transactions_failed")),
        "transactions_completed": _total(_metrics(sessions, "transactions_completed")),
        "transactions_planned": _total(_metrics(sessions, "transactions_planned")),
        "provisional": scale != Scale.PAPER or series.provisional,
    }
    detail = {
        "findings": [finding.to_json() for finding in report.findings],
        "sessions": [_session_row(session, metric) for session in sessions],
        "ratios": list(series.ratios) if report.verdict is Verdict.PASSED else [],
        "series": _curves(sessions, series.medians.get("total_ms")),
        "log": capped(report.log),
        "machine_facts": report.machine,
        "library_facts": report.library_facts,
    }
    return Summary(columns=columns, detail={name: _clean(value) for name, value in detail.items()})


def faults_of(findings: Iterable[dict[str, Any]]) -> list[str]:
    """Return the names that decide which boards take a run: of required findings, and `stale_read` in any case."""
    return sorted(
        {
            storable(finding["name"])
            for finding in findings
            if finding["severity"] == Severity.REQUIRED or finding["name"] == STALE_READ
        }
    )


def storable(text: str) -> str:
    """Return text that PostgreSQL takes: NUL and lone surrogates become U+FFFD."""
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _clean(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return JSON whose texts are storable; some of them were written by strangers."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {storable(str(name)): _clean(item) for name, item in value.items()}
    return value


def capped(log: str) -> str:
    """Return the log, storable, with at most MAX_LOG_BYTES of UTF-8."""
    encoded = storable(log).encode()
    if len(encoded) <= MAX_LOG_BYTES:
        return encoded.decode()
    kept = encoded[:MAX_LOG_BYTES].decode("utf-8", "ignore")
    return f"{kept}\n[{len(encoded) - MAX_LOG_BYTES} bytes left out]"


def _metrics(sessions: Iterable[Session], name: str) -> list[float]:
    """Return one of the candidate's numbers per session, where it is known."""
    values = (session.candidate["metrics"].get(name) for session in sessions)
    return [value for value in values if value is not None]


def _total(values: list[float]) -> int | None:
    """Return the sum as a count, None without values."""
    return round(sum(values)) if values else None


def _session_row(session: Session, metric: str | None) -> dict[str, Any]:
    """Return one line of the table of sessions: small numbers, no curves."""
    return {
        "seed": session.seed,
        "candidate_first": session.candidate_first,
        "verdict": session.candidate["verdict"],
        "candidate": session.candidate["metrics"],
        "control": None if session.control is None else session.control["metrics"],
        "control_ms": control_number(session, "total_ms"),
        "ratio": None if metric is None else session_ratio(session, metric),
        "void": session.void,
        "phases": session.candidate["phases"],
        "parameters": session.candidate.get("parameters", {}),
        "jail": session.candidate["jail"],
    }


def _curves(sessions: tuple[Session, ...], typical_ms: float | None) -> dict[str, Any]:
    """Return the curves of the session whose total time is nearest the median; without times, of the first."""
    if not sessions:
        return {}
    chosen = sessions[0]
    if typical_ms is not None:
        timed = [
            s for s in sessions if s.candidate["metrics"].get("total_ms") is not None and not s.void
        ]
        chosen = min(timed, key=lambda s: abs(s.candidate["metrics"]["total_ms"] - typical_ms))
    curves = {name: chosen.candidate.get(name) for name in ("throughput", "latency")}
    return {
        "session": sessions.index(chosen) + 1,
        **{name: curve for name, curve in curves.items() if curve},
    }
