"""Tests when the first round of `keydrome check` ends early, with a clock and CPU times that the tests set.

`keydrome check` judges a library with correctness benchmarks, called suites. A round runs every suite once.
"""

from __future__ import annotations

from argparse import Namespace
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli import check
from runner.contract import Session
from runner.inspection.library import LibraryFacts, LibraryKind
from runner.manifest import Kind, load_benchmarks
from runner.report import Finding
from runner.series import SeriesResult
from runner.terms import JailLevel, Scale, Severity, Verdict
from runner.tests import samples
from runner.tests.samples import make_witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from runner.execute import Inspected
    from runner.request import Request
    from runner.settings import Settings

FACTS = LibraryFacts(LibraryKind.INDEX, 1)


@dataclass
class Machine:
    """A machine on which each session takes as much time as a test says. It has no jail."""

    cpu_s: float
    wall_s: float
    verdict: Verdict = Verdict.PASSED
    now_s: float = 1000.0
    sessions: int = 0
    busy_sessions: int = 0  # the first sessions, which end with the verdict infrastructure
    busy_reason: str = "the threads waited {:.1f} s"  # with the time at which the session ended
    timeout_factors: list[int] = field(default_factory=list)  # of the sessions

    def monotonic(self) -> float:
        return self.now_s

    def run_inspected(self, _file: Inspected, request: Request, *_rest: object) -> SeriesResult:
        self.timeout_factors.append(request.timeout_factor)
        self.now_s += self.wall_s
        self.sessions += 1
        busy = self.sessions <= self.busy_sessions
        verdict = Verdict.INFRASTRUCTURE if busy else self.verdict
        report = samples.report(verdict.value)
        report = replace(report, jail=replace(report.jail, cpu_us=round(self.cpu_s * 1e6)))
        session = Session("00000000000000aa", candidate_first=True, candidate=report, control=None)
        reason = self.busy_reason.format(self.now_s) if busy else report.reason
        return SeriesResult(verdict, reason, sessions=(session,))


