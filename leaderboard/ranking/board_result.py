"""Finds the value of a board's metric, such as the total time, as the newest run of each entry measured it.

A board is a ranking of libraries. It does not rank by this value itself, but by the ratio of this value to the value of
the control library, the baseline (rank_intervals.py).
The total time is a column of the run. A metric that only one benchmark has is in the stored sessions of the run.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from leaderboard import catalogue
from leaderboard.submissions.report_columns import StoredSession
from results.metrics import TOTAL_MS, RankedBy, ranked_by

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from leaderboard.boards import Board
    from leaderboard.models import BoardEntry, Run


def shown_as(board: Board) -> RankedBy:
    """Return how tables show the metric of the board. Executes no SQL."""
    benchmark = catalogue.benchmarks().get(board.benchmark)
    return ranked_by(board.metric, benchmark.own_metrics if benchmark else ())


def with_results(entries: QuerySet[BoardEntry], board: Board) -> QuerySet[BoardEntry]:
    """Return the query with all that `result` needs, so that `result` executes no SQL."""
    if board.metric == TOTAL_MS:
        return entries
    unused = ("findings", "ratios", "series", "log", "machine_facts", "library_facts")
    return entries.select_related("run__detail").defer(*(f"run__detail__{name}" for name in unused))


def result(run: Run, board: Board) -> float | None:
    """Return the run's median of the board's metric over the sessions that count, or None if no session has it."""
    if board.metric == TOTAL_MS:
        return run.total_ms
    sessions = map(StoredSession.from_json, run.detail.sessions)
    values = [session.candidate.get(board.metric) for session in sessions if not session.discarded]
    known = [value for value in values if value is not None]
    return median(known) if known else None
