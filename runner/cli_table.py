"""Results as text: sessions, numbers, latencies and findings.

What a library wrote is shown without control characters, which could steer the terminal.
"""

from __future__ import annotations

import sys
from statistics import median
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from runner.contract import Severity, Verdict
from runner.summary import Summary, control_number, session_ratio
from runner.text import printable
from runner.witness_text import witness_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.contract import Finding, Session
    from runner.manifest import Benchmark

_PLAIN_WIDTH = 110
_THOUSAND = 1000.0
_MEBIBYTE = float(1 << 20)

_ROWS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("throughput_tps", "throughput, transactions/s", lambda v: f"{v:,.0f}"),
    ("transactions_completed", "transactions completed", lambda v: f"{v:,.0f}"),
    ("transactions_failed", "transactions failed", lambda v: f"{v:,.0f}"),
    ("deadlocks", "deadlocks", lambda v: f"{v:,.0f}"),
    ("calls", "calls", lambda v: f"{v:,.0f}"),
    ("ns_per_call", "ns per call", lambda v: f"{v:,.1f}"),
    ("hit_ratio", "hit ratio", lambda v: f"{100 * v:.1f} %"),
    ("client_context_switches", "context switches of the clients", lambda v: f"{v:,.0f}"),
    ("cycles_per_call", "cycles per call", lambda v: f"{v:,.1f}"),
    ("instructions_per_call", "instructions per call", lambda v: f"{v:,.1f}"),
    ("cache_misses_per_call", "cache misses per call", lambda v: f"{v:,.3f}"),
    ("branch_misses_per_call", "branch misses per call", lambda v: f"{v:,.3f}"),
    ("stalled_frontend_per_call", "cycles per call, front end stalled", lambda v: f"{v:,.1f}"),
    ("stalled_backend_per_call", "cycles per call, back end stalled", lambda v: f"{v:,.1f}"),
    ("page_faults", "page faults", lambda v: f"{v:,.0f}"),
    ("context_switches", "context switches of all threads", lambda v: f"{v:,.0f}"),
    ("migrations", "moves to another processor", lambda v: f"{v:,.0f}"),
    ("records_start", "records at start", lambda v: f"{v:,.0f}"),
    ("records_end", "records at end", lambda v: f"{v:,.0f}"),
    ("memory_peak_bytes", "peak memory, MiB", lambda v: f"{v / _MEBIBYTE:,.1f}"),
    ("bytes_per_record", "bytes per record", lambda v: f"{v:,.1f}"),
    ("cpu_us", "CPU time, ms", lambda v: f"{v / _THOUSAND:,.1f}"),
)


def console() -> Console:
    """Return a console on standard output; wide enough for the tables when it is no terminal."""
    return Console(width=None if sys.stdout.isatty() else _PLAIN_WIDTH, highlight=False)


def show_sessions(out: Console, sessions: tuple[Session, ...], metric: str) -> None:
    """Print one line per session: its seed and the metric of candidate and control."""
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
            f"void: {session.void}" if session.void else str(session.candidate["verdict"]),
            _number(session.candidate["metrics"].get(metric)),
            _number(control_number(session, metric)),
            "-" if ratio is None else f"{ratio:.3f}",
        )
    out.print(table)


def show_numbers(
    out: Console, benchmark: Benchmark, sessions: tuple[Session, ...], summary: Summary
) -> None:
    """Print the medians over all sessions, candidate beside control: the benchmark's own numbers last."""
    table = Table(title="Medians over the sessions", title_justify="left")
    table.add_column("")
    table.add_column("candidate", justify="right")
    table.add_column("control", justify="right")
    rows = [("total, ms", _both(summary, "total_ms", lambda v: f"{v:,.2f}"))]
    rows += [(f"  {name}, ms", cells) for name, cells in _phases(sessions)]
    rows += [(title, _both(summary, name, form)) for name, title, form in _ROWS]
    rows += [(own.label, _both(summary, own.name, own.text)) for own in benchmark.own_metrics]
    for title, cells in rows:
        if cells != ("-", "-"):
            table.add_row(title, *cells)
    if table.row_count:
        out.print(table)


def show_latency(out: Console, sessions: tuple[Session, ...]) -> None:
    """Print latency quantiles per transaction class: medians over the sessions, in microseconds."""
    names = ("p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")
    found: dict[str, dict[str, list[float]]] = {}
    for session in sessions:
        for entry in session.candidate.get("latency", []):
            values = found.setdefault(entry["class"], {name: [] for name in names})
            for name in names:
                values[name].append(entry[name] / _THOUSAND)
    if not found:
        return
    table = Table(title="Latency, us (the player's clock)", title_justify="left")
    table.add_column("transaction")
    for title in ("median", "90 %", "99 %", "99.9 %", "max"):
        table.add_column(title, justify="right")
    for kind, values in found.items():
        table.add_row(printable(kind), *(f"{median(values[name]):,.1f}" for name in names))
    out.print(table)


def show_findings(out: Console, findings: Iterable[Finding]) -> None:
    """Print what was found wrong, required before advisory, and the first witness there is."""
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
        out.print(Text("\n".join([f"\nWhat shows {first.suite} {first.name}:", *lines])))


def show_verdict(out: Console, subject: str, verdict: Verdict, reason: str) -> None:
    """Print the verdict as one line."""
    style = "bold green" if verdict is Verdict.PASSED else "bold red"
    word = verdict.value.replace("_", " ")
    line = Text(f"{subject}: ").append(word, style=style)
    out.print(line.append(f": {printable(reason)}" if reason else ""), soft_wrap=True)


def _both(summary: Summary, name: str, form: Callable[[float], str]) -> tuple[str, str]:
    values = (summary.medians.get(name), summary.control_medians.get(name))
    candidate, control = ("-" if value is None else form(value) for value in values)
    return candidate, control


def _phases(sessions: tuple[Session, ...]) -> list[tuple[str, tuple[str, str]]]:
    cells: dict[str, tuple[list[float], list[float]]] = {}
    for session in sessions:
        for column, reports in enumerate(((session.candidate,), session.controls)):
            for phase in (phase for report in reports for phase in report["phases"]):
                if phase["timed"]:
                    pair = cells.setdefault(phase["name"], ([], []))
                    pair[column].append(phase["wall_ns"] / 1e6)
    return [
        (
            name,
            (_number(median(ours) if ours else None), _number(median(theirs) if theirs else None)),
        )
        for name, (ours, theirs) in cells.items()
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"
