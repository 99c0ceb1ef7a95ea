"""Prints the results of a run: tables of sessions, metrics and latencies, the throughput over time, and the verdict.

The candidate is the library that is judged. The control is a fixed library, which is timed in the same sessions.
Texts that come from a library are printed without control characters, which could control the terminal.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from results.curves import throughput_rows
from results.metrics import METRICS, TOTAL_MS, Metric, Unit, ranked_by
from results.summary import Summary, control_number, final_scan_note, session_ratio
from runner.terms import Verdict
from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.contract import Session
    from runner.manifest import Benchmark

_PLAIN_WIDTH = 110
_THOUSAND = 1000.0
_MEBIBYTE = float(1 << 20)
# How many samples each column needs: median, 90 %, 99 %, 99.9 %, maximum. With fewer, a percentile equals the maximum.
_SAMPLES_MIN = (1, 10, 100, 1000, 1)
_BARS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"
_CURVE_POINTS_MIN = 4
_CURVE_POINTS_MAX = 40
# The metrics that one screen shows, and the largest number of its rows. _FAULTS are counts of what went wrong.
_FAULTS = {"transactions_failed", "deadlocks"}
_MAIN = {"throughput_tps", *_FAULTS}
_MEMORY = "memory_peak_bytes"
_MAIN_ROWS_MAX = 6
_MAIN_PHASES_MAX = 3  # more phases are too many for one screen

# Maps each unit to the text that is added to a metric's label, and to the function that formats the number.
_WRITTEN: dict[Unit, tuple[str, Callable[[float], str]]] = {
    Unit.SHARE: ("", lambda value: f"{100 * value:.1f} %"),
    Unit.NANOSECONDS: (", ns", lambda value: f"{value:,.1f}"),
    Unit.MICROSECONDS: (", ms", lambda value: f"{value / _THOUSAND:,.1f}"),
    Unit.BYTES: (", MiB", lambda value: f"{value / _MEBIBYTE:,.1f}"),
}


def console(stream: TextIO) -> Console:
    """Return a console that writes to `stream`. If `stream` is not a terminal, the console has _PLAIN_WIDTH columns."""
    return Console(file=stream, width=None if stream.isatty() else _PLAIN_WIDTH, highlight=False)


def show_sessions(out: Console, sessions: tuple[Session, ...], metric: str, requested: int) -> None:
    """Print a table with one line per session: its seed, its verdict, and the metric of candidate and control.

    `metric` is the name of the number by which the benchmark ranks libraries. There are more sessions than `requested`
    if noisy sessions were repeated. A repeated session can be valid after all, because later sessions show how much
    noise is normal.
    """
    repeated = len(sessions) - requested
    note = f" ({requested} requested, {repeated} repeated because of noise)" if repeated > 0 else ""
    table = Table(title=f"Sessions{note}", title_justify="left")
    table.add_column("session", justify="right")
    table.add_column("seed")
    for name in ("verdict", f"{metric}", "control", "ratio"):
        table.add_column(name, justify="left" if name == "verdict" else "right")
    for number, session in enumerate(sessions, start=1):
        ratio = session_ratio(session, metric)
        table.add_row(
            str(number),
            session.seed,
            f"discarded: {session.discarded}"
            if session.discarded
            else session.candidate.verdict.value,
            _number(session.candidate.metrics.get(metric)),
            _number(control_number(session, metric)),
            "-" if ratio is None else f"{ratio:.3f}",
        )
    out.print(table)


def show_numbers(
    out: Console, benchmark: Benchmark, sessions: tuple[Session, ...], summary: Summary
) -> None:
    """Print the medians over the sessions, for candidate and control. The metric that ranks libraries comes first.

    The benchmark's own metrics follow. Sessions that were discarded do not count, as in `summary`.
    """
    table = Table(title="Medians over the sessions", title_justify="left")
    table.add_column("")
    table.add_column("candidate", justify="right")
    table.add_column("control", justify="right")
    for _, title, cells in _number_rows(benchmark, sessions, summary):
        table.add_row(title, *cells)
    if table.row_count:
        out.print(table)
    if note := final_scan_note(summary):
        out.print(note)


def main_numbers(
    benchmark: Benchmark, sessions: tuple[Session, ...], summary: Summary, *, phases: bool = True
) -> list[str]:
    """Return the most important of the same medians as at most 1 + _MAIN_ROWS_MAX lines, the ranking metric first.

    Without `phases`, the times of phases are left out.
    """
    rows = _number_rows(benchmark, sessions, summary)
    # The peak memory is always shown, so it takes the last row.
    last = [row[1:] for row in rows if row[0] == _MEMORY]
    wanted = {summary.metric, *(own.name for own in benchmark.own_metrics), *_MAIN}
    if phases and sum(name == "phase" for name, _, _ in rows) <= _MAIN_PHASES_MAX:
        wanted.add("phase")
    found = (
        [
            (title, cells)
            for name, title, cells in rows
            if name in wanted
            # The counts of what went wrong are shown only if something did.
            and not (name in _FAULTS and cells[0] == "0" and cells[1] in {"0", "-"})
        ][: _MAIN_ROWS_MAX - len(last)]
        + last
    )
    if not found:
        return []
    heads = ("candidate", "control")
    # Without a control, its column would be empty.
    columns = 2 if any(cells[1] != "-" for _, cells in found) else 1
    wide = max(len(title) for title, _ in found)
    sizes = [max(len(heads[i]), *(len(cells[i]) for _, cells in found)) for i in range(columns)]
    shown = [("median of the sessions"[:wide], heads), *found]
    return [
        f"{title:{wide}}" + "".join(f"  {cells[i]:>{sizes[i]}}" for i in range(columns))
        for title, cells in shown
    ]


def _number_rows(
    benchmark: Benchmark, sessions: tuple[Session, ...], summary: Summary
) -> list[tuple[str, str, tuple[str, str]]]:
    """Return for each number the name of its metric, or "phase", its title, and the cells of candidate and control."""
    rows = [(TOTAL_MS, "total, ms", _both(summary, TOTAL_MS, lambda v: f"{v:,.2f}"))]
    rows += [("phase", f"  {name}, ms", cells) for name, cells in _phases(sessions)]
    own = [
        (own.name, own.label, _both(summary, own.name, own.text))
        for own in benchmark.own_metrics
        if own.name != summary.metric
    ]
    rows = [*rows, *own] if summary.metric == TOTAL_MS else [*own, *rows]
    rows += [
        (metric.name, *_row(summary, metric)) for metric in METRICS if metric.name != summary.metric
    ]
    if summary.metric not in {None, TOTAL_MS}:
        first = ranked_by(str(summary.metric), benchmark.own_metrics)
        cells = _both(summary, str(summary.metric), first.text)
        rows.insert(0, (str(summary.metric), first.heading, cells))
    return [row for row in rows if row[2] != ("-", "-")]


def show_latency(out: Console, sessions: tuple[Session, ...]) -> None:
    """Print the latencies of each transaction class in microseconds: the median of each quantile over the sessions.

    Sessions that were discarded do not count.
    """
    found: dict[str, list[tuple[int, ...]]] = {}
    for session in _counted(sessions):
        for one in session.candidate.latency:
            quantiles = (one.p50_ns, one.p90_ns, one.p99_ns, one.p999_ns, one.max_ns)
            found.setdefault(one.transaction_class, []).append((one.count, *quantiles))
    if not found:
        return
    table = Table(
        title="Latency in us, by the clock in the jail (a - means too few samples)",
        title_justify="left",
    )
    table.add_column("transaction")
    for title in ("samples", "median", "90 %", "99 %", "99.9 %", "max"):
        table.add_column(title, justify="right")
    for kind, rows in found.items():
        count, *medians = (median(column) for column in zip(*rows, strict=True))
        cells = (
            f"{value / _THOUSAND:,.1f}" if count >= least else "-"
            for value, least in zip(medians, _SAMPLES_MIN, strict=True)
        )
        table.add_row(printable(kind), f"{count:,.0f}", *cells)
    out.print(table)


def show_curve(out: Console, sessions: tuple[Session, ...]) -> None:
    """Print the throughput of the first session that is not discarded: a line of bars, one for each window."""
    curve = next((s.candidate.throughput for s in _counted(sessions)), None)
    if curve is None or len(curve.committed) < _CURVE_POINTS_MIN:
        return
    rows = throughput_rows(curve, -(-len(curve.committed) // _CURVE_POINTS_MAX))
    top = max(row.per_second for row in rows) or 1.0
    line = "".join(_BARS[round(row.per_second / top * (len(_BARS) - 1))] for row in rows)
    out.print(
        f"transactions per second in {printable(curve.phase)}, from 0 to {rows[-1].end_ms:,.0f} ms: {line} "
        f"(at most {top:,.0f})",
        markup=False,
        soft_wrap=True,
    )


def show_verdict(out: Console, subject: str, verdict: Verdict, reason: str) -> None:
    """Print the verdict as one line."""
    style = "bold green" if verdict is Verdict.PASSED else "bold red"
    word = verdict.value.replace("_", " ")
    line = Text(f"{subject}: ").append(word, style=style)
    out.print(line.append(f": {printable(reason)}" if reason else ""), soft_wrap=True)


def _row(summary: Summary, metric: Metric) -> tuple[str, tuple[str, str]]:
    count = ("", lambda value: f"{value:,.{metric.digits}f}")
    unit, form = _WRITTEN.get(metric.unit, count)
    return metric.label + unit, _both(summary, metric.name, form)


def _both(summary: Summary, name: str, form: Callable[[float], str]) -> tuple[str, str]:
    values = (summary.medians.get(name), summary.control_medians.get(name))
    candidate, control = ("-" if value is None else form(value) for value in values)
    return candidate, control


def _phases(sessions: tuple[Session, ...]) -> list[tuple[str, tuple[str, str]]]:
    cells: dict[str, tuple[list[float], list[float]]] = {}
    for session in _counted(sessions):
        for column, reports in enumerate(((session.candidate,), session.controls)):
            for phase in (phase for report in reports for phase in report.phases):
                if phase.timed:
                    name = f"{phase.name}, pinned" if phase.pinned else phase.name
                    pair = cells.setdefault(name, ([], []))
                    pair[column].append(phase.wall_ns / 1e6)
    return [
        (
            name,
            (_number(median(ours) if ours else None), _number(median(theirs) if theirs else None)),
        )
        for name, (ours, theirs) in cells.items()
    ]


def _counted(sessions: tuple[Session, ...]) -> list[Session]:
    return [session for session in sessions if not session.discarded]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"
