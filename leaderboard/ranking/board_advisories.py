"""Finds the advisory findings (warnings) that a board shows with an entry. A board is a ranking of libraries.

Most advisory findings are only on the page of their run. A board shows those that a reader of the ranks should know:
that memory grows without bound, and that the library may read its next calls in the memory of its caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Q

from leaderboard import catalogue
from leaderboard.models import RunDetail
from results.look_ahead import LOOK_AHEAD
from runner.terms import Severity, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaderboard.boards import Board

MEMORY_GROWTH = "memory_growth"
_SHOWN = (LOOK_AHEAD, MEMORY_GROWTH)
_GROWTH = "growth_per_transaction"  # a metric that the benchmark `scenarios` reports


def advisories_of(
    board: Board, version: int, machine_class: str, digests: Sequence[str]
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the shown advisory findings of each binary, by digest and configuration. 1 SQL statement.

    Two kinds of runs count: runs of the board's gates (required correctness benchmarks) at their newest versions, and
    runs on the board's benchmark instance on this machine class. If several runs have the same finding, the finding of
    the newest run is returned. A finding is returned as its name, a text and the id of its run.
    """
    target = Q(
        run__benchmark=board.benchmark,
        run__instance=board.instance,
        run__benchmark_version=version,
        run__machine__machine_class=machine_class,
    )
    for gate in board.gates:
        target |= Q(
            run__benchmark=gate, run__benchmark_version=catalogue.current_version(gate) or 0
        )
    stored = (
        RunDetail.objects.filter(
            target,
            run__verdict__in=[Verdict.PASSED, Verdict.FAILED],
            run__submission__blob_sha256__in=digests,
            run__submission__deleted_at__isnull=True,
        )
        .order_by("pk")
        .values_list(
            "run__submission__blob_sha256",
            "run__submission__configuration",
            "pk",
            "findings",
            "sessions",
        )
    )
    found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for digest, configuration, run_id, findings, sessions in stored:
        for finding in findings:
            name, severity = finding["name"], finding["severity"]
            if name in _SHOWN and severity == Severity.ADVISORY:
                shown = {"name": name, "text": _text(name, sessions), "run": run_id}
                found.setdefault((digest, configuration), {})[name] = shown
    return {key: sorted(rows.values(), key=lambda row: row["name"]) for key, rows in found.items()}


def _text(name: str, sessions: Sequence[dict[str, Any]]) -> str:
    """Return what the board shows after the name of a finding; an empty text if it shows only the name.

    For look_ahead, this is what the name means; for memory_growth, the bytes per transaction by which memory grows.
    """
    if name == LOOK_AHEAD:
        return "warning: the library may read its next calls in advance"
    values = [session["candidate"].get(_GROWTH) for session in sessions]
    grown = [value for value in values if value is not None]
    return f"{max(grown):,.0f} bytes per transaction" if name == MEMORY_GROWTH and grown else ""
