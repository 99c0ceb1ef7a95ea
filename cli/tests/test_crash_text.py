"""Tests of the sentences about a crash: who was inside the library, and whether it looks like a data race."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cli.output.check_proof import heading
from cli.output.crash_text import (
    calls_inside,
    crash_file,
    find_damage,
    find_leak,
    find_race,
    is_race,
    may_be_race,
    meaning,
)
from runner.report import Finding
from runner.terms import Severity

TWO = Finding(
    "scenarios",
    "crashed",
    Severity.REQUIRED,
    "the library's process was ended by SIGSEGV in phase 7 of the benchmark\n"
    'thread 2: insertRecord("A", 1) (operation 7) was running when the process ended; the calls before it:\n'
    '  openIndex("A")\n'
    'thread 3: get("A", "(operation 9)") (operation 7) was running when the process ended\n'
    "  stack at the crash: library.so+0x3e3d (get+0x4d) < player\n"
    "6 threads were waiting for other threads, outside any call of the library",
)
ONE = replace(
    TWO, detail="\n".join(line for line in TWO.detail.splitlines() if "thread 3" not in line)
)


def said(finding: Finding, *, alone_passed: bool | None = None) -> str:
    return " ".join(meaning(finding, "./mine.so", alone_passed=alone_passed))


def test_two_threads_inside_the_library_look_like_a_race() -> None:
    assert calls_inside(TWO) == {2: "insertRecord", 3: "get"}
    assert is_race(TWO)
    assert not is_race(replace(TWO, name="hang"))
    text = said(TWO)
    assert text.startswith(
        "Thread 3 crashed in get. 2 threads were inside the library at once (insertRecord: thread 2; get: thread 3). "
        "A crash that needs two threads at once is usually a data race"
    )
    assert text.endswith(
        "Otherwise, one of these calls or an earlier one may have used memory wrongly; AddressSanitizer names the "
        "first wrong access. This run did not include the suite with one thread; "
        "`keydrome check ./mine.so --suite differential` plays it."
    )


def test_the_crash_of_a_structure_hardly_is_a_race() -> None:
    """ThreadSanitizer does not see the locks of the runtime, so it would report races that do not exist."""
    text = " ".join(meaning(TWO, "./mine.so", is_structure=True))
    assert "a data race is possible only if the structure claims shared reads" in text
    assert "One of these calls or an earlier one may have used memory wrongly" in text
    file = crash_file(TWO, "./mine.so --config rw", "--seed 1", "", is_structure=True)
    assert "-fsanitize=address" in file
    assert "-fsanitize=thread" not in file


@pytest.mark.parametrize(
    ("passed", "words", "race"),
    [
        (True, "With one thread (suite differential) the library passed. A crash", True),
        (False, "failed too", False),
    ],
)
def test_the_suite_with_one_thread_tells_more(passed: bool, words: str, race: bool) -> None:
    text = said(TWO, alone_passed=passed)
    assert words in text
    assert ("data race" in text) == race
    assert "--suite" not in text


def test_one_thread_inside_the_library_is_not_called_a_race() -> None:
    assert not is_race(ONE)
    assert (
        "No other thread was inside the library at that moment: only insertRecord was running. The call of "
        "insertRecord or an earlier one may have used memory wrongly; AddressSanitizer"
    ) in said(ONE)
    assert said(replace(ONE, detail="ended by SIGSEGV")) == ""


def test_a_thread_that_has_completed_no_call_is_not_inside_the_library() -> None:
    """A heap read past the end by one thread was called a data race, because another thread was at its first call."""
    starts = TWO.detail.replace(
        '1) (operation 7) was running when the process ended; the calls before it:\n  openIndex("A")',
        "1) (operation 0) was running or about to begin when the process ended",
    )
    crash = replace(TWO, detail=starts)
    assert calls_inside(crash) == {3: "get"}
    assert not is_race(crash)
    assert said(crash).startswith(
        "Thread 3 crashed in get. Thread 2 had completed no call yet, so a data race is unlikely. The call of get "
        "or an earlier one may have used memory wrongly; AddressSanitizer"
    )
    no_stack = "\n".join(line for line in starts.splitlines() if "  stack at" not in line)
    assert said(replace(crash, detail=no_stack)).endswith(
        "If your code sets no signal handler, the stack overflowed. Only thread 3 was surely inside the library, in "
        "get; thread 2 had completed no call yet, so a data race is unlikely. If the stack did not overflow, the call "
        "of get or an earlier one may have used memory wrongly; AddressSanitizer names the first wrong access."
    )
    both = replace(crash, detail=starts.replace("(operation 7)", "(operation 0)"))
    assert calls_inside(both) == {2: "insertRecord", 3: "get"}
    assert is_race(both)


def test_a_thread_that_rolls_back_is_inside_the_library() -> None:
    rolls_back = (
        'thread 2: abortTransaction, called because of the result of get("A", 1) (operation 7), was'
    )
    first = 'thread 2: insertRecord("A", 1) (operation 7) was'
    crash = replace(TWO, detail=TWO.detail.replace(first, rolls_back))
    assert calls_inside(crash) == {2: "abortTransaction", 3: "get"}


@pytest.mark.parametrize(
    "other",
    [
        "a thread that the library started: it crashed",
        "a thread crashed while the library was loaded",
    ],
)
def test_the_stack_of_a_thread_without_a_number_belongs_to_no_client(other: str) -> None:
    stack = "  stack at the crash: library.so+0x3e3d (get+0x4d) < player"
    detail = TWO.detail.replace(stack, f"{other}\n{stack}")
    assert "crashed in" not in said(replace(TWO, detail=detail))


def test_wrong_results_with_a_hang_may_be_a_race() -> None:
    hang = replace(ONE, name="hang")
    wrong = replace(ONE, name="dirty_read")
    assert may_be_race([hang, wrong])
    assert may_be_race([ONE, wrong])
    assert not may_be_race([hang])
    assert not may_be_race([wrong])
    assert not may_be_race([hang, replace(wrong, severity=Severity.ADVISORY)])


@pytest.mark.parametrize(
    ("detail", "words"),
    [
        ("ended by SIGSEGV", "unknown, because the stack overflowed"),
        ("ended by SIGABRT", "SIGABRT means that abort() was called"),
        (
            "ended by SIGABRT",
            "SIGABRT inside free or malloc means that the heap was damaged earlier",
        ),
        ("exit code 3", ""),
    ],
)
def test_the_end_of_the_process_is_explained(detail: str, words: str) -> None:
    stack = "  stack at the crash: libc.so.6+0x8 (abort+0xdf) < libc.so.6+0x9 (cfree+0x1) < player"
    line = ONE.detail.splitlines()[1]
    stacks = [stack] if "inside" in words else []
    text = said(replace(ONE, detail="\n".join([f"the process was {detail}", line, *stacks])))
    assert words in text
    if not words:
        assert "SIG" not in text
        assert "no stack" not in text


@pytest.mark.parametrize("symbol", ["free", "__libc_free", "cfree", "_ZdlPv", "realloc"])
def test_a_damaged_heap_is_not_called_a_race_among_threads(symbol: str) -> None:
    detail = TWO.detail.replace("SIGSEGV", "SIGABRT").replace("get+0x4d", f"{symbol}+0x6e")
    text = said(replace(TWO, detail=detail), alone_passed=True)
    assert "the heap was damaged earlier" in text
    assert "usually a data race" not in text
    assert "With one thread (suite differential) the library passed. Two threads that use" in text


def test_the_commands_name_the_users_file_and_the_session_that_crashed() -> None:
    session = "--benchmark scenarios --instance crowds --scale smoke --seed 1"
    text = find_race("dir/mine.so --config rw", session)
    assert "`cc -g -O1 -shared -fPIC -fsanitize=thread -I " in text
    assert (
        "SOURCES -o ./mine-tsan.so` (SOURCES: your source files; for C++, replace cc by c++)"
        in text
    )
    assert f"`keydrome debug ./mine-tsan.so --config rw {session}`" in text
    text = find_damage("dir/mine.so", session, cpp=True)
    assert "`c++ -std=c++20 -g -O1 -shared -fPIC -fsanitize=address -I " in text
    assert f"`keydrome debug ./mine-asan.so {session}`" in text
    text = find_leak("mine", session)
    assert f"`keydrome debug ./mine-asan.so {session}`" in text
    assert f"`keydrome debug mine {session} --tool valgrind`" in text


def test_the_file_about_a_crash_says_how_to_play_it_again() -> None:
    text = crash_file(TWO, "./mine.so", "--seed 1", "cc -std=c99 crashed.c /mine.so -o crashed")
    for words in (
        "the library's process was ended by SIGSEGV",
        "stack at the crash: library.so+0x3e3d",
        '  openIndex("A")',
        "2 threads were inside the library at once",
        "  keydrome debug ./mine.so --seed 1 --tool gdb ",
        "  keydrome debug ./mine.so --seed 1 --tool valgrind ",
        "  keydrome debug ./mine-tsan.so --seed 1\n",
        "  cc -std=c99 crashed.c /mine.so -o crashed && gdb crashed\n",
        "A crash that needs two threads at once may not occur in this program",
    ):
        assert words in text
    alone = crash_file(ONE, "./mine.so", "--seed 1", "")
    assert "tsan" not in alone
    assert "  keydrome debug ./mine-asan.so --seed 1\n" in alone
    assert "gdb crashed" not in alone


def test_a_suite_and_a_finding_of_one_name_are_written_once() -> None:
    assert heading(replace(TWO, suite="phantom", name="phantom")) == "phantom"
    assert heading(TWO) == "scenarios crashed"
    assert heading(TWO, ": ") == "scenarios: crashed"
