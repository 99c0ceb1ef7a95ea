"""`./dev test`: sets up what the tests need, runs every suite once, prints a table and `N passed, N failed`.

A suite that cannot run is a failure with instructions. A skipped test counts as failed: nothing is left out silently.
"""

from __future__ import annotations

import os
import time
import xml.etree.ElementTree as ET
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dev import build, lint, packages, python_env, servers
from dev.paths import LOGS, PYTHON, ROOT, VAR
from dev.steps import StepError, become_root, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CURE = "read the test's message in the log"


@dataclass
class Outcome:
    """How many tests of a suite passed and failed, and what the failures said."""

    passed: int = 0
    failed: int = 0
    message: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Suite:
    """A named group of tests; `fast` ones are part of `./dev test --fast`, `long` ones of `./dev soak` only."""

    name: str
    action: Callable[[], Outcome]
    fast: bool = False
    long: bool = False
    preset: str = ""  # a build that is made while the suites before it run


def test(*, fast: bool, only: list[str] | None) -> int:
    """Run the suites; return 0 only if all ran and passed."""
    builds = _Builds()
    suites = _suites(builds, fast=fast)
    unknown = set(only or []) - {suite.name for suite in suites}
    if unknown:
        names = ", ".join(suite.name for suite in suites)
        raise StepError(f"no suite named {', '.join(sorted(unknown))}; there are: {names}")
    become_root()
    _set_up()
    soak = "KEYDROME_SOAK" in os.environ
    chosen = [
        s
        for s in suites
        if (s.name in only if only else s.fast or not (fast or (s.long and not soak)))
    ]
    builds.begin([suite.preset for suite in chosen if suite.preset])
    outcomes: dict[str, Outcome] = {}
    for suite in chosen:
        print(f"- {suite.name} ...", flush=True)
        outcomes[suite.name] = _timed(suite)
        outcome = outcomes[suite.name]
        print(
            f"  {suite.name}: {outcome.passed} passed, {outcome.failed} failed, {outcome.seconds:.0f} s"
        )
        if outcome.message:
            print(outcome.message, flush=True)
    return _table(outcomes)


def _set_up() -> None:
    packages.install(packages.BUILD + packages.TEST)
    python_env.ensure()
    build.build("release")
    VAR.mkdir(exist_ok=True)


def _timed(suite: Suite) -> Outcome:
    begin = time.monotonic()
    try:
        outcome = suite.action()
    except StepError as error:
        outcome = Outcome(failed=1, message=str(error))
    outcome.seconds = time.monotonic() - begin
    return outcome


def _table(outcomes: dict[str, Outcome]) -> int:
    width = max(len(name) for name in outcomes)
    print(f"\n{'suite':<{width}}  passed  failed  seconds")
    for name, outcome in outcomes.items():
        print(f"{name:<{width}}  {outcome.passed:6}  {outcome.failed:6}  {outcome.seconds:7.1f}")
    passed = sum(outcome.passed for outcome in outcomes.values())
    failed = sum(outcome.failed for outcome in outcomes.values())
    print(f"\n{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


class _Builds:
    """The sanitizers' builds, one after the other behind the back of the suites that need one core only."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._running: dict[str, Future[None]] = {}

    def begin(self, presets: list[str]) -> None:
        """Start building the presets."""
        for preset in presets:
            self._running[preset] = self._pool.submit(build.build, preset, politely=True)

    def wait_for(self, preset: str) -> None:
        """Return when a preset is built; StepError when it could not be."""
        self._running[preset].result()


def _suites(builds: _Builds, *, fast: bool) -> list[Suite]:
    rooms = ["checker/tests", "runner", "leaderboard", "web", "tools"]
    python = ["-m", "not slow", *rooms] if fast else rooms
    return [
        Suite("lint", _lint, fast=True),
        Suite("native", lambda: _ctest("release"), fast=True),
        Suite("python", lambda: _pytest("python", python), fast=True),
        Suite("jail", lambda: _pytest("jail", ["jail/tests"])),
        Suite("road", lambda: _pytest("road", ["tests"])),
        Suite("postgres", _postgres),
        Suite("asan", lambda: _built(builds, "asan"), preset="asan"),
        Suite("tsan", lambda: _built(builds, "tsan"), preset="tsan"),
        Suite("tidy", _tidy),
        Suite("clang", _clang, long=True),
    ]


def _lint() -> Outcome:
    return _checks(lint.quick_checks())


def _tidy() -> Outcome:
    return _checks([lint.tidy_check()])


def _checks(checks: list[lint.Check]) -> Outcome:
    with ThreadPoolExecutor(2) as pool:
        complaints = [text for text in pool.map(_complaint, checks) if text]
    return Outcome(
        passed=len(checks) - len(complaints), failed=len(complaints), message="\n".join(complaints)
    )


def _complaint(check: lint.Check) -> str:
    try:
        run(check.command, log=f"lint-{check.name}", cure=check.cure)
    except StepError as error:
        return f"{check.name}: {error}"
    return ""


def _ctest(preset: str) -> Outcome:
    report = LOGS / f"ctest-{preset}.xml"
    # Address-space randomisation is off for the sanitizers' sake (google/sanitizers issue 1716).
    command = [
        "setarch",
        "-R",
        "ctest",
        "--test-dir",
        f"build/{preset}",
        "--output-on-failure",
        "-j2",
    ]
    command += ["--no-tests=error", "--output-junit", str(report)]
    return _counted(report, lambda: run(command, log=f"ctest-{preset}", cure=CURE))


def _built(builds: _Builds, preset: str) -> Outcome:
    builds.wait_for(preset)
    return _ctest(preset)


def _clang() -> Outcome:
    build.build("clang")
    return Outcome(passed=1)


def _pytest(name: str, places: list[str], env: dict[str, str] | None = None) -> Outcome:
    report = LOGS / f"pytest-{name}.xml"
    command = [str(PYTHON), "-m", "pytest", "-q", f"--junitxml={report}", *places]
    # Tests make their own data folders; none may see the developer's site or its servers.
    clean = {"KEYDROME_BUILD": str(ROOT / "build" / "release"), **(env or {})}
    return _counted(report, lambda: run(command, log=f"pytest-{name}", cure=CURE, env=clean))


def _postgres() -> Outcome:
    with servers.postgres_and_redis() as env:
        return _pytest("postgres", ["leaderboard", "web"], env)


def _counted(report: Path, action: Callable[[], None]) -> Outcome:
    """Run a test program that writes JUnit XML; count from that file, never from the exit code alone."""
    report.unlink(missing_ok=True)
    outcome = Outcome()
    try:
        action()
    except StepError as error:
        outcome.message = str(error)
    if not report.exists():
        outcome.failed = 1
        outcome.message = outcome.message or f"no test report {report.name} was written"
        return outcome
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 - our own file
        bad = any(case.find(tag) is not None for tag in ("failure", "error", "skipped"))
        bad = bad or case.get("status") in {"fail", "notrun", "disabled"}
        outcome.failed += bad
        outcome.passed += not bad
    if outcome.message and not outcome.failed:
        outcome.failed = 1  # the program failed outside any test, e.g. while collecting
    return outcome
