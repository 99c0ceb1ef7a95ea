"""Tests that the output of `keydrome bench` fits one screen, and that --details prints the rest."""

from __future__ import annotations

import re
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from cli.output import bench_screen
from cli.output.bench_text import Noise, Outcome, Subject
from cli.output.paragraph import paragraph
from results.summary import summarise
from runner.contract import Session
from runner.manifest import load_benchmarks
from runner.report import Finding
from runner.request import Request
from runner.series import SeriesResult
from runner.terms import JailLevel, Scale, Severity, Verdict
from runner.tests import samples

if TYPE_CHECKING:
    from pathlib import Path

    from runner.settings import Settings

LINES_IF_PASSED = 22  # two more lines, which name what runs, are printed before the run
LINES_IF_FAILED = 40
TERMINAL_LINES = 24
METRICS = {
    "total_ms": 20.0,
    "throughput_tps": 123_456.0,
    "transactions_failed": 0.0,
    "deadlocks": 12.0,
    "calls": 98_327.0,
    "memory_peak_bytes": 6e6,
}


@pytest.fixture
def passed(settings: Settings) -> Outcome:
    """Return the outcome of three sessions that scatter, on a noisy machine with long numbers."""
    benchmark = load_benchmarks(settings.root)["sigmod2009"]
    request = Request(
        benchmark=benchmark,
        instance="preliminary1",
        scale=Scale.SMOKE,
        overrides={},
        seeds=("00000000000000aa",) * 3,
        plain=False,
        require=JailLevel.FULL,
        control=True,
    )
    reports = [
        replace(samples.report(), metrics={**METRICS, "total_ms": time})
        for time in (20.0, 40.0, 30.0)
    ]
    control = replace(samples.report(), metrics={**METRICS, "total_ms": 26.0})
    sessions = tuple(Session("00000000000000aa", True, report, control) for report in reports)
    return Outcome(
        Subject("btree.so under the configuration exclusive", "btree"),
        request,
        {"file": "btree.so", "sha256": "0" * 64, "facts": {"kind": "index", "size_bytes": 9}},
        SeriesResult(Verdict.PASSED, "", (), sessions, "full"),
        summarise(sessions, "total_ms"),
        Noise(load=12.5, steal_percent=11.5, neighbours=2),
    )


def printed(outcome: Outcome, *, details: bool = False, width: int = 110) -> list[str]:
    out = Console(file=StringIO(), width=width)
    (bench_screen.show_details if details else bench_screen.show)(out, outcome)
    assert isinstance(out.file, StringIO)
    return out.file.getvalue().splitlines()


def test_a_library_that_passed_fits_one_screen(passed: Outcome) -> None:
    lines = printed(passed)
    assert len(lines) <= LINES_IF_PASSED
    assert max(map(len, lines)) <= 100
    assert lines[0].split() == ["median", "of", "the", "sessions", "candidate", "control"]
    assert lines[1].split() == ["total,", "ms", "30.00", "26.00"]
    text = " ".join(" ".join(lines).split())
    for words in ("transactions per second 123,456 123,456", "deadlocks 12 12", "peak memory, MiB"):
        assert words in text
    assert "transactions failed" not in text
    # The sentences are together at the end.
    headings = [found[1] for line in lines if (found := re.match(r"(\w+):", line))]
    assert headings == ["score", "each", "ran", "speed", "right", "noise", "next", "more"]
    assert lines[-1] == "btree.so, this run's own checks: passed"
    assert "each: per session: 0.769, 1.538, 1.154 (--seed 00000000000000aa plays" in text


def test_the_list_of_sessions_says_which_do_not_count(passed: Outcome) -> None:
    first, *others = passed.result.sessions
    noisy = (replace(first, discarded="the control took 1.9 times as long"), *others)
    for sessions, requested, words in (
        (passed.result.sessions, 3, "operations again) ran:"),
        (noisy, 2, "; 1 more session was too noisy to count ran:"),
        (
            passed.result.sessions,
            2,
            (
                "; 1 session more than requested: a session that looked noisy was repeated, but later sessions "
                "were as noisy, so it counts, too ran:"
            ),
        ),
        (
            passed.result.sessions,
            1,
            (
                "; 2 sessions more than requested: 2 sessions that looked noisy were repeated, but later sessions "
                "were as noisy, so they count, too ran:"
            ),
        ),
    ):
        result = replace(passed.result, sessions=sessions)
        request = replace(passed.request, seeds=("0" * 16,) * requested)
        shown = summarise(sessions, "total_ms")
        lines = printed(replace(passed, result=result, request=request, summary=shown))
        assert words in " ".join(" ".join(lines).split())


