"""A run's numbers in the order and words in which its page shows them. Pure: values in, rows out."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from web import jinja

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leaderboard.models import Run, RunDetail
    from runner.manifest import OwnMetric


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


def _share(value: float) -> str:
    return f"{value:.1%}"


# Metrics of the report that are shown as the median over the sessions.
_MEDIANS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("throughput_tps", "Transactions per second", jinja.number),
    ("ns_per_call", "Time per call", jinja.nanoseconds),
    ("hit_ratio", "Hit ratio", _share),
    ("client_context_switches", "Context switches of the clients", jinja.number),
    ("cycles_per_call", "Cycles per call", lambda value: jinja.number(value, 1)),
    ("instructions_per_call", "Instructions per call", lambda value: jinja.number(value, 1)),
    ("cache_misses_per_call", "Cache misses per call", lambda value: jinja.number(value, 3)),
    ("branch_misses_per_call", "Branch misses per call", lambda value: jinja.number(value, 3)),
    (
        "stalled_frontend_per_call",
        "Cycles per call, front end stalled",
        lambda value: jinja.number(value, 1),
    ),
    (
        "stalled_backend_per_call",
        "Cycles per call, back end stalled",
        lambda value: jinja.number(value, 1),
    ),
    ("page_faults", "Page faults", jinja.number),
    ("context_switches", "Context switches of all threads", jinja.number),
    ("migrations", "Moves to another processor", jinja.number),
    ("records_start", "Records at the start", jinja.number),
    ("records_end", "Records at the end", jinja.number),
    ("memory_peak_bytes", "Peak memory", jinja.size),
    ("bytes_per_record", "Bytes per record", lambda value: jinja.number(value, 1)),
    ("cpu_us", "CPU time", jinja.microseconds),
)


def figures(run: Run, detail: RunDetail, own_metrics: Iterable[OwnMetric]) -> list[Figure]:
    """Return the numbers of a finished run: the columns of 2009 first, then what else its sessions report.

    `own_metrics` are those of its benchmark, which come last.
    """
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
    shown = list(_MEDIANS)
    shown += [(own.name, own.label, _spaced(own)) for own in own_metrics]
    for name, label, show in shown:
        values = [each[name] for each in metrics if each.get(name) is not None]
        if values:
            found.append(Figure(label, show(median(values))))
    return found


def _spaced(metric: OwnMetric) -> Callable[[float], str]:
    """Return how to write the metric with this site's thousands."""
    return lambda value: metric.text(value).replace(",", jinja.NARROW_SPACE)


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
    return fact_rows(detail.machine_facts)


def parameters(detail: RunDetail) -> list[Figure]:
    """Return the parameters of the benchmark instance, as the referee resolved them."""
    return fact_rows(detail.sessions[0]["parameters"]) if detail.sessions else []


def fact_rows(facts: dict[str, Any]) -> list[Figure]:
    """Return flat facts for a list, by name in words."""
    return [Figure(jinja.words(name), _text(value)) for name, value in sorted(facts.items())]


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return jinja.number(value)
    if isinstance(value, list):
        return ", ".join(_text(each) for each in value)
    return jinja.printable(str(value))
