"""Decides whether a run may be ranked on a board, from facts about the run. This file uses no database.

A *board* ranks libraries on one benchmark instance. A *gate* is a correctness benchmark that a board requires the same
library to pass. An *audit* repeats a run in verified mode, in which a process that does not contain the library makes
every call. A *session* is one repetition of a run. `reasons_against` is the only function that decides, so the board,
the run's page and the export always agree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leaderboard.boards import jail_suffices
from results.counts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaderboard.boards import Board


# The finding "a transaction did not see data that was committed before the transaction began". Some boards accept it.
STALE_READ = "stale_read"
_STALE_MEANS = "a transaction missed data committed before the transaction began"
_ALL_COMPLETE = ", and a board requires that all complete: correct the library and submit it again"
# The beginnings of reasons that name a gate (see _gate) or an audit. Pages link such a reason to the run that it names.
_NAMED_GATE = re.compile(r"the (\w+) tests (?:found|did not pass|have not passed)")
_AUDIT = "an audit of this library"


@dataclass(frozen=True, slots=True)
class GateRun:
    """A judged run of a gate. The findings named in `decisive_findings` decide whether boards accept the run.

    A run counts as judged if its file was not refused and the site did not fail.
    """

    instance: str
    verdict: str
    decisive_findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GateFacts:
    """A gate's instances, and the gate's judged runs of one binary under one configuration.

    Only runs of the gate's newest version are included.
    """

    benchmark: str
    instances: tuple[str, ...]
    runs: tuple[GateRun, ...] = ()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts about one run that decide whether it may be ranked. None means unknown."""

    benchmark_version: int
    current_version: int | None
    scale: str
    machine_class: str  # empty: unknown
    state: str
    verdict: str
    sessions: int
    score: float | None
    transactions_failed: int | None
    transactions_completed: int | None
    transactions_planned: int | None
    jail_level: str
    decisive_findings: tuple[str, ...] = ()
    deleted: bool = False
    verified: bool = False
    why_excluded: str = ""  # why the machine was excluded from ranking when the run ended
    audit_verdict: str = (
        ""  # the verdict of a failed audit of the same binary; empty: no audit failed
    )


def reasons_against(run: RunFacts, board: Board, gates: Sequence[GateFacts]) -> list[str]:
    """Return the reasons why the run is not ranked on the board, most important first; empty if it may be ranked.

    The reasons complete the sentence "not ranked because ...". `gates` has one entry per gate of the board.
    """
    if run.deleted:
        return ["the owner deleted the submission"]
    if run.state == "cancelled":
        return ["the run was cancelled"]
    if run.state != "done":
        return ["the run has not finished yet"]
    if run.verified:
        return [
            "the run is an audit, in which every call takes longer: its times can be compared only with other audits"
        ]
    if run.verdict != "passed":
        return [f"the run did not pass (verdict: {run.verdict.replace('_', ' ')})"]
    reasons = _setting(run, board)
    reasons += _transactions(run)
    reasons += _measurement(run, board)
    if run.why_excluded:
        reasons.append(
            f"the run's machine was excluded from ranking ({run.why_excluded}): repeat the run later"
        )
    if run.audit_verdict:
        verdict = run.audit_verdict.replace("_", " ")
        reasons.append(
            f"{_AUDIT}, in which another process makes the calls, did not pass (verdict: {verdict})"
        )
    if board.strict and STALE_READ in run.decisive_findings:
        reasons.append(
            "the run's spot check, an extra judged session, found a stale read "
            f"({_STALE_MEANS}), {_not_accepted(board)}"
        )
    for gate in gates:
        reasons += _gate(gate, board)
    return reasons


def has_only_stale_reads(verdict: str, decisive_findings: Sequence[str]) -> bool:
    """Return True if stale reads are the only reason why a run failed."""
    return verdict == "failed" and set(decisive_findings) == {STALE_READ}


def named(board: Board) -> str:
    """Return what the reasons call the board. Most reasons that only some boards have contain this text."""
    return f"the board {board.title}"


def _not_accepted(board: Board) -> str:
    return f"which {named(board)} does not accept"


def gate_in(reason: str) -> str:
    """Return the gate that a reason names, or an empty text. Pages link such a reason to the run of the gate."""
    found = _NAMED_GATE.match(reason)
    return found[1] if found else ""


def names_an_audit(reason: str) -> bool:
    """Return True if the reason is that an audit did not pass."""
    return reason.startswith(_AUDIT)


