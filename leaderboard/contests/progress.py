"""Finds which results of running contests must be run again after a new benchmark version, and how many are missing.

A contest is running until the date of its results. After that it keeps its result, so nothing is run again for it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from leaderboard.contests.models import Contest, Entry
from leaderboard.models import FINAL_STATES, Run

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from leaderboard.boards import Board

_Key = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the entries of running contests have been run again with a board's staged version.

    A result is a submission on a benchmark instance and a machine class, as a contest counts it at the live version.

    - `results`: the number of results on this board, in all contests that have the board, and of results on hidden
      instances of the same benchmark, in all contests.
    - `missing`: how many of them lack a run with the staged version, or have a run or gate that has not ended.
    - `unqueued`: how many of them lack a run with the staged version, even one in the queue.
    """

    results: int
    missing: int
    unqueued: int


def counting_entries() -> QuerySet[Entry]:
    """Return the query for the entries of running contests that are neither disqualified nor deleted."""
    return Entry.objects.filter(
        contest__results_at__gt=timezone.now(),
        disqualified_at__isnull=True,
        submission__deleted_at__isnull=True,
    )


def counted_submissions() -> QuerySet[Entry, int]:
    """Return the query for the ids of submissions in running contests that have an accepted run.

    A run is accepted if a board accepted it while the run's benchmark version was the newest (Run.ranked_on). Not only
    the best submissions of a team count, because the jury may still disqualify better ones.
    """
    accepted = Run.objects.filter(submission=OuterRef("submission")).exclude(ranked_on=[])
    return counting_entries().filter(Exists(accepted)).values_list("submission_id", flat=True)


def progress(board: Board, *, live: int, staged: int) -> Progress:
    """Return how far running contests are with a board's staged version. 2 SQL statements.

    The numbers include entries that contests hide from the organiser, because the numbers do not show whose they are.
    """
    counted: set[_Key] = set()
    states: defaultdict[_Key, list[str]] = defaultdict(list)
    gates: set[int] = set()
    for run in _runs(board, (live, staged)):
        machine_class = run.machine.machine_class if run.machine else run.wanted_class
        key = (run.submission_id, run.instance, machine_class)
        if run.is_gate:
            gates.add(run.submission_id)
        elif run.benchmark_version == staged:
            states[key].append(run.state)
        elif run.ranked_on if run.hidden_id else board.slug in run.ranked_on:
            counted.add(key)
    return Progress(
        results=len(counted),
        missing=sum(
            key[0] in gates
            or not states[key]
            or any(state not in FINAL_STATES for state in states[key])
            for key in counted
        ),
        unqueued=sum(not states[key] for key in counted),
    )


def _runs(board: Board, versions: tuple[int, int]) -> list[Run]:
    """Return the timed runs of these versions, and the open gates, of entries that count. 2 SQL statements."""
    now = timezone.now()
    running = Contest.objects.filter(results_at__gt=now).only("boards")
    contests = [contest.pk for contest in running if board.slug in contest.boards]
    on_board = Q(
        hidden=None, instance=board.instance, submission__contest_entries__contest__in=contests
    )
    on_hidden = Q(
        hidden__removed_at=None,
        hidden__contest__results_at__gt=now,
        submission__contest_entries__contest=F("hidden__contest"),
    )
    timed = Q(benchmark=board.benchmark, benchmark_version__in=versions) & (on_board | on_hidden)
    gates = (
        Q(benchmark__in=board.gates)
        & ~Q(state__in=FINAL_STATES)
        & Q(submission__contest_entries__contest__results_at__gt=now)
    )
    # All conditions are in one call of filter(): Django lets two calls match different entries of the submission.
    found = Run.objects.filter(
        timed | gates,
        submission__contest_entries__disqualified_at__isnull=True,
        submission__deleted_at__isnull=True,
        verified=False,
    )
    return list(found.select_related("machine").defer("seeds", "why_not"))
