"""Says when a gate ends early, because further correctness tests would tell the contestant nothing new.

`keydrome check` and the site use the same rules.
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
    """Return why a gate ends after a test with the verdict `last`; empty if it continues.

    `required` is the number of different required findings of all tests so far.
    """
    if last in _ENDED:
        return _ENDED[last]
    if required >= REQUIRED_FINDINGS_MAX:
        return f"{required} required findings are enough"
    return ""
