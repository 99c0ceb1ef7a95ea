"""Implements `keydrome check`: judges a library with the correctness benchmarks, which are called suites.

With --seconds, the command repeats the suites with further seeds. A round runs every suite once with one seed. An
instance is a named set of parameters of a suite. A session is one run of the library on one instance. The referee is
the program that runs and judges a session.
"""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cli.input.libraries import (
    as_given,
    check_isolates,
    chosen_configuration,
    configured,
    find_runnable,
    is_trusted,
    title,
)
from cli.input.suites import chosen_suites, scale_of
from cli.input.values import history_folder, seed_series
from cli.local_jail import check_rights, prepared
from cli.output.check_proof import smallest_proof
from cli.output.crash_text import (
    calls_inside,
    crashes,
    find_race,
    is_race,
    may_be_race,
    meaning,
)
from cli.output.debug_text import how_to_debug, how_to_profile
from cli.output.files import stream_for_people, write_json
from cli.output.paragraph import paragraph
from cli.output.progress import shown_progress
from cli.witness_folder import README, WitnessFolder
from results.counts import counted
from runner.execute import Inspected, run_inspected
from runner.gate_end import has_stalled, why_gate_ends
from runner.inspection.library import LibraryFacts, LibraryKind, inspect_library
from runner.report import Finding
from runner.request import Request, timeout_factor_of
from runner.settings import load_settings
from runner.terms import JailLevel, Scale, Severity, Verdict
from runner.text import display_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cli.output.progress import Heartbeat
    from runner.contract import Progress
    from runner.manifest import Benchmark
    from runner.series import SeriesResult
    from runner.settings import Settings

CHECK_SCHEMA = "keydrome.check.v1"
_RIGHT, _WRONG, _COULD_NOT_JUDGE = 0, 1, 2
_ONE_THREAD = "differential"  # the suite in which one thread makes all calls
_LEAK = "memory_growth"  # the name of the finding
# How much CPU time the library may use in the first round at each scale; `paper` has no limit. A limit of wall time
# would count other work on the machine against the library.
_ROUND_CPU_SECONDS = {Scale.SMOKE: 60.0, Scale.LAPTOP: 100.0}
# The limit of wall time of the first round, as a multiple of its limit of CPU time. If the round would take longer, it
# ends. If no suite has failed by then, the library is not judged.
_WALL_FACTOR = 3
# A library that has failed is not tested further after this wall time: it is known to be wrong. Larger scales are for
# thorough tests, so they have no such limit.
_FAILED_SECONDS = {Scale.SMOKE: 30.0}
# How often an instance runs at most, if the machine is too busy to judge it. Each attempt has more time than the one
# before.
_ATTEMPTS_MAX = 3
_LIBRARY_FAULTS = {Verdict.FAILED, Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY}


