"""Says when to stop testing a library for correctness, because further tests would tell its author nothing new.

The tests are the gates: the correctness benchmarks that a library must pass before a board ranks it. `keydrome check`
and the site use the same rules. A board is a ranking of libraries on one benchmark.
"""

from __future__ import annotations

from runner.terms import Verdict

REQUIRED_FINDINGS_MAX = 12
_ENDED = {
    Verdict.CRASHED: "the library crashed",
    Verdict.TIMED_OUT: "the library did not return in time",
    Verdict.OUT_OF_MEMORY: "the library used all its memory",
}


def why_gate_ends(last: Verdict, required: int) -> str:
    """Return why the tests end after a test with the verdict `last`; an empty text if they continue.

    `required` is the number of different required findings of all tests so far. A required finding fails the library.
    """
    if last in _ENDED:
        return _ENDED[last]
    if required >= REQUIRED_FINDINGS_MAX:
        return f"the library already has {required} required findings"
    return ""
