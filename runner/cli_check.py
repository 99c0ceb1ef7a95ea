"""`keydrome check`: is a library right? Runs the correctness suites, again and again if time is given."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runner.cli_common import (
    UsageError,
    check_rights,
    find_configuration,
    history_folder,
    is_trusted,
    prepared,
    seed_series,
    write_json,
)
from runner.cli_progress import shown_progress
from runner.contract import Finding, JailLevel, Scale, Severity, Verdict
from runner.execute import run_file
from runner.manifest import Kind, load_benchmarks
from runner.order import Order
from runner.settings import load_settings
from runner.text import display_name
from runner.witness_picture import witness_svg
from runner.witness_text import witness_text

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from runner.elf import LibraryFacts
    from runner.manifest import Benchmark
    from runner.series import SeriesResult
    from runner.settings import Settings
    from runner.witness import Witness

_RIGHT, _WRONG, _COULD_NOT_JUDGE = 0, 1, 2
_LARGEST_FIRST = (Scale.PAPER, Scale.LAPTOP, Scale.SMOKE)
_LIBRARY_FAULTS = {Verdict.FAILED, Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY}


@dataclass(slots=True)
class _Tally:
    """What the suites have said so far."""

    verdict: Verdict = Verdict.PASSED
    sessions: int = 0
    failed_suites: set[str] = field(default_factory=set)
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)

    def add(self, suite: str, result: SeriesResult, facts: LibraryFacts) -> None:
        self.sessions += len(result.sessions)
        for finding in result.findings:
            self.findings.setdefault((finding.suite, finding.name), finding)
        if result.verdict is Verdict.PASSED:
            return
        self.failed_suites.add(suite)
        if result.verdict in _LIBRARY_FAULTS:
            self.verdict = Verdict.FAILED
        elif self.verdict is not Verdict.FAILED:
            unsupported = bool(facts.refusals) or result.verdict is Verdict.UNSUPPORTED
            self.verdict = Verdict.UNSUPPORTED if unsupported else Verdict.INFRASTRUCTURE
        if not any(f.severity is Severity.REQUIRED for f in result.findings):
            # The way it ended is the finding: a crash, a timeout, a jail that gives too little.
            name = result.verdict.value
            finding = Finding(suite, name, Severity.REQUIRED, result.reason)
            self.findings.setdefault((suite, name), finding)


@dataclass(frozen=True, slots=True)
class _Check:
    """What was asked for, ready to be run with any seed."""

    suites: list[Benchmark]
    scale: Scale
    level: JailLevel
    configuration: dict[str, Any] | None
    trusted: bool
    witness: Path | None
    all_histories: bool
    verified: bool

    def order(self, suite: Benchmark, instance: str, seed: str) -> Order:
        """Return the order for one session."""
        return Order(
            benchmark=suite,
            instance=instance,
            scale=_scale(suite, instance, self.scale),
            overrides={},
            seeds=(seed,),
            plain=False,
            require=self.level,
            control=False,
            configuration=self.configuration,
            trusted=self.trusted,
            histories=self.witness,
            all_histories=self.all_histories,
            verified=self.verified,
        )

    def left(self, tally: _Tally) -> list[tuple[Benchmark, str]]:
        """Return what is still worth running: a suite that failed has said what it has to say."""
        left = [suite for suite in self.suites if suite.name not in tally.failed_suites]
        return [(suite, instance) for suite in left for instance in suite.instances]


def run(options: argparse.Namespace) -> int:
    """Run the command; 0 right, 1 wrong, 2 could not judge."""
    settings = load_settings()
    check = _Check(
        suites=_suites(options.suite, settings),
        scale=Scale(options.scale),
        level=JailLevel(options.require),
        configuration=find_configuration(options.config, settings),
        trusted=is_trusted(options.library, settings),
        witness=history_folder(options.witness, "--witness", everything=options.all_histories),
        all_histories=options.all_histories,
        verified=options.verified,
    )
    check_rights(check.level)
    seed = seed_series(options.seed, 1)[0]
    tally = _run_suites(check, options.library, seed, options.seconds or 0)
    _report(options, tally, seed)
    return {Verdict.PASSED: _RIGHT, Verdict.FAILED: _WRONG}.get(tally.verdict, _COULD_NOT_JUDGE)


def _run_suites(check: _Check, library: Path, seed: str, seconds: int) -> _Tally:
    """Run every suite once, and those that pass again with further seeds until `seconds` are over."""
    tally = _Tally()
    deadline = time.monotonic() + seconds
    with prepared(library) as (settings, folder, file):
        while left := check.left(tally):
            for suite, instance in left:
                order = check.order(suite, instance, seed)
                work = folder / f"{suite.name}-{instance}-{seed}"
                work.mkdir(mode=0o700)
                with shown_progress(f"{suite.name}/{instance}") as beat:
                    result, facts = run_file(file, order, settings, work, beat)
                shutil.rmtree(work)
                tally.add(suite.name, result, facts)
                if check.witness is not None and result.verdict is not Verdict.PASSED:
                    _keep_witness(check.witness, result)
            seed = seed_series(seed, 2)[1]
            if time.monotonic() >= deadline:
                break
    return tally


def _suites(names: list[str], settings: Settings) -> list[Benchmark]:
    benchmarks = load_benchmarks(settings.root)
    known = {n: b for n, b in benchmarks.items() if b.kind is Kind.CORRECTNESS}
    if not known:
        raise UsageError("there is no correctness suite in benchmarks/: is this a whole clone?")
    for name in names:
        if name not in known:
            raise UsageError(f"there is no suite {name!r}; there are: {', '.join(known)}")
    return [suite for name, suite in known.items() if not names or name in names]


def _scale(suite: Benchmark, instance: str, wanted: Scale) -> Scale:
    scales = suite.instance(instance).scales
    return wanted if wanted in scales else next(s for s in _LARGEST_FIRST if s in scales)


def _keep_witness(folder: Path, result: SeriesResult) -> None:
    """Keep the report of each failed session, and each witness in it as text, picture and program."""
    for session in result.sessions:
        report = session.candidate
        name = f"{report['benchmark']}-{report['instance']}-{session.seed}"
        write_json(folder / f"{name}.json", report)
        findings = [Finding.from_json(item) for item in report["findings"]]
        for number, finding in enumerate(findings, 1):
            if finding.witness is not None:
                _write_witness(folder / f"{name}-{number}-{finding.name}", finding.witness)


def _write_witness(stem: Path, witness: Witness) -> None:
    files = {
        ".txt": witness_text(witness),
        ".svg": witness_svg(witness),
        ".c": witness.program,
    }
    for suffix, content in files.items():
        if content:
            stem.with_name(stem.name + suffix).write_text(content)


def _report(options: argparse.Namespace, tally: _Tally, seed: str) -> None:
    from runner import cli_table  # noqa: PLC0415 - rich is slow to import, and errors come first

    findings = list(tally.findings.values())
    if options.json is not None:
        shown = [finding.to_json() for finding in findings]
        write_json(options.json, {"verdict": tally.verdict.value, "findings": shown})
    out = cli_table.console()
    cli_table.show_findings(out, findings)
    count = f"{tally.sessions} session" + ("" if tally.sessions == 1 else "s")
    subject = f"{display_name(options.library.name)}, {count} from seed {seed}"
    cli_table.show_verdict(out, subject, tally.verdict, "")
