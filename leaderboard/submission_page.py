"""Reads what a submission's page shows: its gates, its timed runs with their ranks, and its history.

The history consists of the owner's submissions with the same file name. A *gate* is a correctness test that a board
(a ranking of libraries) requires. An *audit* repeats a run in a mode in which a process other than the library's makes
every call. Everyone may see the page unless a contest hides the submission. Only organisers see a deleted submission.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Prefetch, Q

from leaderboard.boards import Board, boards_for
from leaderboard.contests.visibility import hidden_submissions, unseen_runs
from leaderboard.models import Run, State, Submission
from leaderboard.queries import (
    SubmissionRow,
    is_organiser,
    live_tag,
    may_change_submission,
    submission_row,
)
from leaderboard.queue.queue_estimate import Wait, waits
from leaderboard.ranking.eligibility import gate_in, names_an_audit
from leaderboard.ranking_status import (
    BoardRank,
    Reason,
    counts_on_hidden,
    entries_of,
    may_have_rank,
    status,
)
from runner.terms import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.db.models import QuerySet

    from leaderboard.models import BoardEntry
    from leaderboard.viewer import Viewer

HISTORY_ROWS = 20


@dataclass(frozen=True, slots=True)
class TimedRun:
    """A timed run, the boards of its benchmark instance, and its ranks on them.

    `reason` says why one of the boards does not rank the run, and which other run is the cause. It is None if no board
    has a reason.
    """

    run: Run
    boards: tuple[Board, ...]
    ranks: tuple[BoardRank, ...]
    reason: Reason | None


@dataclass(frozen=True, slots=True)
class SubmissionDetail:
    """The content of a submission's page.

    `history` has the owner's submissions of the same file name, newest first. `variants` has the other submissions of
    the same upload, which have other configurations.
    """

    row: SubmissionRow
    timed: tuple[TimedRun, ...]
    waits: dict[int, Wait]
    history: tuple[Submission, ...]
    variants: tuple[Submission, ...]
    may_change: bool

    @property
    def live_tag(self) -> str:
        """Return a tag for an ETag header, which changes whenever the page would show other states or ranks."""
        ranks = [rank for timed in self.timed for rank in timed.ranks]
        return live_tag(self.row.all_runs, self.waits, "; ".join(map(str, ranks)))


def submission_detail(submission_id: int, viewer: Viewer) -> SubmissionDetail | None:
    """Return the content of a submission's page, or None if the viewer may not see it.

    7 SQL statements. 4 more if a run is queued, and 2 more if a contest hides entries of boards on which the owner has
    entries.
    """
    runs = Run.objects.filter(~unseen_runs(viewer)).select_related("machine").order_by("id")
    found = Submission.objects.select_related("owner").prefetch_related(
        Prefetch("runs", queryset=runs)
    )
    if not is_organiser(viewer):
        found = found.filter(deleted_at__isnull=True)
    submission = _shown(found, viewer).filter(pk=submission_id).first()
    if submission is None:
        return None
    row = submission_row(submission)
    return SubmissionDetail(
        row=row,
        timed=tuple(timed_runs([row], entries_of([submission], viewer))[submission.pk]),
        variants=tuple(_shown(variants(submission), viewer)),
        waits=waits(row.all_runs),
        history=tuple(_history(submission, viewer)),
        may_change=may_change_submission(submission, viewer),
    )


def timed_runs(
    rows: Iterable[SubmissionRow], entries: Sequence[BoardEntry]
) -> dict[int, list[TimedRun]]:
    """Return the timed runs of each submission, by its id, with their ranks. Executes no SQL.

    `entries` has what ranking_status.entries_of returns for the submissions.
    """
    return {row.submission.pk: [_timed_run(run, row, entries) for run in row.runs] for row in rows}


def _timed_run(run: Run, row: SubmissionRow, entries: Sequence[BoardEntry]) -> TimedRun:
    run.submission = row.submission  # known already, so no SQL statement loads it
    boards = boards_for(run.benchmark, run.instance)
    if may_have_rank(run):
        found = status(run, entries)
        if run.eligible or found.ranks:
            return TimedRun(run, boards, found.ranks, next(iter(found.why_not), None))
    if counts_on_hidden(run):
        return TimedRun(run, boards, (), None)
    deciding = _deciding_run(run, row)
    reason = Reason(run.why_not[0], deciding.pk if deciding else None) if run.why_not else None
    return TimedRun(run, boards, (), reason)


def _deciding_run(run: Run, row: SubmissionRow) -> Run | None:
    """Return the gate or audit that keeps this run off the boards, if the run's first reason names one."""
    reason = run.why_not[0] if run.why_not else ""
    if gate := gate_in(reason):
        gates = [one for one in row.gate_runs if one.benchmark == gate]
        return next((one for one in gates if one.verdict != Verdict.PASSED), None)
    if names_an_audit(reason):
        audits = [one for one in row.audits if one.is_final and one.verdict != Verdict.PASSED]
        return audits[0] if audits else None
    return None


def variants(submission: Submission) -> QuerySet[Submission]:
    """Return the other submissions of the same upload that have not been deleted. Executes no SQL itself."""
    first = submission.upload_id or submission.pk
    same = Submission.objects.filter(Q(pk=first) | Q(upload=first), deleted_at__isnull=True)
    return same.exclude(pk=submission.pk).order_by("id")


def _shown(submissions: QuerySet[Submission], viewer: Viewer) -> QuerySet[Submission]:
    """Leave out the submissions that a contest hides from this viewer."""
    return submissions.filter(~hidden_submissions(viewer))


def _history(submission: Submission, viewer: Viewer) -> list[Submission]:
    """Return the owner's submissions of this file name, with their finished timed runs. 2 SQL statements."""
    done = Run.objects.filter(kind="performance", state=State.DONE, verified=False).defer("seeds")
    timed = done.filter(~unseen_runs(viewer))
    same = Submission.objects.filter(
        owner_id=submission.owner_id, file_name=submission.file_name, deleted_at__isnull=True
    )
    loaded = _shown(same, viewer).prefetch_related(Prefetch("runs", queryset=timed.order_by("id")))
    return list(loaded.order_by("-id")[:HISTORY_ROWS])


def scores(submission: Submission) -> dict[tuple[str, str], Run]:
    """Return the newest scored run on each benchmark instance. Needs loaded runs, and executes no SQL."""
    scored = [run for run in submission.runs.all() if run.score is not None]
    return {(run.benchmark, run.instance): run for run in scored}