@dataclass(slots=True)
class _Tally:
    """The verdict and the findings of all suites that have run so far. `library` is as named on the command line."""

    library: str
    verdict: Verdict = Verdict.PASSED
    sessions: int = 0
    stalled: int = 0  # instances in which the library made no progress
    cpu_seconds: float = 0.0  # of the jailed processes
    failed_suites: set[str] = field(default_factory=set)
    suites: set[str] = field(default_factory=set)  # all that have run
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)
    not_run: list[str] = field(default_factory=list)  # instances that the first round left out
    why_not_run: str = ""
    # the instances that were repeated, with the reason for which the referee could not judge the first attempt
    repeated: dict[str, str] = field(default_factory=dict)
    # the reasons of all attempts that could not be judged
    not_judged: set[str] = field(default_factory=set)
    # the advice on how to play again the first session that ended by a crash or at a time limit
    to_debug: str = ""
    # the largest CPU time of a session so far, and the advice on how to profile this session
    slowest: tuple[int, str] = (0, "")
    last_verdict: Verdict = Verdict.PASSED
    first_round: bool = True
    facts: LibraryFacts = field(default_factory=lambda: LibraryFacts(LibraryKind.UNKNOWN, 0))
    configuration: dict[str, Any] | None = None

    @property
    def required(self) -> int:
        """Return the number of required findings."""
        return sum(f.severity is Severity.REQUIRED for f in self.findings.values())

    @property
    def alone_passed(self) -> bool | None:
        """Return whether the library passed the suite with one thread, or None if this suite did not run."""
        return _ONE_THREAD not in self.failed_suites if _ONE_THREAD in self.suites else None

    def leave_out(self, instances: list[tuple[Benchmark, str]], why: str) -> None:
        """Note that the first round ends before these instances, and why."""
        self.not_run = [f"{suite.name}/{instance}" for suite, instance in instances]
        self.why_not_run = why

    def fail_as_too_slow(self) -> None:
        """Fail the library, because the suites that were left out would take too much of its CPU time."""
        self.verdict = Verdict.FAILED
        text = f"the library is too slow: {self.why_not_run}; not run: {', '.join(self.not_run)}"
        self.findings[("gate", "too_slow")] = Finding("gate", "too_slow", Severity.REQUIRED, text)
        self.to_debug = self.to_debug or self.slowest[1]

    def add(self, suite: str, result: SeriesResult, facts: LibraryFacts) -> None:
        self.sessions += len(result.sessions)
        self.suites.add(suite)
        self.cpu_seconds += sum(one.candidate.jail.cpu_us or 0 for one in result.sessions) / 1e6
        for one in result.sessions:
            profile = how_to_profile(self.library, one.candidate, one.seed, {}, "slowest")
            self.slowest = max(self.slowest, (one.candidate.jail.cpu_us or 0, profile))
            debug = how_to_debug(self.library, one.candidate, one.seed, overrides={})
            self.to_debug = self.to_debug or debug
        for finding in result.findings:
            self.findings.setdefault((finding.suite, finding.name), finding)
        self.stalled += has_stalled((one.name, one.severity) for one in result.findings)
        if result.verdict is Verdict.PASSED:
            return
        self.failed_suites.add(suite)
        if result.verdict in _LIBRARY_FAULTS:
            self.verdict = Verdict.FAILED
        elif self.verdict is not Verdict.FAILED:
            unsupported = bool(facts.refusals) or result.verdict is Verdict.UNSUPPORTED
            self.verdict = Verdict.UNSUPPORTED if unsupported else Verdict.INFRASTRUCTURE
        if not any(f.severity is Severity.REQUIRED for f in result.findings):
            # The session did not pass, but no finding says why. This happens after a crash, a timeout or a refusal.
            # Add a finding with the reason.
            name = result.verdict.value
            finding = Finding(suite, name, Severity.REQUIRED, result.reason)
            self.findings.setdefault((suite, name), finding)


@dataclass(frozen=True, slots=True)
class _Check:
    """The checked arguments of the command, and the suites to run."""

    suites: list[Benchmark]
    scale: Scale
    level: JailLevel
    configuration: dict[str, Any] | None
    trusted: bool
    witness: WitnessFolder | None
    verified: bool
    given: str  # the arguments that name the library
    file: str  # the name of the library's file

    def request(
        self,
        suite: Benchmark,
        instance: str,
        seed: str,
        configuration: dict[str, Any] | None,
        histories: Path,
    ) -> Request:
        """Return the request for one session."""
        return Request(
            benchmark=suite,
            instance=instance,
            scale=scale_of(suite, instance, self.scale),
            overrides={},
            seeds=(seed,),
            plain=False,
            require=self.level,
            control=False,
            configuration=configuration,
            trusted=self.trusted,
            histories=None if self.witness is None else histories,
            all_histories=self.witness is not None and self.witness.all_histories,
            verified=self.verified,
        )

    def left(self, tally: _Tally) -> list[tuple[Benchmark, str]]:
        """Return each instance of the suites that have not failed so far, with its suite. These instances run next."""
        left = [suite for suite in self.suites if suite.name not in tally.failed_suites]
        return [(suite, instance) for suite in left for instance in suite.instances]


