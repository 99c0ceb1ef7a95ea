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


@dataclass(frozen=True, slots=True)
class GateFacts:
    """How the same binary under the same configuration did in one gate at its newest version.

    `passed` counts instances passed, `wanted` all instances of the gate; `failed` holds the
    verdicts of judged runs that did not pass. A run that was refused or lost to the machine is in neither.
    """

    benchmark: str
    wanted: int
    passed: int
    failed: tuple[str, ...] = ()


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
    deleted: bool = False


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
    if run.verdict != "passed":
        return [f"its verdict is {run.verdict.replace('_', ' ')}"]
    reasons = _version_and_scale(run, board)
    reasons += _transactions(run)
    reasons += _measurement(run, board)
    for gate in gates:
        reasons += _gate(gate)
    return reasons


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


def _gate(gate: GateFacts) -> list[str]:
    """Ask that every instance was passed and none was judged otherwise."""
    if gate.failed:
        return [f"{gate.benchmark} tests: {gate.failed[0].replace('_', ' ')}"]
    if gate.wanted < 1:
        return [f"the gate {gate.benchmark} does not exist"]
    if gate.passed < gate.wanted:
        return [f"{gate.benchmark} tests have not passed yet"]
    return []
