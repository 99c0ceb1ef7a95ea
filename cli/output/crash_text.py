"""Says in sentences what a crash means: which calls were running, and how to find the cause.

The referee, the program that judges a library, writes the finding `crashed` (harness/referee/hang/hang_text.cc). It
contains the call that each thread was making, and the calls before it. The thread that crashed has a stack, if the
referee could read one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cli.output.build_text import sanitizer_build, sanitizer_session, with_sanitizer
from cli.output.debug_text import keydrome_command
from results.counts import counted
from runner.terms import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.report import Finding

CRASHED = "crashed"  # the name of the finding
_GUIDE = "docs/how-to/debug-a-library.md"
_RUNNING = re.compile(
    r"thread (?P<thread>\d+): (?P<call>\w+)[(,].*\(operation (?P<operation>\d+)\),? "
    r"was running (?P<unsure>or about to begin )?when the process"
)
_THREAD = re.compile(r"(thread \d+|a thread (?:that the library started|crashed))\b")
_STACK = "  stack at the crash: "
_MEMORY = "may have used memory wrongly; AddressSanitizer names the first wrong access."
_SIGNAL = re.compile(r"ended by (SIG[A-Z]+)")
_STACK_SIGNALS = {
    "SIGSEGV",
    "SIGBUS",
    "SIGILL",
    "SIGFPE",
    "SIGABRT",
}  # at which a thread writes its stack
_HEAP = re.compile(r"\((?:(?:__libc_)?(?:c?free|[mc]alloc|realloc)|_Zd[al]\w*|_Zn[aw]\w*)\+0x")


def crashes(finding: Finding) -> bool:
    """Return whether the finding is a crash."""
    return finding.name == CRASHED


def calls_inside(finding: Finding) -> dict[int, str]:
    """Return, by thread, which function each thread was inside when the process ended; other threads are left out.

    A thread that has completed no call may not have begun its first one. So it counts only if the threads that were
    surely inside the library were in their first calls, too.
    """
    found = _running(finding)
    surely = [one for one in found if not one["unsure"]]
    at_start = all(one["operation"] == "0" for one in surely)
    return {int(one["thread"]): one["call"] for one in (found if at_start else surely)}


def _running(finding: Finding) -> list[re.Match[str]]:
    found = (_RUNNING.match(line) for line in finding.detail.splitlines())
    return sorted((one for one in found if one is not None), key=lambda one: int(one["thread"]))


def meaning(
    finding: Finding, given: str, *, alone_passed: bool | None = None, is_structure: bool = False
) -> Iterator[str]:
    """Yield sentences: who was inside the library at the crash, and whether this looks like a data race.

    `given` names the library as on the command line. `alone_passed` says whether the library passed the suite
    `differential`, which has one thread; it is None if this suite did not run. The runtime locks a structure, so its
    crash is hardly a data race.
    """
    inside = calls_inside(finding)
    if not inside:
        return
    crashed = _crashed_thread(finding)
    if crashed in inside:
        yield f"Thread {crashed} crashed in {inside[crashed]}."
    yield from _end_of_process(finding)
    if len(inside) == 1:
        yield _only_call(finding, inside)
        begin = "If the stack did not overflow, the" if _has_lost_stack(finding) else "The"
        yield f"{begin} call of {next(iter(inside.values()))} or an earlier one {_MEMORY}"
        return
    by_call: dict[str, list[int]] = {}
    for thread, call in inside.items():
        by_call.setdefault(call, []).append(thread)
    calls = "; ".join(f"{call}: {_threads(threads)}" for call, threads in by_call.items())
    yield f"{counted(len(inside), 'thread')} were inside the library at once ({calls})."
    if alone_passed is False:
        yield "With one thread (suite differential) the library failed too, so find that fault first."
        return
    alone = "With one thread (suite differential) the library passed. " if alone_passed else ""
    if is_structure:
        yield (
            f"{alone}Keydrome's runtime locks the structure, so a data race is possible only if the structure claims "
            f"shared reads or thread safety. One of these calls or an earlier one {_MEMORY}"
        )
    elif is_heap_damaged(finding):
        yield f"{alone}Two threads that use the same memory without a lock can also damage the heap (a data race)."
        return
    else:
        yield (
            f"{alone}A crash that needs two threads at once is usually a data race: two threads use the "
            "same memory without a lock, and one of them writes. Otherwise, one of these calls or an earlier one "
            f"{_MEMORY}"
        )
    if alone_passed is None:
        alone = f"{keydrome_command()} check {given} --suite differential"
        yield f"This run did not include the suite with one thread; `{alone}` plays it."


def _only_call(finding: Finding, inside: dict[int, str]) -> str:
    """Return a sentence that says why only the call of one thread can be the cause."""
    thread, call = next(iter(inside.items()))
    others = [int(one["thread"]) for one in _running(finding) if int(one["thread"]) != thread]
    if not others:
        return f"No other thread was inside the library at that moment: only {call} was running."
    unlikely = f"{_threads(others)} had completed no call yet, so a data race is unlikely."
    if _crashed_thread(finding) == thread:
        return unlikely.capitalize()
    return f"Only thread {thread} was surely inside the library, in {call}; {unlikely}"


def _end_of_process(finding: Finding) -> Iterator[str]:
    """Yield what the signal and the stack say."""
    signal = _signal(finding)
    if is_heap_damaged(finding):
        yield (
            "SIGABRT inside free or malloc means that the heap was damaged earlier: a call has written outside of "
            "a block, or has freed a block twice."
        )
    elif signal == "SIGABRT":
        yield (
            "SIGABRT means that abort() was called: by assert(), for a C++ exception that nothing catches, or because "
            "the heap was damaged by an earlier call."
        )
    elif _has_lost_stack(finding):
        yield (
            "The functions that were running at the crash are unknown, because the stack overflowed (for example by "
            "endless recursion), or because the library handles the signal itself. If your code sets no signal "
            "handler, the stack overflowed."
        )


def _signal(finding: Finding) -> str:
    found = _SIGNAL.search(finding.detail)
    return "" if found is None else found[1]


def _has_lost_stack(finding: Finding) -> bool:
    """Return whether the thread that crashed should have written its stack, but has not. abort() is no such case."""
    has_stack = any(line.startswith(_STACK) for line in finding.detail.splitlines())
    return _signal(finding) in _STACK_SIGNALS - {"SIGABRT"} and not has_stack


def is_heap_damaged(finding: Finding) -> bool:
    """Return whether free or malloc has ended the process."""
    lines = finding.detail.splitlines()
    stacks = [line for line in lines if line.startswith(_STACK)]
    return "ended by SIGABRT" in lines[0] and any(map(_HEAP.search, stacks))


def find_race(
    given: str, session: str, *, aim: str = "to look for a data race", cpp: bool = False
) -> str:
    """Return how ThreadSanitizer finds a race.

    `given` names the library as on the command line. `session` has the options that name the session with the crash.
    """
    shows = "shows, for each race, the two places in the source that use the same memory"
    return f"{aim}, {with_sanitizer(given, 'thread', session, cpp=cpp)}: it {shows} ({_GUIDE})"


def find_damage(given: str, session: str, *, cpp: bool = False) -> str:
    """Return how AddressSanitizer finds the first wrong use of memory; the arguments are those of find_race()."""
    commands = with_sanitizer(given, "address", session, cpp=cpp)
    return f"to find the first wrong access to memory, {commands}: it names the place in the source ({_GUIDE})"


def find_leak(given: str, session: str, *, cpp: bool = False) -> str:
    """Return how to list the memory that is never freed; the arguments are those of find_race()."""
    listed = f"{keydrome_command()} debug {given} {session} --tool valgrind"
    return (
        f"to list the memory that was never freed, {with_sanitizer(given, 'address', session, cpp=cpp)}: it shows the "
        "stack of each allocation; "
        f"`{listed}` needs no new build, and also lists memory to which the library still has pointers, such as a "
        "list that only grows (the largest blocks last)"
    )


def is_race(finding: Finding) -> bool:
    """Return whether several threads were inside the library when it crashed."""
    return crashes(finding) and len(calls_inside(finding)) > 1


def may_be_race(findings: Iterable[Finding]) -> bool:
    """Return whether the library hangs or crashes and also gives wrong results, which a data race can cause."""
    required = {one.name for one in findings if one.severity is Severity.REQUIRED}
    ends = {CRASHED, "hang"}
    return bool(required & ends) and bool(required - ends - {"too_slow"})


def crash_file(
    finding: Finding,
    given: str,
    session: str,
    compiled: str,
    *,
    alone_passed: bool | None = None,
    is_structure: bool = False,
) -> str:
    """Return the text of the file about a crash: what is known about it, and the commands to play it again.

    `session` has the options that name the session, and `compiled` is the command that compiles the C program, or
    empty.
    """
    command = f"{keydrome_command()} debug {given} {session}"
    said = meaning(finding, given, alone_passed=alone_passed, is_structure=is_structure)
    lines = [finding.detail, "", *said, ""]
    lines += ["The same session again, outside the jail:", ""]
    tools = {
        "stack": "prints the stacks of all threads after the crash",
        "gdb": "stops in gdb at the crash",
        "valgrind": "finds memory that is used wrongly",
    }
    lines += [f"  {command} --tool {tool}    # {what}" for tool, what in tools.items()]
    races = is_race(finding) and not is_structure
    sanitizer = "thread" if races else "address"
    what = "a data race" if races else "the wrong use of memory"
    lines += [
        "",
        f"To find {what}, build the library with a sanitizer",
        "(SOURCES: your source files; for C++, replace cc by c++):",
        "",
        f"  {sanitizer_build(given, sanitizer, cpp=False)}",
        f"  {sanitizer_session(given, sanitizer, session)}",
    ]
    if compiled:
        lines += ["", *_program(compiled, races=races)]
    return "\n".join([*lines, "", f"How to debug: {_GUIDE}"]) + "\n"


def _program(compiled: str, *, races: bool) -> list[str]:
    built = compiled.rpartition(" -o ")[2]
    lines = [
        "The C program of this crash makes the same calls without Keydrome:",
        "",
        f"  {compiled} && gdb {built}",
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