def test_a_narrow_terminal_leaves_out_the_phases(passed: Outcome) -> None:
    quiet = replace(passed, noise=Noise(load=0.1, steal_percent=0.0, neighbours=0))
    lines = printed(quiet, width=80)
    assert len(lines) <= TERMINAL_LINES
    assert max(map(len, lines)) <= 80
    assert "test, ms" in "".join(printed(quiet))
    assert "test, ms" not in "".join(lines)


def test_details_print_what_the_screen_leaves_out(passed: Outcome) -> None:
    text = "\n".join(printed(passed, details=True))
    for words in ("Medians over the sessions", "calls", "sha256", "Sessions"):
        assert words in text
        assert words not in "\n".join(printed(passed))


def test_without_a_control_there_is_no_column_for_it(passed: Outcome) -> None:
    alone = tuple(replace(one, control=None) for one in passed.result.sessions)
    result = replace(passed.result, sessions=alone)
    lines = printed(replace(passed, result=result, summary=summarise(alone, "total_ms")))
    assert lines[0].split()[-1] == "candidate"
    assert lines[1].split() == ["total,", "ms", "30.00"]


def test_a_weak_jail_is_named(passed: Outcome) -> None:
    weak = replace(passed, result=replace(passed.result, jail_level="weak"))
    assert any(line.startswith("more:  jail: weak") for line in printed(weak))


def test_a_library_that_failed_begins_with_the_finding(passed: Outcome) -> None:
    detail = "\n".join(f"call {number} " + "words " * 60 for number in range(30))
    findings = tuple(
        Finding("sigmod2009", f"fault_{number}", Severity.REQUIRED, detail) for number in range(20)
    )
    result = replace(passed.result, verdict=Verdict.FAILED, findings=findings)
    lines = printed(replace(passed, result=result))
    assert len(lines) <= LINES_IF_FAILED
    assert max(map(len, lines)) <= 100
    assert lines[0] == "sigmod2009: fault_0"
    assert lines[-1] == "btree.so, this run's own checks: failed"
    text = " ".join(lines)
    assert "next:  `keydrome check btree --witness DIR` shows the few calls" in text
    assert "score" not in text


def test_the_next_command_can_be_copied(
    passed: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shell need not find `keydrome`, so the command has the path by which it was started."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", [".venv/bin/keydrome", "bench", "btree"])
    text = " ".join(" ".join(printed(passed)).split())
    assert "next: run `.venv/bin/keydrome check btree` to judge isolation" in text


def test_a_space_follows_every_heading() -> None:
    assert paragraph("memory", "words", 80) == ["memory: words"]
    assert paragraph("next", "words", 80) == ["next:  words"]


def test_what_a_finding_leaves_out_is_where_the_screen_says(passed: Outcome) -> None:
    detail = "\n".join(f"call {number}" for number in range(30))
    finding = Finding("sigmod2009", "fault", Severity.REQUIRED, detail)
    failed = replace(passed.result, verdict=Verdict.FAILED, findings=(finding,))
    outcome = replace(passed, result=failed)
    assert "  ... 20 more lines; --details shows more" in printed(outcome)
    assert "  call 18" in printed(outcome, details=True)
    assert "  ... 11 more lines; --json FILE keeps all" in printed(outcome, details=True)


def test_a_command_is_not_divided() -> None:
    command = "`keydrome debug mine.so --benchmark scenarios --tool stack`"
    lines = paragraph("next", f"{'words ' * 12}{command} plays it", 80)
    assert any(command in line for line in lines)
    assert all(len(line) <= 80 for line in lines)