def run(options: argparse.Namespace) -> int:
    """Run the command; return 0 if the library passed, 1 if it failed, 2 if it could not be judged."""
    settings = load_settings()
    named = find_runnable(options.library, settings)
    configuration = chosen_configuration(named, options.config, settings)
    check_isolates(configuration)
    check = _Check(
        suites=chosen_suites(options.suite, settings),
        scale=Scale(options.scale),
        level=JailLevel(options.require),
        configuration=configuration,
        trusted=is_trusted(named.path, settings),
        witness=_witness_folder(options),
        verified=options.verified,
        given=as_given(options.library, options.config),
        file=display_name(named.path.name),
    )
    check_rights(check.level)
    seed = seed_series(options.seed, 1)[0]
    tally = _run_suites(check, named.path, seed, options.seconds or 0)
    findings = list(tally.findings.values())
    if check.witness is not None:
        check.witness.finish(smallest_proof(findings), findings, seed)
    _report(options, check, tally, seed)
    return {Verdict.PASSED: _RIGHT, Verdict.FAILED: _WRONG}.get(tally.verdict, _COULD_NOT_JUDGE)


def _witness_folder(options: argparse.Namespace) -> WitnessFolder | None:
    folder = history_folder(options.witness, "--witness", everything=options.all_histories)
    given = as_given(options.library, options.config)
    chosen = (
        "".join(f" --suite {name}" for name in options.suite or ()) + f" --scale {options.scale}"
    )
    if folder is None:
        return None
    kept = WitnessFolder(folder, given, chosen, options.all_histories)
    kept.earlier_files = sum(1 for _ in folder.iterdir())
    return kept


def _run_suites(check: _Check, library: Path, seed: str, seconds: int) -> _Tally:
    """Run every suite once. Then repeat the suites that have not failed, with new seeds, until `seconds` have passed.

    The first round ends early if more sessions would tell nothing new, if the library uses too much CPU time, or if the
    machine is too busy. In verified mode, in which a process other than the library's makes every call, the first round
    always runs to its end.
    """
    tally = _Tally(check.given)
    started = time.monotonic()
    deadline = started + seconds
    with prepared(library) as (settings, folder, file), _progress(seconds) as heartbeat:
        tally.facts = inspect_library(file, settings, trusted=check.trusted)
        tally.configuration = configured(tally.facts, check.configuration, settings)
        while left := check.left(tally):
            for number, (suite, instance) in enumerate(left):
                # Every suite would refuse a file or configuration that one of them has refused.
                is_refused = tally.verdict is Verdict.UNSUPPORTED
                elapsed = time.monotonic() - started
                if is_refused or _ends_early(check, tally, left[number:], elapsed):
                    return tally
                beat = heartbeat(suite, instance, number / len(left), 1 / len(left))
                _run_instance(check, tally, (suite, instance, seed), (settings, folder, file), beat)
            tally.first_round = False
            seed = seed_series(seed, 2)[1]
            if time.monotonic() >= deadline:
                break
    return tally


def _run_instance(
    check: _Check,
    tally: _Tally,
    what: tuple[Benchmark, str, str],
    where: tuple[Settings, Path, Path],
    heartbeat: Heartbeat,
) -> None:
    """Run one instance of a suite, and add its result to the tally. Repeat it if the machine may have been too busy.

    `what` contains suite, instance and seed; `where` contains the settings, a folder for working files, and the
    library's file.
    """
    suite, instance, seed = what
    settings, folder, file = where
    inspected = Inspected(file, tally.facts)
    for attempt in range(1, _ATTEMPTS_MAX + 1):
        work = folder / f"{suite.name}-{instance}-{seed}"
        histories = work / "histories"
        work.mkdir(mode=0o700)
        histories.mkdir()
        request = check.request(suite, instance, seed, tally.configuration, histories)
        request = replace(request, timeout_factor=timeout_factor_of(attempt))
        result = run_inspected(inspected, request, settings, work, heartbeat)
        if attempt == _ATTEMPTS_MAX or not _may_be_too_busy(result, tally):
            break
        tally.repeated.setdefault(f"{suite.name}/{instance}", result.reason)
        shutil.rmtree(work)
    tally.add(suite.name, result, tally.facts)
    tally.last_verdict = result.verdict
    if check.witness is not None:
        check.witness.alone_passed = tally.alone_passed
        check.witness.keep(result, histories)
    shutil.rmtree(work)


