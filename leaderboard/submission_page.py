"""Reads the page of one submission: its gates, its timed runs with their ranks, and the owner's other versions of it.

A *gate* is a correctness test that a board requires. Everyone may see the page, like the pages of its runs; only
organisers see a deleted submission.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Prefetch

from leaderboard.boards import Board, boards_for
from leaderboard.contests.visibility import hidden_runs, hidden_submissions
from leaderboard.models import BoardEntry, Run, State, Submission
from leaderboard.queries import (
    BoardRank,
    SubmissionRow,
    is_organiser,
    may_change_submission,
    submission_row,
)
from leaderboard.queue.queue_estimate import Wait, waits

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from leaderboard.queries import Viewer

HISTORY_ROWS = 20


@dataclass(frozen=True, slots=True)
class TimedRun:
    """A timed run, the boards of its benchmark instance, and its ranks on them."""

    run: Run
    boards: tuple[Board, ...]
    ranks: tuple[BoardRank, ...]


@dataclass(frozen=True, slots=True)
class SubmissionDetail:
    """The content of a submission's page. `history` has the owner's submissions of the same file name, newest first."""

    row: SubmissionRow
    timed: tuple[TimedRun, ...]
    waits: dict[int, Wait]
    history: tuple[Submission, ...]
    may_change: bool


def submission_detail(submission_id: int, viewer: Viewer) -> SubmissionDetail | None:
    """Return the content of a submission's page, or None if the viewer may not see it.

    5 SQL statements, and 4 more if a run is queued.
    """
    runs = _not_hidden(Run.objects.select_related("machine"), viewer).order_by("id")
    found = Submission.objects.select_related("owner").prefetch_related(
        Prefetch("runs", queryset=runs)
    )
    if not is_organiser(viewer):
        found = found.filter(~hidden_submissions(viewer), deleted_at__isnull=True)
    submission = found.filter(pk=submission_id).first()
    if submission is None:
        return None
    row = submission_row(submission)
    return SubmissionDetail(
        row=row,
        timed=_timed(row),
        waits=waits(row.all_runs),
        history=tuple(_history(submission, viewer)),
        may_change=may_change_submission(submission, viewer),
    )


def _timed(row: SubmissionRow) -> tuple[TimedRun, ...]:
    """Return the timed runs with their ranks. 1 SQL statement."""
    submission = row.submission
    entries: dict[tuple[str, int], BoardEntry] = {}
    for entry in BoardEntry.objects.filter(
        user_id=submission.owner_id,
        blob_sha256=submission.blob_sha256,
        configuration=submission.configuration,
        position__isnull=False,
    ).defer("ratios", "advisories"):
        entries[entry.board, entry.benchmark_version] = entry
    found = []
    for run in row.runs:
        boards = boards_for(run.benchmark, run.instance)
        ranks = [
            BoardRank(board, placed.rank_low or 0, placed.rank_high or 0)
            for board in boards
            if board.slug in run.ranked_on
            and (placed := entries.get((board.slug, run.benchmark_version))) is not None
        ]
        found.append(TimedRun(run, boards, tuple(ranks)))
    return tuple(found)


def _not_hidden(runs: QuerySet[Run], viewer: Viewer) -> QuerySet[Run]:
    """Leave out the runs that a contest hides from this viewer."""
    if is_organiser(viewer):
        return runs
    return runs.filter(
        ~hidden_runs(submission="submission", finished_at="finished_at", viewer=viewer)
    )


def _history(submission: Submission, viewer: Viewer) -> list[Submission]:
    """Return the owner's submissions of this file name, with their finished timed runs. 2 SQL statements."""
    done = Run.objects.filter(kind="performance", state=State.DONE, verified=False).defer("seeds")
    timed = _not_hidden(done, viewer)
    same = Submission.objects.filter(
        owner_id=submission.owner_id, file_name=submission.file_name, deleted_at__isnull=True
    )
    if not is_organiser(viewer):
        same = same.filter(~hidden_submissions(viewer))
    loaded = same.prefetch_related(Prefetch("runs", queryset=timed.order_by("id")))
    return list(loaded.order_by("-id")[:HISTORY_ROWS])


def scores(submission: Submission) -> dict[tuple[str, str], Run]:
    """Return the newest scored run on each benchmark instance. Needs loaded runs, and executes no SQL."""
    scored = [run for run in submission.runs.all() if run.score is not None]
    return {(run.benchmark, run.instance): run for run in scored}
