"""A run's numbers in the order and words in which its page shows them. Pure: values in, rows out."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from web import jinja

if TYPE_CHECKING:
    from collections.abc import Callable

    from leaderboard.models import Run, RunDetail


@dataclass(frozen=True, slots=True)
class Figure:
    """One number with its name, ready to be shown."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as a row: the candidate's numbers beside the control's. None where a number does not exist."""

    number: int
    first: str
    verdict: str
    void: str
    total_ms: float | None
    control_ms: float | None
    ratio: float | None
    deadlocks: float | None
    transactions_failed: float | None
    transactions_completed: float | None
    memory_peak_bytes: float | None


def _share(value: float | None) -> str:
    return jinja.UNKNOWN if value is None else f"{value:.1%}"


# Metrics of the report that are shown as the median over the sessions.
_MEDIANS: tuple[tuple[str, str, Callable[[float | None], str]], ...] = (
    ("throughput_tps", "Transactions per second", jinja.number),
    ("ns_per_call", "Time per call", jinja.nanoseconds),
    ("hit_ratio", "Hit ratio", _share),
    ("new_order_per_s", "Committed NewOrders per second", jinja.number),
    ("committed_per_s", "Committed transactions per second", jinja.number),
    ("transactions_aborted", "Transactions aborted", jinja.number),
    ("links_per_list", "Links per list", lambda value: jinja.number(value, 1)),
    ("upserts_per_s", "Upserts per second", jinja.number),
    ("lookups_per_s", "Lookups per second", jinja.number),
    ("misses_per_s", "Misses per second", jinja.number),
    ("inserts_per_s", "Inserts per second", jinja.number),
    ("scanned_records_per_s", "Records scanned per second", jinja.number),
    ("scanned_mb_per_s", "Payload scanned per second, MB", lambda value: jinja.number(value, 1)),
    ("sustained_per_s", "Sustained arrivals per second", jinja.number),
    ("delivered_max_per_s", "Most delivered in a step, transactions per second", jinja.number),
    ("recovery_ms", "Recovery after a change, ms", lambda value: jinja.number(value, 1)),
    ("recovery_drop", "Deepest drop after a change", _share),
    ("memory_growth", "Growth of memory", _share),
    ("pla_segments_32", "Segments of the keys within 32", jinja.number),
    ("pla_segments_4096", "Segments of the keys within 4,096", jinja.number),
    ("records_start", "Records at the start", jinja.number),
    ("records_end", "Records at the end", jinja.number),
    ("memory_peak_bytes", "Peak memory", jinja.size),
    ("bytes_per_record", "Bytes per record", lambda value: jinja.number(value, 1)),
    ("cpu_us", "CPU time", jinja.microseconds),
)


def figures(run: Run, detail: RunDetail) -> list[Figure]:
    """Return the numbers of a finished run: the columns of 2009 first, then what else its sessions report."""
    found = []
    if run.total_ms is not None:
        found.append(Figure("Time (ms)", jinja.milliseconds(run.total_ms)))
    if run.score is not None:
        found.append(Figure("Ratio to control", jinja.ratio(run.score)))
        interval = f"{jinja.ratio(run.score_low)}\N{EN DASH}{jinja.ratio(run.score_high)}"
        found.append(Figure("Interval of the ratio", interval))
    for label, count in (
        ("Deadlocks", run.deadlocks),
        ("Transactions failed", run.transactions_failed),
        ("Transactions completed", run.transactions_completed),
    ):
        if count is not None:
            found.append(Figure(label, jinja.number(count)))
    metrics = [session["candidate"] for session in detail.sessions if not session.get("void")]
    for name, label, show in _MEDIANS:
        values = [each[name] for each in metrics if each.get(name) is not None]
        if values:
            found.append(Figure(label, show(median(values))))
    return found


def sessions(detail: RunDetail) -> list[SessionRow]:
    """Return one row per session, in the order in which they ran."""
    return [_session(number, session) for number, session in enumerate(detail.sessions, start=1)]


def _session(number: int, session: dict[str, Any]) -> SessionRow:
    """Return a row; those written before the control ran twice know neither `void` nor `control_ms`."""
    candidate: dict[str, float] = session["candidate"]
    control: dict[str, float] | None = session["control"]
    first = "candidate" if session["candidate_first"] else "control"
    return SessionRow(
        number=number,
        first=jinja.UNKNOWN if control is None else first,
        verdict=session["verdict"],
        void=session.get("void", ""),
        total_ms=candidate.get("total_ms"),
        control_ms=None if control is None else session.get("control_ms", control.get("total_ms")),
        ratio=session["ratio"],
        deadlocks=candidate.get("deadlocks"),
        transactions_failed=candidate.get("transactions_failed"),
        transactions_completed=candidate.get("transactions_completed"),
        memory_peak_bytes=candidate.get("memory_peak_bytes"),
    )


def machine_facts(detail: RunDetail) -> list[Figure]:
    """Return the facts about the machine, by name."""
    return _facts(detail.machine_facts)


def parameters(detail: RunDetail) -> list[Figure]:
    """Return the parameters of the benchmark instance, as the referee resolved them."""
    return _facts(detail.sessions[0]["parameters"]) if detail.sessions else []


def _facts(facts: dict[str, Any]) -> list[Figure]:
    return [Figure(jinja.words(name), _text(value)) for name, value in sorted(facts.items())]


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return jinja.number(value)
    if isinstance(value, list):
        return ", ".join(_text(each) for each in value)
    return jinja.printable(str(value))
