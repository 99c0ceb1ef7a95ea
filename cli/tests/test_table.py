"""Tests of cli/output/table.py: sessions that were discarded do not change the printed numbers.

A session (one run of the measured library and of a fixed library, the control) is discarded if the machine was too
noisy.
"""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console

from cli.output import table
from results.summary import summarise
from runner.contract import Session
from runner.manifest import Benchmark, find_benchmark, load_benchmarks
from runner.report import Throughput
from runner.tests import samples

if TYPE_CHECKING:
    from runner.settings import Settings


def session(factor: int, discarded: str = "") -> Session:
    """Return a session whose times are `factor` times those of the sample report."""
    report = samples.report()
    slower = replace(
        report,
        latency=(samples.latency("get", (1_000 * factor, 10)),),
        phases=tuple(replace(phase, wall_ns=phase.wall_ns * factor) for phase in report.phases),
    )
    return Session("0" * 16, True, slower, slower, discarded=discarded)


def printed(sessions: tuple[Session, ...], benchmark: Benchmark) -> str:
    out = Console(file=StringIO(), width=120)
    counted = [one for one in sessions if not one.discarded]
    table.show_numbers(out, benchmark, sessions, summarise(counted, "total_ms"))
    table.show_latency(out, sessions)
    assert isinstance(out.file, StringIO)
    return out.file.getvalue()


def test_discarded_sessions_do_not_count(settings: Settings) -> None:
    benchmark = find_benchmark(load_benchmarks(settings.root), "sigmod2009")
    kept = (session(1), session(1))
    text = printed(kept, benchmark)
    assert "Latency" in text
    assert "Medians" in text
    noisy = session(9, discarded="the control changed")
    assert printed((*kept, noisy, noisy, noisy), benchmark) == text


def test_a_pinned_phase_is_named(settings: Settings) -> None:
    benchmark = find_benchmark(load_benchmarks(settings.root), "affinity")
    report = samples.report()
    assert "test, ms" in printed((Session("0" * 16, True, report, report),), benchmark)
    pinned = replace(report, phases=tuple(replace(one, pinned=True) for one in report.phases))
    assert "test, pinned, ms" in printed((Session("0" * 16, True, pinned, pinned),), benchmark)


def test_a_long_final_scan_gets_a_note(settings: Settings) -> None:
    benchmark = find_benchmark(load_benchmarks(settings.root), "sigmod2009")

    def with_scan(candidate_us: float) -> tuple[Session, ...]:
        reports = [
            replace(samples.report(), metrics={"final_scan_cpu_us": us})
            for us in (candidate_us, 1_000.0)
        ]
        return (Session("0" * 16, True, reports[0], reports[1]),)

    assert "final scan used 3.1 times" in printed(with_scan(3_100.0), benchmark)
    text = printed(with_scan(3_000.0), benchmark)
    assert "CPU time of the final scan" in text
    assert "final scan used" not in text


def test_repeated_sessions_are_explained() -> None:
    """Five sessions were requested. One looked noisy and was repeated, but later ones were as noisy, so six count."""
    out = Console(file=StringIO(), width=120)
    table.show_sessions(out, (session(1),) * 6, "total_ms", 5)
    table.show_sessions(out, (session(1),) * 3, "total_ms", 3)
    assert isinstance(out.file, StringIO)
    text = out.file.getvalue()
    assert "Sessions (5 requested, 1 repeated because of noise)" in text
    assert text.count("requested") == 1


def test_percentiles_need_samples(settings: Settings) -> None:
    benchmark = find_benchmark(load_benchmarks(settings.root), "sigmod2009")
    report = replace(samples.report(), latency=(samples.latency("get", (2_000, 99)),))
    text = printed((Session("0" * 16, True, report, report),), benchmark)
    row = next(line for line in text.splitlines() if "get" in line)
    assert row.replace("\u2502", " ").split() == ["get", "99", "2.0", "2.0", "-", "-", "2.0"]


def test_the_ranking_metric_comes_first(settings: Settings) -> None:
    benchmark = find_benchmark(load_benchmarks(settings.root), "open_loop")
    report = replace(samples.report(), metrics={"total_ms": 5.0, "sustained_per_s": 1_234.0})
    sessions = (Session("0" * 16, True, report, report),)
    out = Console(file=StringIO(), width=120)
    table.show_numbers(out, benchmark, sessions, summarise(sessions, "sustained_per_s"))
    assert isinstance(out.file, StringIO)
    rows = [line for line in out.file.getvalue().splitlines() if line.startswith("\u2502")]
    assert "1,234" in rows[0]
    assert sum("1,234" in row for row in rows) == 1
    assert any("total, ms" in row for row in rows[1:])


def test_a_curve_of_throughput() -> None:
    curve = Throughput("test", 1_000_000, (0, 5, 10, 10))
    report = replace(samples.report(), throughput=curve)
    out = Console(file=StringIO(), width=120)
    table.show_curve(out, (Session("0" * 16, True, report, report),))
    table.show_curve(out, (session(1),))  # it has no curve, so nothing is printed
    assert isinstance(out.file, StringIO)
    assert out.file.getvalue() == (
        "transactions per second in test, from 0 to 4 ms:  \u2584\u2588\u2588 (at most 10,000)\n"
    )
