"""Tests when the first round of `keydrome check` ends early, with a clock and CPU times that the tests set.

`keydrome check` judges a library with correctness benchmarks, called suites. A round runs every suite once.
"""

from __future__ import annotations

from argparse import Namespace
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli import check
from cli.check_tally import LEAK, Tally
from cli.input.suites import chosen_suites
from cli.output.check_notes import notes
from runner.contract import Session
from runner.inspection.library import LibraryFacts, LibraryKind
from runner.manifest import Kind, load_benchmarks
from runner.report import Finding, Output
from runner.series import SeriesResult
from runner.terms import JailLevel, Scale, Severity, Verdict
from runner.tests import samples
from runner.tests.samples import make_witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.witness_folder import WitnessFolder
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


def said(settings: Settings, tally: Tally, witness: WitnessFolder | None = None) -> list[str]:
    suites = [suite.name for suite in wanted(settings).suites]
    return list(notes(tally, suites, Scale.SMOKE, witness))


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
    lines = list(said(settings, tally))
    (name,) = tally.repeated
    assert lines[0] == (
        f"repeated, because the first attempt could not be judged: {name}. "
        "The reason: the threads waited 1001.0 s. The repetition was judged, so you need do nothing"
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
    assert tally.replays.debug.startswith("`keydrome debug ./mine.so --benchmark ")
    assert "--tool perf` plays the slowest session" in tally.replays.debug
    lines = list(said(settings, tally))
    assert f"debug: {tally.replays.debug}" in lines
    assert not any("--witness" in note for note in lines)


def test_a_rejected_configuration_is_reported_once(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(cpu_s=0.2, wall_s=1.0, verdict=Verdict.UNSUPPORTED)
    tally = first_round(machine, settings, tmp_path, monkeypatch)
    assert (machine.sessions, len(tally.findings)) == (1, 1)
    assert list(said(settings, tally)) == []


def test_only_a_proof_is_a_reason_to_ask_for_a_witness(settings: Settings) -> None:
    tally = Tally("./mine.so", verdict=Verdict.FAILED)
    finding = Finding("isolation", "phantom", Severity.REQUIRED, "two phantoms", make_witness())
    tally.findings[("isolation", "phantom")] = finding
    advice = (
        "next: with --witness DIR, this command writes the proofs as text, pictures and C programs"
    )
    assert advice in said(settings, tally)


def test_a_folder_with_files_of_an_earlier_run_is_noted(settings: Settings, tmp_path: Path) -> None:
    tally = Tally("./mine.so", verdict=Verdict.FAILED)
    finding = Finding("isolation", "phantom", Severity.REQUIRED, "two phantoms", make_witness())
    tally.findings[("isolation", "phantom")] = finding
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
            ),
            Path("mine.so"),
        )
        lines = list(said(settings, tally, kept))
        assert any("had 1 file before this run" in note for note in lines) == has_note
        assert kept is not None
        assert kept.options == " --scale smoke"


def test_a_leak_has_the_command_that_lists_it(settings: Settings) -> None:
    tally = Tally("./mine.so", verdict=Verdict.PASSED)
    grown = Finding("scenarios", LEAK, Severity.ADVISORY, "memory grows")
    report = replace(samples.report(), findings=(grown,))
    session = Session("00000000000000aa", candidate_first=True, candidate=report, control=None)
    assert not any(note.startswith("leak:") for note in said(settings, tally))
    tally.add("scenarios", SeriesResult(Verdict.PASSED, "", (grown,), (session,)), FACTS)
    lines = said(settings, tally)
    (leak,) = (note for note in lines if note.startswith("leak:"))
    played = "--benchmark sample --instance small --scale smoke --seed 00000000000000aa"
    assert "`cc -g -O1 -shared -fPIC -fsanitize=address -I " in leak
    assert f"`keydrome debug ./mine-asan.so {played}`" in leak
    assert f"`keydrome debug ./mine.so {played} --tool valgrind`" in leak
    assert not any("read-a-witness" in note for note in lines)
    tally.facts = replace(FACTS, needed=("libstdc++.so.6",))
    assert any("`c++ -std=c++20 -g" in note for note in said(settings, tally))


def test_the_peak_of_the_memory_is_shown(settings: Settings) -> None:
    tally = Tally("./mine.so")
    for mebibytes, instance in ((3, "small"), (7, "large"), (5, "other")):
        jail = replace(samples.report().jail, memory_peak_bytes=mebibytes << 20)
        report = replace(samples.report(), instance=instance, jail=jail)
        session = Session("00000000000000aa", candidate_first=True, candidate=report, control=None)
        tally.add("sample", SeriesResult(Verdict.PASSED, "", (), (session,)), FACTS)
    assert "memory: at most 7.0 MiB, in sample/large" in said(settings, tally)


