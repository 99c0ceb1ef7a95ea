"""Implements `./dev test`: installs what the tests need, runs every suite once, and prints a table of results.

A suite that cannot run counts as failed and says what to do. A skipped test counts as failed too, so that no test is
left out silently.
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
    from collections.abc import Callable, Sequence
    from pathlib import Path

# What to do if a test program fails outside its tests. If a test has failed, its own message is shown instead.
OUTSIDE = "correct the error that the lines above name; it happened outside the tests"
SLOWEST = 10
# Matches a line that reports a failure in the output of GoogleTest, pytest, sanitizers, our own checks, shell or ctest.
TELLS = re.compile(
    r": Failure$|^E  |\[  FAILED  \]|ERROR: |WARNING: ThreadSanitizer|runtime error:"
    r"|Sanitizer has encountered a fatal error|Sanitizer: CHECK failed|Tracer caught signal"
    r"|: check failed: |Segmentation fault|hangs in|\*\*\*Exception|\*\*\*Timeout"
)
# How many lines of a failed test's output are shown.
LINES_AFTER = 4  # after each line that matches TELLS
LINES_AT_END = 10  # at the end of the output, if a signal or a time-out ended the test
LINES_MAX = 40  # in all
# Matches a line of ctest's log. The groups are the test's name and the words that say how it ended:
#    3/85 Test #12: harness_test ....***Exception: SegFault  0.52 sec
ENDED = re.compile(r"^\s*\d+/\d+ Test +#\d+: (\S+) \.*\s*(\S.*?)\s+[\d.]+ sec$", re.MULTILINE)
CUT_SHORT = re.compile(r"\*\*\*(Exception|Timeout)")
# Matches a line of GoogleTest that says nothing about a failure.
PASSES = re.compile(r"^\[(?: RUN     |       OK|-{10}|={10}|  PASSED  )")


@dataclass
class Outcome:
    """The result of a suite: how many tests passed and failed, and the messages of the failed tests."""

    passed: int = 0
    failed: int = 0
    message: str = ""
    seconds: float = 0.0
    tests: list[tuple[float, str]] = field(default_factory=list)  # seconds and name of each


@dataclass(frozen=True)
class Suite:
    """A named group of tests. A `fast` suite is part of `./dev test --fast`; a `long` suite is no part of `./dev test`.

    The suites with the same `lane` run one after the other. Different lanes run at the same time, because most suites
    use only one core or mostly wait. A further thread builds the targets of the suites, one suite after the other.
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
        raise StepError(
            f"there is no suite {', '.join(sorted(unknown))}; the suites of this command are: {names}"
        )
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
    # The environment is installed while the build runs, because installing mostly waits for the network.
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
    """Build the targets of a suite; return the seconds that the build took."""
    begin = time.monotonic()
    if suite.prepare:
        suite.prepare()
    return time.monotonic() - begin


