"""`./dev test`: sets up what the tests need, runs every suite once, prints a table and `N passed, N failed`.

A suite that cannot run is a failure with instructions. A skipped test counts as failed: nothing is left out silently.
"""

from __future__ import annotations

import os
import re
import time
import xml.etree.ElementTree as ET
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dev import build, lint, packages, python_env, servers
from dev.paths import LOGS, PYTHON, ROOT, VAR
from dev.steps import StepError, Timings, become_root, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CURE = "read the test's message in the log"
SLOWEST = 10
# What test programs print where something is wrong, and how much of it is shown of one test.
TELLS = re.compile(
    r": Failure$|^E  |\[  FAILED  \]|ERROR: |WARNING: ThreadSanitizer|runtime error:"
)
LINES_AFTER = 4
LINES_MAX = 40


@dataclass
class Outcome:
    """How many tests of a suite passed and failed, and what the failures said."""

    passed: int = 0
    failed: int = 0
    message: str = ""
    seconds: float = 0.0
    tests: list[tuple[float, str]] = field(default_factory=list)  # seconds and name of each


@dataclass(frozen=True)
class Suite:
    """A named group of tests; `fast` ones are part of `./dev test --fast`, `long` ones of `./dev soak` only.

    Suites of different lanes run beside each other, for most need one core only, or wait. What a suite must have built
    is built beforehand, one thing after the other: a compiler fills what the tests leave idle.
    """

    name: str
    action: Callable[[], Outcome]
    prepare: Callable[[], None] | None = None
    fast: bool = False
    long: bool = False
    lane: int = 0


def test(*, fast: bool, only: list[str] | None) -> int:
    """Run the suites; return 0 only if all ran and passed."""
    suites = _suites(fast=fast)
    unknown = set(only or []) - {suite.name for suite in suites}
    if unknown:
        names = ", ".join(suite.name for suite in suites)
        raise StepError(f"no suite named {', '.join(sorted(unknown))}; there are: {names}")
    become_root()
    timings = Timings()
    _set_up(timings)
    soak = "KEYDROME_SOAK" in os.environ
    chosen = [
        s
        for s in suites
        if (s.name in only if only else s.fast or not (fast or (s.long and not soak)))
    ]
    outcomes = _outcomes(chosen)
    _show_slowest(outcomes)
    return _table(timings, outcomes)


def _set_up(timings: Timings) -> None:
    with timings.measure("packages"):
        packages.install(packages.BUILD + packages.TEST)
    # One waits for the network and a single core, the other for the compiler.
    with timings.measure("environment, release build"), ThreadPoolExecutor(1) as pool:
        environment = pool.submit(python_env.ensure)
        build.build("release")
        environment.result()
    VAR.mkdir(exist_ok=True)


def _outcomes(suites: list[Suite]) -> dict[str, Outcome]:
    lanes = [[s for s in suites if s.lane == lane] for lane in sorted({s.lane for s in suites})]
    with ThreadPoolExecutor(1) as builder, ThreadPoolExecutor(len(lanes)) as pool:
        built = {suite.name: builder.submit(_build, suite) for suite in suites}
        done = pool.map(lambda lane: [_reported(suite, built[suite.name]) for suite in lane], lanes)
        found = {
            suite.name: outcome
            for lane, outcomes in zip(lanes, done, strict=True)
            for suite, outcome in zip(lane, outcomes, strict=True)
        }
    return {suite.name: found[suite.name] for suite in suites}


def _build(suite: Suite) -> float:
    """Build what a suite tests; return the seconds that took."""
    begin = time.monotonic()
    if suite.prepare:
        suite.prepare()
    return time.monotonic() - begin


def _reported(suite: Suite, built: Future[float]) -> Outcome:
    """Run a suite once it is built; say when it begins, and how it ended. Its seconds include those of its build."""
    building = 0.0
    begin = time.monotonic()
    try:
        building = built.result()
        begin = time.monotonic()
        print(f"- {suite.name} ...", flush=True)
        outcome = suite.action()
    except StepError as error:
        outcome = Outcome(failed=1, message=str(error))
    outcome.seconds = building + time.monotonic() - begin
    counts = f"{outcome.passed} passed, {outcome.failed} failed"
    message = f"\n{outcome.message}" if outcome.message else ""
    print(f"  {suite.name}: {counts}, {outcome.seconds:.0f} s{message}", flush=True)
    return outcome


def _show_slowest(outcomes: dict[str, Outcome]) -> None:
    """Print the tests that take longest, so that a slow one is seen when it comes."""
    tests = [
        (seconds, f"{suite}: {name}")
        for suite, outcome in outcomes.items()
        for seconds, name in outcome.tests
    ]
    print("\nslowest tests")
    for seconds, name in sorted(tests, reverse=True)[:SLOWEST]:
        print(f"{seconds:7.1f} s  {name}")