def test_a_crash_shows_its_session_and_what_was_printed(settings: Settings) -> None:
    tally = Tally("./mine.so")
    detail = (
        "the process was ended by SIGABRT in phase 3 of the benchmark\n"
        "thread 0: get(1) (operation 7) was running when the process ended\n"
        "  stack at the crash: libc.so.6+0x8 (abort+0xdf) < libc.so.6+0x9 (cfree+0x1) < player"
    )
    crash = Finding("unit", "crashed", Severity.REQUIRED, detail)
    output = Output("", "free(): invalid pointer\n\n")
    report = replace(samples.report("crashed"), findings=(crash,), output=output)
    session = Session("00000000000000aa", candidate_first=True, candidate=report, control=None)
    tally.add("unit", SeriesResult(Verdict.CRASHED, "why", (crash,), (session,)), FACTS)
    lines = said(settings, tally)
    assert "the library printed: free(): invalid pointer" in lines
    text = " ".join(lines)
    assert "SIGABRT inside free or malloc means that the heap was damaged earlier" in text
    assert "-fsanitize=address" in text
    assert (
        "`keydrome debug ./mine-asan.so --benchmark sample --instance small --scale smoke "
        "--seed 00000000000000aa`: it names the place in the source"
    ) in text
    # A crash without a witness has no calls to read.
    assert "read-a-witness" not in text


@pytest.mark.parametrize("alone", [True, False, None])
def test_data_that_no_call_inserted_looks_like_a_race_if_one_thread_passed(
    settings: Settings, alone: bool | None
) -> None:
    suites = set() if alone is None else {"differential"}
    failed = {"differential"} if alone is False else {"isolation"}
    tally = Tally("./mine.so", verdict=Verdict.FAILED, suites=suites, failed_suites=failed)
    tally.facts = FACTS
    torn = Finding("isolation", "corrupt_payload", Severity.REQUIRED, "a payload", make_witness())
    tally.findings[("isolation", "corrupt_payload")] = torn
    text = " ".join(said(settings, tally))
    assert ("race: the library returned data that no call inserted" in text) == bool(alone)
    assert ("-fsanitize=thread" in text) == bool(alone)


def test_a_crash_says_how_to_play_it_again(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(cpu_s=0.2, wall_s=1.0, verdict=Verdict.CRASHED)
    tally = first_round(machine, settings, tmp_path, monkeypatch)
    assert "--seed 00000000000000aa --tool stack` plays the crash in gdb" in tally.replays.debug
    assert tally.replays.debug.startswith("`keydrome debug ./mine.so --benchmark ")
    passed = Machine(cpu_s=0.2, wall_s=1.0)
    assert first_round(passed, settings, tmp_path, monkeypatch).replays.debug == ""


def test_a_library_that_passed_learns_what_was_checked(settings: Settings) -> None:
    tally = Tally("./mine.so")
    (note,) = said(settings, tally)
    assert note.startswith("checked: differential, isolation, phantom, scenarios, unit at smoke ")
    assert "--scale laptop" in note
    tally.verdict = Verdict.FAILED
    assert not any("checked" in note for note in said(settings, tally))


def test_a_library_that_passed_learns_how_to_look_for_races(settings: Settings) -> None:
    """A data race need not give wrong results, so the commands are printed, not only the name of the tool."""
    tally = Tally("./mine.so", facts=LibraryFacts(LibraryKind.INDEX, 1))
    _, note = said(settings, tally)
    assert note.startswith(
        "race: the library passed, but it can still have data races, because a race need not cause wrong results. "
        "To look for them, build the library with `cc -g -O1 -shared "
    )
    assert "-fsanitize=thread" in note
    assert "`keydrome debug ./mine-tsan.so --benchmark isolation`: it shows, for each" in note
    # The suite isolation opens and closes few indexes.
    assert "`keydrome debug ./mine-tsan.so --benchmark sigmod2009` also finds races of open" in note
    tally.is_ours = True  # the user does not build it
    assert len(said(settings, tally)) == 1


def test_a_structure_that_failed_is_sent_to_its_contract_test(settings: Settings) -> None:
    tally = Tally(
        "./mine.so:rw",
        verdict=Verdict.FAILED,
        facts=LibraryFacts(LibraryKind.STRUCTURE, 1),
    )
    (note,) = (note for note in said(settings, tally) if note.startswith("structure: "))
    assert "structure_contract_test --library ./mine.so` tests the functions" in note
    tally.is_ours = True  # the user does not change it
    assert not any(note.startswith("structure: ") for note in said(settings, tally))


def test_a_structure_that_passed_is_not_sent_to_the_thread_sanitizer(settings: Settings) -> None:
    """ThreadSanitizer does not see the locks of the runtime, so it would report races that do not exist."""
    tally = Tally("./mine.so --config rw", facts=LibraryFacts(LibraryKind.STRUCTURE, 1))
    _, note = said(settings, tally)
    assert "structure_contract_test" in note
    assert "fsanitize" not in note


def test_the_suite_with_one_thread_runs_first(settings: Settings) -> None:
    """After a crash in another suite, the screen can then say whether one thread is enough for a fault."""
    assert chosen_suites([], settings)[0].name == "differential"