def _may_be_too_busy(result: SeriesResult, tally: _Tally) -> bool:
    """Return whether the library ran, but the referee could not judge it, perhaps for lack of processor time.

    If the check has seen exactly the same reason before, a repetition does not help. The reasons of a busy machine
    contain times, which differ.
    """
    if not result.sessions or result.verdict is not Verdict.INFRASTRUCTURE:
        return False
    is_new = result.reason not in tally.not_judged
    tally.not_judged.add(result.reason)
    return is_new


@contextmanager
def _progress(seconds: int) -> Iterator[Callable[[Benchmark, str, float, float], Heartbeat]]:
    """Yield a function that returns the heartbeat function for one instance of a suite.

    The function receives two fractions of the round: the part that is done, and the part that this instance adds. If
    the suites repeat for `seconds`, the progress is instead the time that has passed, divided by `seconds`.
    """
    started = time.monotonic()
    with shown_progress("check", _label, _line) as heartbeat:

        def of_instance(suite: Benchmark, instance: str, done: float, part: float) -> Heartbeat:
            def beat(progress: Progress) -> bool:
                fraction = done + part * progress.fraction
                if seconds:
                    fraction = min((time.monotonic() - started) / seconds, 1.0)
                name = f"{suite.name}/{instance}"
                return heartbeat(replace(progress, role=name, fraction=fraction))

            return beat

        yield of_instance


def _label(progress: Progress) -> str:
    return f"{progress.role}: {progress.phase}"


def _line(progress: Progress) -> str:
    """Return the name of the suite, so that output to a file has one line for each suite."""
    return progress.role.partition("/")[0]


def _ends_early(
    check: _Check, tally: _Tally, left: list[tuple[Benchmark, str]], elapsed: float
) -> bool:
    """Return whether the first round ends before it has run the instances in `left`. If so, note why in the tally.

    `elapsed` is the wall time of the round in seconds.
    """
    if not tally.first_round or check.verified:
        return False
    why = why_gate_ends(tally.last_verdict, tally.required, tally.stalled)
    if why := why or _why_enough(check.scale, tally.verdict, elapsed):
        tally.leave_out(left, why)
        return True
    limit = _ROUND_CPU_SECONDS.get(check.scale)
    if limit is None:
        return False
    session_s = (left[0][0].limits[check.scale].session_timeout_ms or 0) / 1000
    used = (
        f"the suites have used {tally.cpu_seconds:.0f} s of CPU time in {elapsed:.0f} s, and the next instance may use "
        f"{session_s:.0f} s, but {check.scale.value} scale allows"
    )
    if tally.cpu_seconds + session_s > limit:
        tally.leave_out(left, f"{used} {limit:.0f} s of CPU time in all")
        tally.fail_as_too_slow()
        return True
    if elapsed + session_s > _WALL_FACTOR * limit:
        wait = "the machine is busy, or the library waits; run again when the machine has less other work"
        tally.leave_out(left, f"{used} {_WALL_FACTOR * limit:.0f} s in all ({wait})")
        if tally.verdict is Verdict.PASSED:
            tally.verdict = Verdict.INFRASTRUCTURE
        return True
    return False


def _why_enough(scale: Scale, verdict: Verdict, elapsed: float) -> str:
    """Return why a library that has failed is not tested further, or an empty string if it must be tested further."""
    enough = _FAILED_SECONDS.get(scale)
    if verdict is not Verdict.FAILED or enough is None or elapsed <= enough:
        return ""
    return (
        f"the library has failed, and the suites have taken {elapsed:.0f} s (limit after a failure at {scale.value} "
        f"scale: {enough:.0f} s; --scale laptop has no such limit)"
    )


