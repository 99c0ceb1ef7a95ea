"""From a runner's report to the columns of a run. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from leaderboard.models import MAX_LOG_BYTES
from leaderboard.ranking import median_interval
from runner.contract import Scale, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.contract import RunReport, Session

# Fewer sessions than this cannot separate ten entries after Holm's correction.
RANKED_SESSIONS = 11


@dataclass(frozen=True, slots=True)
class Summary:
    """Values for Run's columns and for RunDetail's, by field name."""

    columns: dict[str, Any]
    detail: dict[str, Any]


def summarise(report: RunReport, metric: str | None, scale: str) -> Summary:
    """Return what a finished run shows. `metric` is the number that its benchmark is ranked by.

    Counts are sums over all sessions, times are medians. What no session reported stays None.
    """
    sessions = report.sessions
    ratios = [] if metric is None else _ratios(sessions, metric)
    low, high = median_interval(ratios) if ratios else (None, None)
    columns = {
        "verdict": report.verdict.value,
        "reason": report.reason,
        "jail_level": report.jail_level,
        "score": median(ratios) if ratios else None,
        "score_low": low,
        "score_high": high,
        "total_ms": _median(_metrics(sessions, "total_ms")),
        "deadlocks": _total(_metrics(sessions, "deadlocks")),
        "transactions_failed": _total(_metrics(sessions, "transactions_failed")),
        "transactions_completed": _total(_metrics(sessions, "transactions_completed")),
        "transactions_planned": _total(_metrics(sessions, "transactions_planned")),
        "provisional": scale != Scale.PAPER or len(sessions) < RANKED_SESSIONS,
    }
    detail = {
        "findings": [finding.to_json() for finding in report.findings],
        "sessions": [_session_row(session, metric) for session in sessions],
        "ratios": ratios if report.verdict is Verdict.PASSED else [],
        "series": _series(sessions),
        "log": capped(report.log),
        "machine_facts": report.machine,
        "library_facts": report.library_facts,
    }
    return Summary(columns=columns, detail=detail)


def capped(log: str) -> str:
    """Return the log with at most MAX_LOG_BYTES of UTF-8 and without NUL, which PostgreSQL refuses."""
    encoded = log.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace")
    if len(encoded) <= MAX_LOG_BYTES:
        return encoded.decode()
    kept = encoded[:MAX_LOG_BYTES].decode("utf-8", "ignore")
    return f"{kept}\n[{len(encoded) - MAX_LOG_BYTES} bytes left out]"


def _ratios(sessions: Iterable[Session], metric: str) -> list[float]:
    """Return candidate / control per session; sessions without either number are left out."""
    found = []
    for session in sessions:
        ratio = _ratio(session, metric)
        if ratio is not None:
            found.append(ratio)
    return found


def _ratio(session: Session, metric: str) -> float | None:
    """Return candidate / control of one session, None when it cannot be formed."""
    candidate = session.candidate["metrics"].get(metric)
    control = None if session.control is None else session.control["metrics"].get(metric)
    if not candidate or not control or candidate <= 0 or control <= 0:
        return None
    return float(candidate / control)


def _metrics(sessions: Iterable[Session], name: str) -> list[float]:
    """Return one of the candidate's numbers per session, where it is known."""
    values = (session.candidate["metrics"].get(name) for session in sessions)
    return [value for value in values if value is not None]


def _median(values: list[float]) -> float | None:
    """Return the median, None without values."""
    return float(median(values)) if values else None


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
        "ratio": None if metric is None else _ratio(session, metric),
        "phases": session.candidate["phases"],
        "parameters": session.candidate.get("parameters", {}),
        "jail": session.candidate["jail"],
    }


def _series(sessions: tuple[Session, ...]) -> dict[str, Any]:
    """Return the curves of the session whose total time is nearest the median; the first one's without times."""
    if not sessions:
        return {}
    typical = _median(_metrics(sessions, "total_ms"))
    chosen = sessions[0]
    if typical is not None:
        timed = [s for s in sessions if s.candidate["metrics"].get("total_ms") is not None]
        chosen = min(timed, key=lambda s: abs(s.candidate["metrics"]["total_ms"] - typical))
    series = {
        "session": sessions.index(chosen) + 1,
        "throughput": chosen.candidate.get("throughput"),
        "latency": chosen.candidate.get("latency"),
    }
    return {name: value for name, value in series.items() if value is not None}