def _reported(suite: Suite, built: Future[float]) -> Outcome:
    """Wait for the build of a suite, run the suite, and print its result. The printed seconds include the build."""
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
    """Print the slowest tests, so that a new slow test is noticed."""
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
    site, rooms = ["leaderboard", "web"], ["checker/tests", "runner", "results", "cli", "tools"]
    return [
        Suite("site", lambda: _pytest("site", [*choice, *site]), fast=True),
        Suite(
            "python", lambda: _pytest("python", [*choice, *rooms]), fast=True, lane=1 if fast else 0
        ),
        Suite("lint", _lint, fast=True, lane=1 if fast else 0),
        Suite("native", lambda: _ctest("release", narrow=fast), fast=True, lane=2 if fast else 0),
        Suite("jail", lambda: _pytest("jail", ["jail/tests"])),
        # The commands and sites of these tests judge libraries by the clock, so they get a higher priority than others.
        Suite("rooms", lambda: _pytest("rooms", ["tests"], prefix=["nice", "-n", "-10"])),
        Suite("postgres", lambda: _postgres(site), lane=1),
        Suite("tidy", _tidy),
        _sanitized("asan", lane=1),
        _sanitized("tsan", lane=1),
        _sanitized("asan-all", long=True),
        _sanitized("tsan-all", long=True),
        # A second compiler finds code that relies on choices of the first, such as the evaluation order of arguments.
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
        run(check.command, log=f"lint-{check.name}", hint=check.hint)
    except StepError as error:
        return f"{check.name}: {error}"
    return ""


def _ctest(preset: str, *prefix: str, narrow: bool = False) -> Outcome:
    report = LOGS / f"ctest-{preset}.xml"
    # Four tests run at a time, even on two cores, because some tests mostly wait for a time-out. In builds other than
    # release, only two run at a time: sanitizers slow tests down, and a slow test could be mistaken for a hang.
    jobs = 4 if preset == "release" else 2
    # `setarch -R` switches off address-space randomisation, which the sanitizers need (google/sanitizers issue 1716).
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
    # Labels of the tests of the runtime, which adds transactions to data structures. `wide` marks tests of many
    # structures, `alike` the stress tests of structures that use the runtime in the same way as `btree`.
    left_out = (["wide"] if narrow else []) + ([] if "KEYDROME_SOAK" in os.environ else ["alike"])
    if left_out:
        command += ["--label-exclude", f"^({'|'.join(left_out)})$"]
    return _counted(report, lambda: run(command, log=f"ctest-{preset}", hint=OUTSIDE))


def _sanitized(preset: str, *, long: bool = False, lane: int = 0) -> Suite:
    return Suite(
        preset,
        # Other lanes judge libraries by wall time. At equal priority, these tests with eight threads would take the
        # processors from those libraries. The lower priority still leaves enough time that no slow test looks like a
        # hang.
        lambda: _ctest(preset, "nice", "-n", "10"),
        prepare=lambda: build.build(preset, politely=True),
        long=long,
        lane=lane,
    )


def _pytest(
    name: str,
    places: list[str],
    env: dict[str, str] | None = None,
    prefix: Sequence[str] = (),
) -> Outcome:
    report = LOGS / f"pytest-{name}.xml"
    command = [*prefix, str(PYTHON), "-m", "pytest", "-q", "--continue-on-collection-errors"]
    command += [f"--junitxml={report}", *places]
    # The tests use the release build of this clone. Fixtures hide the developer's site and its data (conftest.py).
    clean = {"KEYDROME_BUILD": str(ROOT / "build" / "release"), **(env or {})}
    return _counted(report, lambda: run(command, log=f"pytest-{name}", hint=OUTSIDE, env=clean))


def _postgres(places: list[str]) -> Outcome:
    with servers.postgres_and_redis() as env:
        return _pytest("postgres", places, env)


def _told(case: ET.Element, ended: str) -> str:
    """Return the lines of a failed test's output that say what is wrong, because the log may not be at hand.

    These are the lines that match TELLS, and some lines after each. If no line matches, or if a signal or a time-out
    ended the test, the last lines are added, because output usually ends with the message of the fault. Lines about
    tests that passed are left out.
    """
    output = "\n".join(case.itertext()).splitlines()
    lines = [line for line in output if line.strip() and not PASSES.match(line)]
    chosen = {
        number + after
        for number, line in enumerate(lines)
        if TELLS.search(line)
        for after in range(LINES_AFTER + 1)
    }
    if not chosen or CUT_SHORT.search(ended):
        at_end = LINES_AT_END if chosen else LINES_MAX
        chosen.update(range(len(lines) - at_end, len(lines)))
    shown = [f"    {lines[number][:300]}" for number in sorted(chosen) if 0 <= number < len(lines)]
    if len(shown) > LINES_MAX:
        half = LINES_MAX // 2
        shown = [*shown[: half - 1], "    ...", *shown[-half:]]
    return "\n".join(shown)


def _ends(log: Path) -> dict[str, str]:
    """Return how each test ended, in the words of ctest's log (`***Exception: SegFault`); {} if there is no log."""
    return dict(ENDED.findall(log.read_text(errors="replace"))) if log.exists() else {}


def _counted(report: Path, action: Callable[[], None]) -> Outcome:
    """Run a test program that writes JUnit XML, and return the counts of passed and failed tests in this file.

    The exit code is not enough, because it is 0 even if tests were skipped.
    """
    report.unlink(missing_ok=True)
    outcome = Outcome()
    complaint = ""
    try:
        action()
    except StepError as error:
        complaint = str(error)
    if not report.exists():
        return Outcome(
            failed=1,
            message=complaint
            or f"the suite ended without writing the report {report}; "
            f"read the log {report.with_suffix('.log')}",
        )
    ends = _ends(report.with_suffix(".log"))
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 - our own file
        bad = any(case.find(tag) is not None for tag in ("failure", "error", "skipped"))
        bad = bad or case.get("status") in {"fail", "notrun", "disabled"}
        outcome.failed += bad
        outcome.passed += not bad
        name = case.get("name", "")
        if case.get("classname") != name:  # ctest writes the same name into both attributes
            name = f"{case.get('classname')}::{name}"
        if bad:
            ended = ends.get(name, "")
            outcome.message += f"\n{name}: {ended}".rstrip() + f"\n{_told(case, ended)}"
        outcome.tests.append((float(case.get("time") or 0), name))
    if outcome.failed:
        outcome.message += f"\nwhole log: {report.with_suffix('.log')}"
    elif complaint:  # the program failed outside any test, e.g. while collecting
        outcome.failed, outcome.message = 1, complaint
    return outcome