def _setting(run: RunFacts, board: Board) -> list[str]:
    """Check that the run used the newest benchmark version, at a scale and on a machine that the board accepts."""
    reasons = []
    if run.current_version is None:
        reasons.append(f"the benchmark {board.benchmark} no longer exists")
    elif run.benchmark_version != run.current_version:
        reasons.append(
            f"the run used version {run.benchmark_version} of the benchmark; "
            f"the newest is version {run.current_version}: repeat the run"
        )
    if run.scale not in board.scales:
        scales = " or ".join(board.scales)
        reasons.append(
            f"the run used the benchmark at {run.scale} scale (size); "
            f"{named(board)} requires {scales} scale. The site chooses the scale: "
            f"ask an organiser for a run at {scales} scale"
        )
    if not board.accepts_machine(run.machine_class):
        own = f"the class “{run.machine_class}”" if run.machine_class else "no known class"
        reasons.append(
            f"the machine of the run has {own}; "
            f"{named(board)} requires {_machine_classes(board)}. "
            "The site chooses the machine: ask an organiser for a run on such a machine"
        )
    return reasons


def _machine_classes(board: Board) -> str:
    """Return in words the machine classes that the board accepts. A class begins with the processor; * is any text."""
    classes = [
        f"“{pattern.replace('*, ', 'any processor, ', 1) if pattern.startswith('*, ') else pattern}”"
        for pattern in board.machines
    ]
    text = f"the class {' or '.join(classes)}"
    return f"{text} (* is any text)" if "*" in text else text


def _transactions(run: RunFacts) -> list[str]:
    """Check that the report has the transaction counts, and that every planned transaction completed."""
    failed, completed = run.transactions_failed, run.transactions_completed
    if failed is None or completed is None:
        return ["the run's report does not say whether all transactions completed: repeat the run"]
    total = failed + completed if run.transactions_planned is None else run.transactions_planned
    if failed:
        some = f"{failed:,} of {counted(max(total, failed), 'transaction')}"
        return [f"{some} failed (did not end as the benchmark demands){_ALL_COMPLETE}"]
    if completed < total:
        left = f"{total - completed:,} of {counted(total, 'transaction')}"
        return [f"{left} did not complete{_ALL_COMPLETE}"]
    return []


def _measurement(run: RunFacts, board: Board) -> list[str]:
    """Check that the run has a score, enough sessions and a strong enough jail."""
    reasons = []
    if run.score is None:
        reasons.append(
            "the run has no score, because the control library (the baseline) was not measured in the same sessions: "
            "repeat the run"
        )
    if run.sessions < board.minimum_sessions:
        reasons.append(
            f"the run has {counted(run.sessions, 'session')} (repetitions of the benchmark); "
            f"{named(board)} requires at least {board.minimum_sessions}. "
            "Ask an organiser for a run with more sessions"
        )
    if not jail_suffices(run.jail_level, board.jail_level):
        again = "" if run.jail_level else "repeat the run, or "
        reasons.append(
            f"{_isolation(run)}; {named(board)} requires {board.jail_level} isolation. The library is not the cause: "
            f"{again}ask an organiser for a run on a machine with {board.jail_level} isolation"
        )
    return reasons


def _isolation(run: RunFacts) -> str:
    """Return how well the jail of the run isolated the library from the machine."""
    if not run.jail_level:
        return "the run's report does not say how well the sandbox (jail) isolated the library from the machine"
    level = "no" if run.jail_level == "none" else run.jail_level
    return f"the sandbox (jail) of the run gave {level} isolation from the machine"


def _gate(gate: GateFacts, board: Board) -> list[str]:
    """Check that the binary passed every instance of the gate and never failed one.

    A binary that failed once stays excluded, even if it passes another time. If the board is not strict, a run that
    found only stale reads counts as passed.
    """
    passed = set()
    for run in gate.runs:
        stale = has_only_stale_reads(run.verdict, run.decisive_findings)
        if run.verdict == "passed" or (stale and not board.strict):
            passed.add(run.instance)
        elif stale:
            return [
                f"the {gate.benchmark} tests found a stale read ({_STALE_MEANS}), {_not_accepted(board)}"
            ]
        else:
            return [
                f"the {gate.benchmark} tests did not pass (verdict: {run.verdict.replace('_', ' ')})"
            ]
    if not gate.instances:
        return [
            f"{named(board)} requires the {gate.benchmark} tests, which this site does not have: tell an organiser"
        ]
    if not passed.issuperset(gate.instances):
        return [
            (
                f"the {gate.benchmark} tests have not passed yet: wait until they have ended; "
                "if none is queued or running, submit the library again"
            )
        ]
    return []