def _report(options: argparse.Namespace, check: _Check, tally: _Tally, seed: str) -> None:
    from cli.output import check_text, table  # noqa: PLC0415 - rich is slow to import; errors are printed without it

    findings = list(tally.findings.values())
    out = table.console(stream_for_people(options.json))
    check_text.show_findings(out, findings)
    for line in _notes(check, tally, is_named=bool(findings)):
        for part in paragraph("", line, out.width):
            out.print(part, markup=False, soft_wrap=True)
    name = title(check.file, tally.configuration, is_default=check.configuration is None)
    # A refused file is not run, so it has no sessions.
    played = f", {counted(tally.sessions, 'session')} from seed {seed}" if tally.sessions else ""
    table.show_verdict(out, f"{name}{played}", tally.verdict, "")
    if options.json is not None:
        shown = [finding.to_json() for finding in findings]
        write_json(
            options.json,
            {
                "schema": CHECK_SCHEMA,
                "verdict": tally.verdict.value,
                "seed": seed,
                "scale": check.scale.value,
                "configuration": tally.configuration,
                "findings": shown,
                "not_run": tally.not_run,
            },
        )


def _notes(check: _Check, tally: _Tally, *, is_named: bool) -> Iterator[str]:
    """Yield what the user should know or do next, one line each. `is_named` is True if there are findings."""
    if tally.repeated:
        first, reason = next(iter(tally.repeated.items()))
        names = ", ".join(tally.repeated)
        yield f"repeated, because the first attempt could not be judged: {names} (the reason for {first}: {reason})"
    if tally.not_run:
        suites = ", ".join(dict.fromkeys(name.partition("/")[0] for name in tally.not_run))
        yield f"not run, because {tally.why_not_run}: {suites} ({counted(len(tally.not_run), 'instance')})"
    if tally.verdict is Verdict.PASSED:
        yield _what_passed(check)
    if check.witness is not None and check.witness.problem:
        yield f"warning: {check.witness.path}: {check.witness.problem}"
    elif check.witness is not None and is_named:
        yield f"files: {check.witness.path / README} says where to start"
        if check.witness.earlier_files:
            before = counted(check.witness.earlier_files, "file")
            yield f"note: the folder had {before} before this run; README.txt names the files of this run"
    elif any(finding.witness is not None for finding in tally.findings.values()):
        yield "next: with --witness DIR, this command writes the proofs as text, pictures and C programs"
    yield from _crash_notes(tally)
    if tally.to_debug:
        yield f"debug: {tally.to_debug}"
    if any(finding.name == _LEAK for finding in tally.findings.values()):
        yield "leak: AddressSanitizer names the place of the allocation (docs/how-to/debug-a-library.md, Find a leak)"
    # The guide is about calls and transactions; a refused file or configuration has played none.
    if tally.findings and tally.verdict is not Verdict.UNSUPPORTED:
        yield "how to read a finding: docs/how-to/read-a-witness.md"


def _crash_notes(tally: _Tally) -> Iterator[str]:
    crash = next((one for one in tally.findings.values() if crashes(one)), None)
    if crash is not None and calls_inside(crash):
        sentences = meaning(crash, tally.library, alone_passed=tally.alone_passed)
        yield f"crash: {' '.join(sentences)}"
        if is_race(crash) and tally.alone_passed is not False:
            yield f"race: {find_race(tally.library)}"
            return
    if may_be_race(tally.findings.values()) and tally.alone_passed is not False:
        yield (
            "race: the library hangs or crashes, and also gives wrong results. A data race can cause both: "
            f"{find_race(tally.library)}"
        )


def _what_passed(check: _Check) -> str:
    text = (
        f"checked: {', '.join(suite.name for suite in check.suites)} at {check.scale.value} scale"
    )
    more = "; --scale laptop plays more, and finds rarer faults"
    return text + (more if check.scale is Scale.SMOKE else "")
