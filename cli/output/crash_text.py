"""Says in sentences what a crash means: which calls were running, and how to find the cause.

The referee, the program that judges a library, writes the finding `crashed` (harness/referee/hang/hang_text.cc). It
contains the call that each thread was making, and the calls before it. The thread that crashed has a stack, if the
referee could read one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cli.output.debug_text import keydrome_command
from results.counts import counted
from runner.terms import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.report import Finding

CRASHED = "crashed"  # the name of the finding
_GUIDE = "docs/how-to/debug-a-library.md"
_RUNNING = re.compile(r"thread (\d+): (\w+)\(.*\(operation \d+\) was running when the process")
_THREAD = re.compile(r"(thread \d+|a thread that plays no operations)\b")
_STACK = "  stack at the crash: "
_MEMORY = "This call or an earlier one may have damaged memory; AddressSanitizer (-fsanitize=address) names it."
# ThreadSanitizer does not see how Keydrome orders the threads of scripted benchmarks such as `scenarios`.
_UNORDERED = "ycsb --threads 4"


def crashes(finding: Finding) -> bool:
    """Return whether the finding is a crash."""
    return finding.name == CRASHED


def calls_inside(finding: Finding) -> dict[int, str]:
    """Return for each thread that was inside the library when the process ended the function that it had called."""
    found = (_RUNNING.match(line) for line in finding.detail.splitlines())
    return dict(sorted((int(one[1]), one[2]) for one in found if one is not None))


def meaning(finding: Finding, given: str, *, alone_passed: bool | None = None) -> Iterator[str]:
    """Yield sentences: who was inside the library at the crash, and whether this looks like a data race.

    `given` names the library as on the command line. `alone_passed` says whether the library passed the suite
    `differential`, which has one thread; it is None if this suite did not run.
    """
    inside = calls_inside(finding)
    if not inside:
        return
    crashed = _crashed_thread(finding)
    if crashed in inside:
        yield f"Thread {crashed} crashed in {inside[crashed]}."
    if len(inside) == 1:
        yield (
            f"No other thread was inside the library at that moment: only {next(iter(inside.values()))} was "
            f"running. {_MEMORY}"
        )
        return
    by_call: dict[str, list[int]] = {}
    for thread, call in inside.items():
        by_call.setdefault(call, []).append(thread)
    calls = "; ".join(f"{call}: {_threads(threads)}" for call, threads in by_call.items())
    yield f"{counted(len(inside), 'thread')} were inside the library at once ({calls})."
    if alone_passed is False:
        yield "With one thread (suite differential) the library failed too, so fix that first."
        return
    alone = "With one thread (suite differential) it passed. " if alone_passed else ""
    yield (
        f"{alone}A crash that needs two threads at once is usually a data race: two threads use the "
        f"same memory without a lock, and one of them writes. If it also crashes with one thread: {_MEMORY}"
    )
    if alone_passed is None:
        alone = f"{keydrome_command()} check {given} --suite differential"
        yield f"`{alone}` plays one thread alone, which this run did not."


def find_race(given: str) -> str:
    """Return how ThreadSanitizer finds a race. `given` names the library as on the command line."""
    built = sanitized(given)
    return (
        f"`cc -g -O1 -shared -fPIC -fsanitize=thread -I api/include SOURCES -o {built}` (SOURCES: your files; c++ for "
        f"C++) and then `{keydrome_command()} debug {built} --benchmark {_UNORDERED}` name both places in the source "
        f"({_GUIDE})"
    )


def sanitized(given: str) -> str:
    """Return the name of the library's file for ThreadSanitizer, for a library mine.so."""
    stem = given.split(maxsplit=1)[0].rpartition("/")[2].partition(":")[0].removesuffix(".so")
    return f"./{stem}-tsan.so"


def is_race(finding: Finding) -> bool:
    """Return whether several threads were inside the library when it crashed."""
    return crashes(finding) and len(calls_inside(finding)) > 1


def may_be_race(findings: Iterable[Finding]) -> bool:
    """Return whether the library hangs or crashes and also gives wrong results, which a data race can cause."""
    required = {one.name for one in findings if one.severity is Severity.REQUIRED}
    ends = {CRASHED, "hang"}
    return bool(required & ends) and bool(required - ends - {"too_slow"})


def crash_file(
    finding: Finding, given: str, command: str, program: str, *, alone_passed: bool | None = None
) -> str:
    """Return the text of the file about a crash: what is known about it, and the commands to play it again.

    `command` plays the session in a debugger, and `program` is the file name of the C program, or empty.
    """
    lines = [finding.detail, "", *meaning(finding, given, alone_passed=alone_passed), ""]
    lines += ["The same session again, outside the jail:", ""]
    tools = {
        "stack": "prints the stacks of all threads after the crash",
        "gdb": "stops in gdb at the crash",
        "valgrind": "finds memory that is used wrongly",
    }
    lines += [f"  {command} --tool {tool}    # {what}" for tool, what in tools.items()]
    if is_race(finding):
        built = sanitized(given)
        lines += [
            "",
            "To find a data race, build the library with ThreadSanitizer (SOURCES: your files; c++ for C++):",
            "",
            f"  cc -g -O1 -shared -fPIC -fsanitize=thread -I api/include SOURCES -o {built}",
            f"  {keydrome_command()} debug {built} --benchmark {_UNORDERED}",
        ]
    if program:
        lines += ["", *_program(program, races=is_race(finding))]
    return "\n".join([*lines, "", f"How to debug: {_GUIDE}"]) + "\n"


def _program(program: str, *, races: bool) -> list[str]:
    lines = [
        f"{program} makes the same calls without Keydrome:",
        "",
        f"  cc -std=c99 -g -pthread -I api/include {program} ./LIBRARY.so -o replay && gdb ./replay",
    ]
    if races:
        lines += [
            "",
            "A crash that needs two threads at once may not occur in this program: how the calls overlapped is not",
            "recorded. Run the program several times, or use ThreadSanitizer as above.",
        ]
    return lines


def _crashed_thread(finding: Finding) -> int | None:
    """Return the number of the thread that has a stack, or None."""
    thread: int | None = None
    for line in finding.detail.splitlines():
        if found := re.match(r"thread (\d+)", line):
            thread = int(found[1])
        elif _THREAD.match(line):
            thread = None
        elif line.startswith(_STACK):
            return thread
    return None


def _threads(numbers: list[int]) -> str:
    names = ", ".join(map(str, numbers))
    return f"thread {names}" if len(numbers) == 1 else f"threads {names}"
