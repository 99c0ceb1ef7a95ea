"""Makes the labels and texts of the numbers on a run's page, in the order in which the page shows them.

The functions use no database.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from leaderboard.live_curve import LiveCurve
from leaderboard.submissions.phase_times import phase_times
from leaderboard.submissions.report_columns import StoredSession
from results.curves import throughput_rows
from results.metrics import METRICS, Metric, Unit
from web import jinja
from web.compare.axes import ratio_axis
from web.compare.curves import Plot, rates_plot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leaderboard.models import Run, RunDetail
    from leaderboard.submissions.phase_times import PhaseTimes
    from runner.manifest import OwnMetric
    from web.compare.axes import LogAxis


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of a run's page as text, with its label and perhaps a note. The page writes the `main` number large."""

    label: str
    value: str
    note: str = ""
    main: bool = False


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One row of the table of sessions. A number that the session did not report is None.

    - `first`: the library that ran first: "candidate" (the submitted library) or "control" (the baseline). It is a
      dash if the control did not run.
    - `discarded`: why the session does not count; empty if it counts.
    - `control_ms`: the control's time. `ratio`: candidate / control.

    All other numbers are the candidate's.
    """

    number: int
    first: str
    verdict: str
    discarded: str
    total_ms: float | None
    control_ms: float | None
    ratio: float | None
    deadlocks: float | None
    transactions_failed: float | None
    transactions_completed: float | None
    memory_peak_bytes: float | None


# For these metrics, the page shows the sum over the run's sessions (repetitions), which is a column of Run. For every
# other metric, the page shows the median over the sessions.
_COLUMNS = ("deadlocks", "transactions_failed", "transactions_completed")
_NOT_SHOWN = {*_COLUMNS, "calls"}
# For these metrics, the page shows the control's median too. The final scan reads all records after the timed phases,
# and is not timed itself. If the candidate needs much more CPU time for this scan than the control, the candidate may
# have postponed work to the scan.
_WITH_CONTROL = {"final_scan_cpu_us"}
# Maps each unit to the function that writes a value with this unit. Counts are written as plain numbers.
_WRITTEN: dict[Unit, Callable[[float], str]] = {
    Unit.SHARE: lambda value: f"{value:.1%}",
    Unit.NANOSECONDS: jinja.nanoseconds,
    Unit.MICROSECONDS: jinja.microseconds,
    Unit.BYTES: jinja.size,
}


def figures(run: Run, detail: RunDetail, own_metrics: Iterable[OwnMetric]) -> list[Figure]:
    """Return the numbers of a finished run for its page.

    The numbers that a board (a ranking) shows come first, then the medians over the run's sessions. Metrics that only
    this benchmark has (`own_metrics`) come last.
    """
    found = []
    if run.score is not None:
        interval = f"{jinja.ratio(run.score_low)}\N{EN DASH}{jinja.ratio(run.score_high)}"
        score = jinja.ratio(run.score)
        found.append(Figure("Ratio to control", score, note=f"interval {interval}", main=True))
    if run.total_ms is not None:
        found.append(Figure("Time (ms)", jinja.milliseconds(run.total_ms)))
    labels = {metric.name: metric_label(metric) for metric in METRICS}
    for name in _COLUMNS:
        # A correctness run has no transactions that the benchmark counts.
        counts = name != "transactions_completed" or run.transactions_planned != 0
        if counts and getattr(run, name) is not None:
            found.append(Figure(labels[name], jinja.number(getattr(run, name))))
    counted = [session for session in _stored(detail) if not session.discarded]
    shown = [
        (m.name, metric_label(m), metric_writer(m)) for m in METRICS if m.name not in _NOT_SHOWN
    ]
    shown += [(own.name, own.label, own.text) for own in own_metrics]
    for name, label, show in shown:
        value = session_median(name, (session.candidate for session in counted))
        if value is None:
            continue
        text = show(value)
        if name in _WITH_CONTROL:
            control = session_median(name, (session.control for session in counted))
            text += "" if control is None else f" (control library: {show(control)})"
        found.append(Figure(label, text))
    return found


def session_median(name: str, sessions: Iterable[dict[str, float] | None]) -> float | None:
    """Return the median of a metric over the sessions that reported it, or None if no session did."""
    values = [metrics[name] for metrics in sessions if metrics and metrics.get(name) is not None]
    return median(values) if values else None


def metric_label(metric: Metric) -> str:
    """Return the metric's label for the start of a line."""
    return metric.label[0].upper() + metric.label[1:]


