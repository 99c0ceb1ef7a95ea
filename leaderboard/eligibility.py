"""May this run be ranked on this board? Pure: facts in, sentences out.

One function decides, so that the board, the run page and the export never disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaderboard.boards import jail_suffices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaderboard.boards import Board


# The finding that boards may forgive: a transaction did not see what was committed before it began.
STALE_READ = "stale_read"
UNFORGIVEN = "which this board does not forgive"


@dataclass(frozen=True, slots=True)
class GateRun:
    """A judged run of a gate's instance; one that was refused or lost is none. `faults` as in models.Run."""

    instance: str
    verdict: str
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GateFacts:
    """How the same binary under the same configuration did in a gate, with all its instances, at its newest version."""

    benchmark: str
    instances: tuple[str, ...]
    runs: tuple[GateRun, ...] = ()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What eligibility needs to know about one run. None means unknown."""

    benchmark_version: int
    current_version: int | None
    scale: str
    state: str
    verdict: str
    sessions: int
    score: float | None
    transactions_failed: int | None
    transactions_completed: int | None
    transactions_planned: int | None
    jail_level: str
    faults: tuple[str, ...] = ()
    deleted: bool = False
    verified: bool = False
    unsteady: str = ""  # why its machine did not rank when it ended
    audit_verdict: str = (
        ""  # of an audit of the same binary that did not pass; empty: there is none
    )


def reasons_against(run: RunFacts, board: Board, gates: Sequence[GateFacts]) -> list[str]:
    """Return why the run is not ranked on the board, most important first; empty means eligible.

    `gates` has one entry per gate of the board.
    """
    if run.deleted:
        return ["its owner deleted it"]
    if run.state == "cancelled":
        return ["it was cancelled"]
    if run.state != "done":
        return ["it has not finished yet"]
    if run.verified:
        return ["it is an audit: its times compare with those of other audits only"]
    if run.verdict != "passed":
        return [f"its verdict is {run.verdict.replace('_', ' ')}"]
    reasons = _version_and_scale(run, board)
    reasons += _transactions(run)
    reasons += _measurement(run, board)
    if run.unsteady:
        reasons.append(f"its machine was out of ranking: {run.unsteady}")
    if run.audit_verdict:
        reasons.append(f"its audit in verified mode: {run.audit_verdict.replace('_', ' ')}")
    if board.strict and STALE_READ in run.faults:
        reasons.append(f"its recorded session showed a stale read, {UNFORGIVEN}")
    for gate in gates:
        reasons += _gate(gate, board)
    return reasons


def has_only_stale_reads(verdict: str, faults: Sequence[str]) -> bool:
    """Whether a run failed for nothing but stale reads; whatever else is wrong is a fault of its own."""
    return verdict == "failed" and set(faults) == {STALE_READ}


def _version_and_scale(run: RunFacts, board: Board) -> list[str]:
    """Let only the newest version at an accepted scale count."""
    reasons = []
    if run.current_version is None:
        reasons.append(f"the benchmark {board.benchmark} no longer exists")
    elif run.benchmark_version != run.current_version:
        reasons.append(
            f"it used version {run.benchmark_version} of the benchmark; "
            f"version {run.current_version} is the newest"
        )
    if run.scale not in board.scales:
        reasons.append(
            f"it ran at {run.scale} scale; the board asks for {' or '.join(board.scales)}"
        )
    return reasons


def _transactions(run: RunFacts) -> list[str]:
    """Ask that every transaction completed, and that this is known."""
    failed, completed = run.transactions_failed, run.transactions_completed
    if failed is None or completed is None:
        return ["the report does not say whether all transactions completed"]
    total = failed + completed if run.transactions_planned is None else run.transactions_planned
    if failed:
        return [f"{failed:,} of {max(total, failed):,} transactions failed"]
    if completed < total:
        return [f"{total - completed:,} of {total:,} transactions did not complete"]
    return []


def _measurement(run: RunFacts, board: Board) -> list[str]:
    """Ask for a score that rests on enough sessions in a strong enough jail."""
    reasons = []
    if run.score is None:
        reasons.append("it was not measured beside the control library")
    if run.sessions < board.minimum_sessions:
        reasons.append(
            f"it has {run.sessions} sessions; the board asks for {board.minimum_sessions}"
        )
    if not jail_suffices(run.jail_level, board.jail_level):
        reasons.append(
            f"the jail gave level {run.jail_level or 'unknown'}; the board asks for "
            f"{board.jail_level}"
        )
    return reasons


def _gate(gate: GateFacts, board: Board) -> list[str]:
    """Ask that every instance was passed and none was judged otherwise, as far as the board does not forgive it.

    A binary that failed once is not saved by passing another time.
    """
    passed = set()
    for run in gate.runs:
        stale = has_only_stale_reads(run.verdict, run.faults)
        if run.verdict == "passed" or (stale and not board.strict):
            passed.add(run.instance)
        elif stale:
            return [f"{gate.benchmark} tests: stale reads, {UNFORGIVEN}"]
        else:
            return [f"{gate.benchmark} tests: {run.verdict.replace('_', ' ')}"]
    if not gate.instances:
        return [f"the gate {gate.benchmark} does not exist"]
    if not passed.issuperset(gate.instances):
        return [f"{gate.benchmark} tests have not passed yet"]
    return []