def first_round(
    machine: Machine, settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    @contextmanager
    def prepared(_library: Path) -> Iterator[tuple[Settings, Path, Path]]:
        yield settings, folder, Path("library.so")

    monkeypatch.setattr(check, "prepared", prepared)
    monkeypatch.setattr(check, "inspect_library", lambda *_arguments, **_options: FACTS)
    monkeypatch.setattr(check, "run_inspected", machine.run_inspected)
    monkeypatch.setattr(check, "time", machine)
    return check._run_suites(wanted(settings), Path("library.so"), "00000000000000aa", 0)


def wanted(settings: Settings) -> check._Check:
    """Return a check with all suites at smoke scale."""
    suites = [
        one for one in load_benchmarks(settings.root).values() if one.kind is Kind.CORRECTNESS
    ]
    return check._Check(
        suites=suites,
        scale=Scale.SMOKE,
        level=JailLevel.NONE,
        configuration=None,
        trusted=False,
        witness=None,
        verified=False,
        given="./mine.so",
        file="mine.so",
    )


def test_a_busy_machine_does_not_make_a_library_slow(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(cpu_s=0.2, wall_s=9.0)
    tally = first_round(machine, settings, tmp_path, monkeypatch)
    assert machine.now_s - 1000 > 60
    assert (tally.verdict, tally.not_run, tally.findings) == (Verdict.PASSED, [], {})


def test_a_machine_that_is_far_too_busy_judges_nothing(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(cpu_s=0.2, wall_s=20.0)
    tally = first_round(machine, settings, tmp_path, monkeypatch)
    assert machine.now_s - 1000 <= 180
    assert (tally.verdict, tally.findings) == (Verdict.INFRASTRUCTURE, {})
    assert tally.not_run
    assert "the machine is busy, or the library waits" in tally.why_not_run


def test_what_a_busy_machine_left_open_is_repeated(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(cpu_s=0.2, wall_s=1.0, busy_sessions=2)
    tally = first_round(machine, settings, tmp_path, monkeypatch)
    assert (tally.verdict, tally.findings, tally.not_run) == (Verdict.PASSED, {}, [])
    assert machine.sessions == tally.sessions + 2
    assert machine.timeout_factors == [1, 3, 9, *[1] * (tally.sessions - 1)]
    assert not list(tmp_path.glob("*-00000000000000aa"))
    notes = list(check._notes(wanted(settings), tally, is_named=False))
    (name,) = tally.repeated
    assert notes[0] == (
        f"repeated, because the first attempt could not be judged: {name} "
        f"(the reason for {name}: the threads waited 1001.0 s)"
    )


def test_a_machine_that_stays_busy_judges_nothing(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(cpu_s=0.2, wall_s=1.0, busy_sessions=3)
    tally = first_round(machine, settings, tmp_path, monkeypatch)
    assert tally.verdict is Verdict.INFRASTRUCTURE
    assert machine.sessions == tally.sessions + 2


def test_what_never_works_is_not_repeated_for_every_instance(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(cpu_s=0.2, wall_s=1.0, busy_sessions=99, busy_reason="unknown benchmark")
    tally = first_round(machine, settings, tmp_path, monkeypatch)
    assert tally.verdict is Verdict.INFRASTRUCTURE
    assert machine.sessions == tally.sessions + 1
    assert list(tally.repeated.values()) == ["unknown benchmark"]


def test_findings_of_a_busy_machine_count(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(cpu_s=0.2, wall_s=20.0, verdict=Verdict.FAILED)
    tally = first_round(machine, settings, tmp_path, monkeypatch)
    assert tally.verdict is Verdict.FAILED
    assert ("gate", "too_slow") not in tally.findings


def test_a_library_that_has_failed_is_not_tested_for_more_than_a_minute(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(cpu_s=0.2, wall_s=15.0, verdict=Verdict.FAILED)
    tally = first_round(machine, settings, tmp_path, monkeypatch)
    assert machine.now_s - 1000 == 45
    assert tally.why_not_run.startswith("the library has failed, and the suites have taken 45 s")
    quick = Machine(cpu_s=0.2, wall_s=2.0, verdict=Verdict.FAILED)
    assert first_round(quick, settings, tmp_path, monkeypatch).not_run == []


def test_a_library_that_uses_too_much_cpu_time_is_too_slow(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(cpu_s=12.0, wall_s=6.0)
    tally = first_round(machine, settings, tmp_path, monkeypatch)
    assert tally.cpu_seconds <= 60
    assert tally.verdict is Verdict.FAILED
    finding = tally.findings[("gate", "too_slow")]
    assert "s of CPU time in" in finding.detail
    assert "not run: " in finding.detail
    assert tally.to_debug.startswith("`perf record -g keydrome debug ./mine.so --benchmark ")
    # Without --comm, the report would consist of Python's functions first.
    assert (
        "`perf report --no-children --percentage relative --comm debug_session`" in tally.to_debug
    )
    notes = list(check._notes(wanted(settings), tally, is_named=True))
    assert f"debug: {tally.to_debug}" in notes
    assert not any("--witness" in note for note in notes)


def test_a_rejected_configuration_is_reported_once(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(cpu_s=0.2, wall_s=1.0, verdict=Verdict.UNSUPPORTED)
    tally = first_round(machine, settings, tmp_path, monkeypatch)
    assert (machine.sessions, len(tally.findings)) == (1, 1)
    assert list(check._notes(wanted(settings), tally, is_named=True)) == []


def test_only_a_proof_is_a_reason_to_ask_for_a_witness(settings: Settings) -> None:
    tally = check._Tally("./mine.so", verdict=Verdict.FAILED)
    finding = Finding("isolation", "phantom", Severity.REQUIRED, "two phantoms", make_witness())
    tally.findings[("isolation", "phantom")] = finding
    advice = (
        "next: with --witness DIR, this command writes the proofs as text, pictures and C programs"
    )
    assert advice in check._notes(wanted(settings), tally, is_named=True)


def test_a_folder_with_files_of_an_earlier_run_is_noted(settings: Settings, tmp_path: Path) -> None:
    tally = check._Tally("./mine.so", verdict=Verdict.FAILED)
    used = tmp_path / "used"
    used.mkdir()
    (used / "unit-unit-1.json").write_text("{}")
    for folder, has_note in ((used, True), (tmp_path / "new", False)):
        kept = check._witness_folder(
            Namespace(
                witness=folder,
                all_histories=False,
                library="./mine.so",
                config=None,
                suite=None,
                scale="smoke",
            )
        )
        notes = list(check._notes(replace(wanted(settings), witness=kept), tally, is_named=True))
        assert any("had 1 file before this run" in note for note in notes) == has_note
        assert kept is not None
        assert kept.options == " --scale smoke"


def test_a_leak_says_where_to_read_how_to_find_it(settings: Settings) -> None:
    tally = check._Tally("./mine.so", verdict=Verdict.PASSED)
    assert not any(
        "Find a leak" in note for note in check._notes(wanted(settings), tally, is_named=False)
    )
    finding = Finding("scenarios", "memory_growth", Severity.ADVISORY, "memory grew by 10 MiB")
    tally.findings[("scenarios", "memory_growth")] = finding
    assert any(
        "Find a leak" in note for note in check._notes(wanted(settings), tally, is_named=True)
    )


def test_a_crash_says_how_to_play_it_again(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(cpu_s=0.2, wall_s=1.0, verdict=Verdict.CRASHED)
    tally = first_round(machine, settings, tmp_path, monkeypatch)
    assert "--seed 00000000000000aa --tool stack` plays the crash in gdb" in tally.to_debug
    assert tally.to_debug.startswith("`keydrome debug ./mine.so --benchmark ")
    passed = Machine(cpu_s=0.2, wall_s=1.0)
    assert first_round(passed, settings, tmp_path, monkeypatch).to_debug == ""


def test_a_library_that_passed_learns_what_was_checked(settings: Settings) -> None:
    tally = check._Tally("./mine.so")
    (note,) = check._notes(wanted(settings), tally, is_named=False)
    assert note.startswith("checked: differential, isolation, phantom, scenarios, unit at smoke ")
    assert "--scale laptop" in note
    tally.verdict = Verdict.FAILED
    assert not any(
        "checked" in note for note in check._notes(wanted(settings), tally, is_named=True)
    )
