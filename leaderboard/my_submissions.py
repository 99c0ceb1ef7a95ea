"""Reads the list of a user's uploads, with the ranks of each.

An upload of a whole library makes one submission. An upload of a structure, a data structure without locks, makes one
for each configuration, which says how Keydrome adds the locks. A *gate* is a correctness test that a board requires. A
*board* is a ranking of libraries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Exists, OuterRef, Prefetch, Q

from leaderboard.contests.visibility import secret_runs
from leaderboard.models import Run, Submission
from leaderboard.queries import PAGE_ROWS, SubmissionRow, live_tag, submission_row
from leaderboard.queue.queue_estimate import Wait, waits
from leaderboard.ranking_status import entries_of
from leaderboard.submission_page import TimedRun, timed_runs
from runner.terms import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User


@dataclass(frozen=True, slots=True)
class Upload:
    """An uploaded file: its submissions, one for each configuration, and their timed runs with ranks."""

    rows: tuple[SubmissionRow, ...]
    timed: tuple[TimedRun, ...]

    @property
    def first(self) -> Submission:
        """Return the first submission that has not been deleted."""
        return self.rows[0].submission

    @property
    def gate_runs(self) -> tuple[Run, ...]:
        """Return the gate runs of all configurations."""
        return tuple(run for row in self.rows for run in row.gate_runs)

    @property
    def all_runs(self) -> tuple[Run, ...]:
        """Return all runs of the upload."""
        return tuple(run for row in self.rows for run in row.all_runs)

    @property
    def refused_run(self) -> Run | None:
        """Return a run that says why the file was refused, or None if it was not."""
        return next((run for run in self.all_runs if run.verdict == Verdict.REFUSED), None)

    def benchmarks(self) -> list[tuple[TimedRun, ...]]:
        """Return, for each benchmark instance, the newest timed run of each submission.

        Ranked runs come first, the best rank first.
        """
        groups: dict[tuple[str, str], dict[int, TimedRun]] = {}
        for timed in self.timed:
            run = timed.run
            groups.setdefault((run.benchmark, run.instance), {})[run.submission_id] = timed
        return [tuple(sorted(group.values(), key=_best_first)) for group in groups.values()]


def _best_first(timed: TimedRun) -> tuple[bool, int, int]:
    first = timed.ranks[0] if timed.ranks else None
    return (first is None, first.position if first else 0, timed.run.pk)


@dataclass(frozen=True, slots=True)
class UploadPage:
    """One page of a user's uploads, newest first.

    `next_before` is the argument `before` of my_submissions for the next page; None on the last page.
    """

    uploads: tuple[Upload, ...]
    next_before: int | None
    waits: dict[int, Wait]  # the position and expected start of each queued run, by run id

    @property
    def all_runs(self) -> list[Run]:
        """Return all runs of the page."""
        return [run for upload in self.uploads for run in upload.all_runs]

    @property
    def live_tag(self) -> str:
        """Return a tag for an ETag header, which changes whenever the content of the page changes."""
        ranks = [rank for upload in self.uploads for timed in upload.timed for rank in timed.ranks]
        return live_tag(self.all_runs, self.waits, "; ".join(map(str, ranks)))


def my_submissions(user: User, *, before: int | None = None, limit: int = PAGE_ROWS) -> UploadPage:
    """Return a user's uploads whose first submission has an id below `before`, newest first.

    5 SQL statements. 4 more if a run is queued, and 2 more if a contest hides entries of boards on which the user has
    entries.
    """
    alive = Submission.objects.filter(upload=OuterRef("pk"), deleted_at__isnull=True)
    heads = Submission.objects.filter(
        Q(deleted_at__isnull=True) | Exists(alive), owner_id=user.pk, upload__isnull=True
    ).order_by("-id")
    if before is not None:
        heads = heads.filter(pk__lt=before)
    ids = list(heads.values_list("pk", flat=True)[: limit + 1])
    shown = ids[:limit]
    uploads = _uploads(shown, user)
    more = len(ids) > limit
    runs = [run for upload in uploads for run in upload.all_runs]
    return UploadPage(tuple(uploads), shown[-1] if more else None, waits(runs))


def _uploads(heads: Sequence[int], user: User) -> list[Upload]:
    """Return the uploads whose first submissions have these ids, in this order. At most 4 SQL statements."""
    # Contests hide no runs from the owner, except runs on hidden instances (with secret parameters).
    runs = Run.objects.filter(~secret_runs(user)).select_related("machine").order_by("id")
    found = (
        Submission.objects.filter(Q(pk__in=heads) | Q(upload__in=heads), deleted_at__isnull=True)
        .prefetch_related(Prefetch("runs", queryset=runs))
        .order_by("id")
    )
    rows: dict[int, list[SubmissionRow]] = {head: [] for head in heads}
    for submission in found:
        rows[submission.upload_id or submission.pk].append(submission_row(submission))
    every = [row for group in rows.values() for row in group]
    timed = timed_runs(every, entries_of([row.submission for row in every], user))
    return [
        Upload(
            rows=tuple(group),
            timed=tuple(one for row in group for one in timed[row.submission.pk]),
        )
        for group in rows.values()
        if group
    ]