def metric_writer(metric: Metric) -> Callable[[float], str]:
    """Return a function that writes the metric's value with its unit."""
    return _WRITTEN.get(metric.unit, lambda value: jinja.number(value, metric.digits))


def sessions(detail: RunDetail) -> list[SessionRow]:
    """Return one row for each session, in the order in which they ran."""
    return [_session(number, session) for number, session in enumerate(_stored(detail), start=1)]


def _stored(detail: RunDetail) -> list[StoredSession]:
    return [StoredSession.from_json(row) for row in detail.sessions]


def _session(number: int, session: StoredSession) -> SessionRow:
    candidate = session.candidate
    first = "candidate" if session.candidate_first else "control"
    return SessionRow(
        number=number,
        first=jinja.UNKNOWN if session.control is None else first,
        verdict=session.verdict,
        discarded=session.discarded,
        total_ms=candidate.get("total_ms"),
        control_ms=session.control_ms,
        ratio=session.ratio,
        deadlocks=candidate.get("deadlocks"),
        transactions_failed=candidate.get("transactions_failed"),
        transactions_completed=candidate.get("transactions_completed"),
        memory_peak_bytes=candidate.get("memory_peak_bytes"),
    )


def session_axis(run: Run, rows: Iterable[SessionRow]) -> LogAxis | None:
    """Return the axis for the ratios of these sessions and the run's interval, or None if no session has a ratio."""
    ratios = [row.ratio for row in rows if row.ratio]
    interval = [bound for bound in (run.score_low, run.score_high) if bound]
    return ratio_axis([*ratios, *interval]) if ratios else None


def phases(detail: RunDetail) -> list[PhaseTimes]:
    """Return the times of each phase, in the order in which the phases ran."""
    return phase_times(_stored(detail))


def machine_facts(detail: RunDetail) -> list[Figure]:
    """Return the facts about the machine, sorted by name."""
    return fact_rows(detail.machine_facts)


def parameters(detail: RunDetail) -> list[Figure]:
    """Return the parameters with which the referee, the program that runs a library, ran the benchmark instance."""
    found = _stored(detail)
    return fact_rows(found[0].parameters) if found else []


def fact_rows(facts: dict[str, Any]) -> list[Figure]:
    """Return facts as labels and texts, sorted by name."""
    return [Figure(jinja.words(name), _text(value)) for name, value in sorted(facts.items())]


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return jinja.number(value)
    if isinstance(value, list):
        return ", ".join(_text(each) for each in value)
    return jinja.printable(str(value))


@dataclass(frozen=True, slots=True)
class Live:
    """The throughput plot of a run's newest ended session, while the run continues. `rates` has one row per line."""

    session: int
    plot: Plot
    rates: list[tuple[int, str, float]]  # (style, name, transactions per second)


def live(run: Run) -> Live | None:
    """Return the curves of the newest ended session of a run. None if the run has ended or has no curve yet."""
    if run.is_final or not run.live:
        return None
    stored = LiveCurve.from_json(run.live)
    curves = {"candidate": stored.candidate, "control library": stored.control}
    found = {
        style: (name, throughput_rows(curve))
        for style, (name, curve) in enumerate(curves.items(), start=1)
        if curve is not None and any(curve.committed)
    }
    if not found:
        return None
    rates = [
        (style, name, 1e3 * sum(row.committed for row in rows) / rows[-1].end_ms)
        for style, (name, rows) in found.items()
    ]
    return Live(
        stored.session, rates_plot({style: rows for style, (_, rows) in found.items()}), rates
    )
