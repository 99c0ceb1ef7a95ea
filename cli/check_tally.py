"""Holds what the suites of `keydrome check` have found so far: the verdict, the findings, and how to play them again.

A suite is a correctness benchmark. A session is one run of the library on one instance, a set of parameters of a suite.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cli.output.build_text import is_cpp
from cli.output.debug_text import how_to_debug, how_to_profile, session_options
from runner.gate_end import has_stalled
from runner.inspection.library import LibraryFacts, LibraryKind
from runner.report import Finding
from runner.terms import Severity, Verdict

if TYPE_CHECKING:
    from runner.contract import Session
    from runner.manifest import Benchmark
    from runner.series import SeriesResult

LEAK = "memory_growth"  # the name of the finding
_ONE_THREAD = "differential"  # the suite in which one thread makes all calls
_LIBRARY_FAULTS = {Verdict.FAILED, Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY}


@dataclass(slots=True)
class Replays:
    """How to replay the sessions that the user may want to look at.

    Each field is empty until there is such a session.
    """

    debug: str = ""  # the advice for the first session that ended by a crash or at a time limit
    ended: str = ""  # the options that name this session
    printed: str = ""  # the last line that the library printed in it
    leak: str = ""  # the options that name the session with the warning of growing memory
    # the largest CPU time of a session so far, and the advice on how to profile this session
    slowest: tuple[int, str] = (0, "")
    # the largest memory of a session so far in bytes, and the name of its instance
    memory: tuple[int, str] = (0, "")

    def note(self, library: str, session: Session) -> None:
        """Note a session. `library` is as named on the command line."""
        report, seed = session.candidate, session.seed
        profile = how_to_profile(library, report, seed, {}, "slowest")
        self.slowest = max(self.slowest, (report.jail.cpu_us or 0, profile))
        instance = f"{report.benchmark}/{report.instance}"
        self.memory = max(self.memory, (report.jail.memory_peak_bytes or 0, instance))
        options = session_options(report, seed, {})
        debug = how_to_debug(library, report, seed, overrides={})
        if debug and not self.debug:
            lines = (report.output.stdout + report.output.stderr).split("\n")
            self.debug, self.ended = debug, options
            self.printed = next((line for line in reversed(lines) if line.strip()), "")
        if any(finding.name == LEAK for finding in report.findings):
            self.leak = self.leak or options


@dataclass(slots=True)
class Tally:
    """The verdict and the findings of all suites that have run so far. `library` is as named on the command line."""

    library: str
    is_ours: bool = False  # a reference library of this build
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
    replays: Replays = field(default_factory=Replays)
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

    @property
    def cpp(self) -> bool:
        """Return whether the library is written in C++."""
        return is_cpp(self.facts.needed)

    def leave_out(self, instances: list[tuple[Benchmark, str]], why: str) -> None:
        """Note that the first round ends before these instances, and why."""
        self.not_run = [f"{suite.name}/{instance}" for suite, instance in instances]
        self.why_not_run = why

    def fail_as_too_slow(self) -> None:
        """Fail the library, because the suites that were left out would take too much of its CPU time."""
        self.verdict = Verdict.FAILED
        text = f"the library is too slow: {self.why_not_run}; not run: {', '.join(self.not_run)}"
        self.findings[("gate", "too_slow")] = Finding("gate", "too_slow", Severity.REQUIRED, text)
        self.replays.debug = self.replays.debug or self.replays.slowest[1]

    def add(self, suite: str, result: SeriesResult, facts: LibraryFacts) -> None:
        """Add the result of one instance."""
        self.sessions += len(result.sessions)
        self.suites.add(suite)
        self.cpu_seconds += sum(one.candidate.jail.cpu_us or 0 for one in result.sessions) / 1e6
        for one in result.sessions:
            self.replays.note(self.library, one)
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
