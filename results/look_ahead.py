"""Looks for look-ahead: whether a library gains time because it shares a process with its caller.

In a timed session a library could read its next calls in the caller's memory and answer several at once. In verified
mode it cannot, because a process outside the jail (the library's sandbox) makes every call. An audited session is
played in both modes with the same seed (runner/audit.py). Verified mode adds some time to each call. If a library looks
ahead, verified mode adds more time to calls to it than to calls to the control library, the baseline. The difference is
the *excess*.

The library that is judged is called the candidate. A pair contains the times of the candidate and of the control in
both modes. A pair is comparable if the machine had enough free CPUs in verified mode.

A processor also looks ahead: it overlaps calls that do not depend on each other, for example lookups in a hash table.
Verified mode prevents this too, so an honest library can have a large excess. Therefore the finding is advisory: it is
a warning that changes no verdict, and asks a person to look at the source or the machine code.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from results.counts import counted
from results.summary import median_interval
from runner.report import Finding
from runner.terms import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.contract import Session
    from runner.report import AuditPair

LOOK_AHEAD = "look_ahead"
PAIRS_MIN = 5  # fewer pairs allow no conclusion
# A finding needs two things. The lower end of the confidence interval of the median excess is above EXCESS_NS_MIN, in
# ns per call. The excess is above SHARE_MIN, as a fraction of the candidate's time per call in timed sessions.
EXCESS_NS_MIN = 30.0
SHARE_MIN = 0.5


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of several audited sessions. All values are medians over the comparable pairs, in ns per call.

    A pair is one session in both modes. A pair is comparable if each thread had two processors that no other process
    used. `pairs` counts the comparable pairs, and `pairs_left_out` counts the others. `share` is the excess divided by
    the candidate's time. `excess_low_ns` is the lower end of the confidence interval of the median excess. All numbers
    are 0 if there are no comparable pairs.
    """

    pairs: int
    pairs_left_out: int
    candidate_timed_ns: float
    candidate_added_ns: float
    control_added_ns: float
    excess_ns: float
    excess_low_ns: float
    share: float

    @property
    def is_decided(self) -> bool:
        """Return True if there are enough pairs to say whether the library looks ahead."""
        return self.pairs >= PAIRS_MIN

    @property
    def looks_ahead(self) -> bool:
        """Return True if the excess is so large that the library may look ahead."""
        return self.is_decided and self.excess_low_ns > EXCESS_NS_MIN and self.share > SHARE_MIN

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form (harness/schema/bench.v1.schema.json)."""
        return {**asdict(self), "look_ahead": self.looks_ahead}


def pairs_of(sessions: Iterable[Session]) -> tuple[AuditPair, ...]:
    """Return the pairs of the sessions that were audited and not discarded."""
    return tuple(s.audit for s in sessions if s.audit is not None and not s.discarded)


def summarise_audit(pairs: Iterable[AuditPair]) -> Audit:
    """Return the result of audited sessions of one library on one benchmark instance."""
    every = list(pairs)
    used = [pair for pair in every if pair.comparable]
    if not used:
        return Audit(0, len(every), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    excess = [pair.candidate_added_ns - pair.control_added_ns for pair in used]
    shares = [ns / pair.candidate_timed_ns for ns, pair in zip(excess, used, strict=True)]
    return Audit(
        pairs=len(used),
        pairs_left_out=len(every) - len(used),
        candidate_timed_ns=median(pair.candidate_timed_ns for pair in used),
        candidate_added_ns=median(pair.candidate_added_ns for pair in used),
        control_added_ns=median(pair.control_added_ns for pair in used),
        excess_ns=median(excess),
        excess_low_ns=median_interval(excess).low,
        share=median(shares),
    )


def look_ahead_finding(suite: str, audit: Audit) -> Finding | None:
    """Return the advisory finding `look_ahead` of a benchmark, or None if the audit does not show look-ahead."""
    if not audit.looks_ahead:
        return None
    detail = (
        f"{counted(audit.pairs, 'session was', 'sessions were')} played again in verified mode, in which "
        "a library cannot see its next calls. "
        f"Verified mode adds {audit.candidate_added_ns:,.0f} ns to each call to the library and "
        f"{audit.control_added_ns:,.0f} ns to each call to the control library, which is timed for comparison. "
        "The difference is "
        f"{audit.excess_ns:,.0f} ns, {audit.share:.0%} of the library's {audit.candidate_timed_ns:,.0f} ns per call. "
        "A library that reads its next calls in the memory of its caller loses this much, because verified mode hides "
        "them. An honest library can lose as much if the processor overlaps its independent calls. Only the source or "
        "the machine code shows which of the two is the cause; on a leaderboard, the organisers read it. This warning "
        "does not change the verdict."
    )
    return Finding(suite, LOOK_AHEAD, Severity.ADVISORY, detail)
