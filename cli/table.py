"""Prints the results of a run as tables: sessions, metrics, latencies and findings.

The candidate is the library that is judged. The control is a fixed library, which is timed in the same sessions.
Texts that come from a library are printed without control characters, which could control the terminal.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from results.metrics import METRICS, Metric, Unit
from results.summary import Summary, control_number, final_scan_note, session_ratio
from results.witness_text import witness_text
from runner.terms import Severity, Verdict
from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.contract import Session
    from runner.manifest import Benchmark
    from runner.report import Finding

_PLAIN_WIDTH = 110
_THOUSAND = 1000.0
_MEBIBYTE = float(1 << 20)

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


def show_sessions(out: Console, sessions: tuple[Session, ...], metric: str) -> None:
    """Print a table with one line per session: its seed, its verdict, and the metric of candidate and control.

    `metric` is the name of the number by which the benchmark ranks libraries.
    """
    table = Table(title="Sessions", title_justify="left")
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
    """Print the medians over the sessions, for candidate and control. The benchmark's own metrics come last.

    Sessions that were discarded do not count, as in `summary`.
    """
    table = Table(title="Medians over the sessions", title_justify="left")
    table.add_column("")
    table.add_column("candidate", justify="right")
    table.add_column("control", justify="right")
    rows = [("total, ms", _both(summary, "total_ms", lambda v: f"{v:,.2f}"))]
    rows += [(f"  {name}, ms", cells) for name, cells in _phases(sessions)]
    rows += [_row(summary, metric) for metric in METRICS]
    rows += [(own.label, _both(summary, own.name, own.text)) for own in benchmark.own_metrics]
    for title, cells in rows:
        if cells != ("-", "-"):
            table.add_row(title, *cells)
    if table.row_count:
        out.print(table)
    if note := final_scan_note(summary):
        out.print(note)


def show_latency(out: Console, sessions: tuple[Session, ...]) -> None:
    """Print the latencies of each transaction class in microseconds: the median of each quantile over the sessions.

    Sessions that were discarded do not count.
    """
    found: dict[str, list[tuple[int, ...]]] = {}
    for session in _counted(sessions):
        for one in session.candidate.latency:
            quantiles = (one.p50_ns, one.p90_ns, one.p99_ns, one.p999_ns, one.max_ns)
            found.setdefault(one.transaction_class, []).append(quantiles)
    if not found:
        return
    table = Table(
        title="Latency in us, by the clock of the process that runs the library",
        title_justify="left",
    )
    table.add_column("transaction")
    for title in ("median", "90 %", "99 %", "99.9 %", "max"):
        table.add_column(title, justify="right")
    for kind, rows in found.items():
        medians = (median(column) / _THOUSAND for column in zip(*rows, strict=True))
        table.add_row(printable(kind), *(f"{value:,.1f}" for value in medians))
    out.print(table)


def show_findings(out: Console, findings: Iterable[Finding]) -> None:
    """Print the findings, required ones first, and the first witness (the proof of a finding)."""
    ordered = sorted(findings, key=lambda finding: finding.severity is not Severity.REQUIRED)
    if not ordered:
        return
    table = Table(title="Findings", title_justify="left")
    for name in ("severity", "suite", "name", "detail"):
        table.add_column(name, overflow="fold")
    for finding in ordered:
        cells = (finding.severity.value, finding.suite, finding.name, finding.detail)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    out.print(table)
    first = next((finding for finding in ordered if finding.witness is not None), None)
    if first is not None and first.witness is not None:
        lines = [printable(line) for line in witness_text(first.witness).splitlines()]
        out.print(Text("\n".join([f"\nWitness of {first.suite} {first.name}:", *lines])))


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