def _table(timings: Timings, outcomes: dict[str, Outcome]) -> int:
    names = [*timings.seconds, *outcomes]
    width = max(len(name) for name in names)
    print(f"\n{'suite':<{width}}  passed  failed  seconds")
    for name, seconds in timings.seconds.items():
        print(f"{name:<{width}}  {'':6}  {'':6}  {seconds:7.1f}")
    for name, outcome in outcomes.items():
        print(f"{name:<{width}}  {outcome.passed:6}  {outcome.failed:6}  {outcome.seconds:7.1f}")
    passed = sum(outcome.passed for outcome in outcomes.values())
    failed = sum(outcome.failed for outcome in outcomes.values())
    print(f"\n{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def _suites(*, fast: bool) -> list[Suite]:
    choice = ["-m", "not slow", "--hypothesis-profile=fast"] if fast else []
    site, rooms = ["leaderboard", "web"], ["checker/tests", "runner", "tools"]
    return [
        Suite("site", lambda: _pytest("site", [*choice, *site]), fast=True),
        Suite(
            "python", lambda: _pytest("python", [*choice, *rooms]), fast=True, lane=1 if fast else 0
        ),
        Suite("lint", _lint, fast=True, lane=1 if fast else 0),
        Suite("native", lambda: _ctest("release", narrow=fast), fast=True, lane=2 if fast else 0),
        Suite("jail", lambda: _pytest("jail", ["jail/tests"])),
        Suite("road", lambda: _pytest("road", ["tests"])),
        Suite("postgres", lambda: _postgres(site), lane=1),
        Suite("tidy", _tidy),
        _sanitized("asan", lane=1),
        _sanitized("tsan", lane=1),
        _sanitized("asan-all", long=True),
        # A second compiler finds what depends on the first: in what order arguments are evaluated, what is aligned.
        Suite(
            "clang",
            lambda: _ctest("clang", narrow=True),
            prepare=lambda: build.build("clang"),
            long=True,
        ),
    ]


def _lint() -> Outcome:
    return _checks(lint.quick_checks())


def _tidy() -> Outcome:
    check = lint.tidy_check()
    return _checks([replace(check, command=[*build.POLITELY, *check.command])])


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


def _ctest(preset: str, *prefix: str, narrow: bool = False) -> Outcome:
    report = LOGS / f"ctest-{preset}.xml"
    # Some tests wait most of the time, for a library that must be given up: more run at a time than there are cores.
    # Not under sanitizers, where what waits may be taken for a hang.
    jobs = 4 if preset == "release" else 2
    # Address-space randomisation is off for the sanitizers' sake (google/sanitizers issue 1716).
    command = [
        *prefix,
        "setarch",
        "-R",
        "ctest",
        "--test-dir",
        f"build/{preset}",
        "--output-on-failure",
        f"-j{jobs}",
    ]
    command += ["--no-tests=error", "--output-junit", str(report)]
    if narrow:
        command += ["--label-exclude", "^wide$"]
    return _counted(report, lambda: run(command, log=f"ctest-{preset}", cure=CURE))


def _sanitized(preset: str, *, long: bool = False, lane: int = 0) -> Suite:
    return Suite(
        preset,
        # Slower than what runs beside them, but not so slow that what waits in them takes it for a hang.
        lambda: _ctest(preset, "nice", "-n", "5"),
        prepare=lambda: build.build(preset, politely=True),
        long=long,
        lane=lane,
    )


def _pytest(name: str, places: list[str], env: dict[str, str] | None = None) -> Outcome:
    report = LOGS / f"pytest-{name}.xml"
    command = [str(PYTHON), "-m", "pytest", "-q", "--continue-on-collection-errors"]
    command += [f"--junitxml={report}", *places]
    # Tests make their own data folders; none may see the developer's site or its servers.
    clean = {"KEYDROME_BUILD": str(ROOT / "build" / "release"), **(env or {})}
    return _counted(report, lambda: run(command, log=f"pytest-{name}", cure=CURE, env=clean))


def _postgres(places: list[str]) -> Outcome:
    with servers.postgres_and_redis() as env:
        return _pytest("postgres", places, env)


def _told(case: ET.Element) -> str:
    """Return the lines of a failed test's output that say what is wrong: the log may be far away, or gone."""
    lines = "\n".join(case.itertext()).splitlines()
    chosen: list[str] = []
    last = -1
    for number, line in enumerate(lines):
        if TELLS.search(line):
            last = number + LINES_AFTER
        if number <= last:
            chosen.append(f"    {line[:300]}")
    return "\n".join((chosen or [f"    {line[:300]}" for line in lines])[:LINES_MAX])


def _counted(report: Path, action: Callable[[], None]) -> Outcome:
    """Run a test program that writes JUnit XML; count from that file, never from the exit code alone."""
    report.unlink(missing_ok=True)
    outcome = Outcome()
    complaint = ""
    try:
        action()
    except StepError as error:
        complaint = str(error)
    if not report.exists():
        return Outcome(failed=1, message=complaint or f"no test report {report.name} was written")
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 - our own file
        bad = any(case.find(tag) is not None for tag in ("failure", "error", "skipped"))
        bad = bad or case.get("status") in {"fail", "notrun", "disabled"}
        outcome.failed += bad
        outcome.passed += not bad
        name = case.get("name", "")
        if case.get("classname") != name:  # ctest says the same twice
            name = f"{case.get('classname')}::{name}"
        if bad:
            outcome.message += f"\n{name}:\n{_told(case)}"
        outcome.tests.append((float(case.get("time") or 0), name))
    if outcome.failed:
        outcome.message += f"\nwhole log: {report.with_suffix('.log')}"
    elif complaint:  # the program failed outside any test, e.g. while collecting
        outcome.failed, outcome.message = 1, complaint
    return outcome
