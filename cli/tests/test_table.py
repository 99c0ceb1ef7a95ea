"""Tests of cli/table.py: sessions that were discarded do not change the printed numbers.

A session (one run of the measured library and of a fixed library, the control) is discarded if the machine was too
noisy.
"""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console

from cli import table
from results.summary import summarise
from runner.contract import Session
from runner.manifest import Benchmark, find_benchmark, load_benchmarks
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

    assert "The final scan used 3.1 times" in printed(with_scan(3_100.0), benchmark)
    text = printed(with_scan(3_000.0), benchmark)
    assert "CPU time of the final scan" in text
    assert "The final scan used" not in text
