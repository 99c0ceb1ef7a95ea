"""Implements `keydrome check`: judges a library with the correctness benchmarks, which are called suites.

With --seconds, the command repeats the suites with further seeds. A round runs every suite once with one seed. An
instance is a named set of parameters of a suite. A session is one run of the library on one instance. The referee is
the program that runs and judges a session.
"""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cli.check_tally import Tally
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
from cli.output.check_notes import notes
from cli.output.check_proof import smallest_proof
from cli.output.files import stream_for_people, write_json
from cli.output.paragraph import paragraph
from cli.output.progress import shown_progress
from cli.witness_folder import WitnessFolder
from results.counts import counted
from runner.execute import Inspected, run_inspected
from runner.gate_end import why_gate_ends
from runner.inspection.library import LibraryKind, inspect_library
from runner.request import Request, timeout_factor_of
from runner.settings import load_settings
from runner.terms import JailLevel, Scale, Verdict
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
# How much CPU time the library may use in the first round at each scale; `paper` has no limit. A limit of wall time
# would count other work on the machine against the library.
_ROUND_CPU_SECONDS = {Scale.SMOKE: 60.0, Scale.LAPTOP: 100.0}
# The limit of wall time of the first round, as a multiple of its limit of CPU time. If the round would take longer, it
# ends. If no suite has failed by then, the library is not judged.
_WALL_FACTOR = 3
# A library that has failed is not tested further after this wall time: it is known to be wrong. Larger scales are for
# thorough tests, so they have no such limit.
_FAILED_SECONDS = {Scale.SMOKE: 30.0}
# The largest number of attempts for an instance, if the machine is too busy to judge it. Each attempt may take longer
# than the one before.
_ATTEMPTS_MAX = 3


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

    def left(self, tally: Tally) -> list[tuple[Benchmark, str]]:
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
        witness=_witness_folder(options, named.path),
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


def _witness_folder(options: argparse.Namespace, file: Path) -> WitnessFolder | None:
    folder = history_folder(options.witness, "--witness", everything=options.all_histories)
    given = as_given(options.library, options.config)
    chosen = (
        "".join(f" --suite {name}" for name in options.suite or ()) + f" --scale {options.scale}"
    )
    if folder is None:
        return None
    kept = WitnessFolder(folder, given, file.resolve(), chosen, options.all_histories)
    kept.earlier_files = sum(1 for _ in folder.iterdir())
    return kept


def _run_suites(check: _Check, library: Path, seed: str, seconds: int) -> Tally:
    """Run every suite once. Then repeat the suites that have not failed, with new seeds, until `seconds` have passed.

    The first round ends early if more sessions would tell nothing new, if the library uses too much CPU time, or if the
    machine is too busy. In verified mode, in which a process other than the library's makes every call, the first round
    always runs to its end.
    """
    tally = Tally(check.given, is_ours=check.trusted)
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
    tally: Tally,
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
        check.witness.is_structure = tally.facts.kind is LibraryKind.STRUCTURE
        check.witness.keep(result, histories)
    shutil.rmtree(work)


def _may_be_too_busy(result: SeriesResult, tally: Tally) -> bool:
    """Return whether the library ran, but the referee could not judge it, perhaps for lack of processor time.

    If the check has seen exactly the same reason before, the cause is not a busy machine, and a repetition does not
    help. The reason of a busy machine contains times, which differ from attempt to attempt.
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
    check: _Check, tally: Tally, left: list[tuple[Benchmark, str]], elapsed: float
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
    if tally.cpu_seconds + session_s > limit:
        why = (
            f"the suites have used {tally.cpu_seconds:.0f} s of CPU time in {elapsed:.0f} s, and the next instance may "
            f"take {session_s:.0f} s, but {check.scale.value} scale allows {limit:.0f} s of CPU time"
        )
        tally.leave_out(left, why)
        tally.fail_as_too_slow()
        return True
    if elapsed + session_s > _WALL_FACTOR * limit:
        why = (
            f"the suites have taken {elapsed:.0f} s, and the next instance may take {session_s:.0f} s, but "
            f"{check.scale.value} scale allows {_WALL_FACTOR * limit:.0f} s: the machine is busy, or the library "
            "waits; run again when the machine has less other work. If this happens again, the library waits too long"
        )
        tally.leave_out(left, why)
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


def _report(options: argparse.Namespace, check: _Check, tally: Tally, seed: str) -> None:
    from cli.output import check_text, table  # noqa: PLC0415 - rich is slow to import; errors are printed without it

    findings = list(tally.findings.values())
    out = table.console(stream_for_people(options.json))
    check_text.show_findings(out, findings)
    suites = [suite.name for suite in check.suites]
    for line in notes(tally, suites, check.scale, check.witness):
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
