"""Says when to stop testing a library for correctness, because further tests would tell its author nothing new.

The tests are the gates: the correctness benchmarks that a library must pass before a board ranks it. `keydrome check`
and the site use the same rules. A board is a ranking of libraries on one benchmark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.terms import Severity, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

REQUIRED_FINDINGS_MAX = 12
# A stalled test, in which a transaction fails in every attempt, lasts some 6 s, until the retries are used up. All
# stalled tests give the author the same information, so a few of them are enough.
STALLED_MAX = 3
_ENDED = {
    Verdict.CRASHED: "the library crashed",
    Verdict.TIMED_OUT: "the library did not return in time",
    Verdict.OUT_OF_MEMORY: "the library needed more than its memory limit",
}


def has_stalled(findings: Iterable[tuple[str, str]]) -> bool:
    """Return whether a transaction of the test failed in every attempt, so that the library must be wrong.

    `findings` has the name and the severity of each finding of the test.
    """
    return ("no_progress", Severity.REQUIRED) in findings


def why_gate_ends(last: Verdict, required: int, stalled: int = 0) -> str:
    """Return why the tests end after a test with the verdict `last`; an empty text if they continue.

    `required` is the number of different required findings of all tests so far. A required finding fails the library.
    `stalled` is the number of tests for which has_stalled() is True.
    """
    if last in _ENDED:
        return _ENDED[last]
    if required >= REQUIRED_FINDINGS_MAX:
        return f"the tests have already found {required} faults that make the library fail"
    if stalled >= STALLED_MAX:
        tests = "1 test" if stalled == 1 else f"{stalled} tests"
        each = "" if stalled == 1 else "each of "
        return f"in {each}{tests} a transaction failed every time that the test repeated it"
    return ""
