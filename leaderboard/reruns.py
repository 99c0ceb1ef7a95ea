"""Running once more: one run because somebody asks for it, or all that a new benchmark version made stale.

Each function is one transaction; bells ring after commit.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction

from leaderboard import bell, catalogue, claims, standing
from leaderboard.catalogue import Target
from leaderboard.fairness import Priority
from leaderboard.models import FINAL_STATES, Run, State, Submission
from leaderboard.new_runs import new_run
from leaderboard.services import Refused, may_change
from runner.contract import Verdict
from runner.manifest import Kind, RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import User


def rerun(run: Run, *, by: User) -> Run:
    """Queue a finished run once more, at the benchmark's newest version, behind all submissions; return the new run.

    Raises Refused when it has not ended, was refused, its target is gone, or the same waits or runs already.
    """
    may_change(run.submission, by)
    with transaction.atomic():
        if reason := _reason_against_rerun(run):
            raise Refused([reason])
        target = Target(run.benchmark, run.instance)
        again = new_run(
            run.submission,
            target,
            run.scale,
            run.sessions,
            priority=Priority.RERUN,
            wanted_class=class_of(run),
            verified=run.verified,
        )
        claims.enqueue(run.submission.owner_id, [again])
        transaction.on_commit(partial(bell.ring, bell.BENCH))
    return again


def class_of(run: Run) -> str:
    """Return the class of machines on which a run was, or is to be, run: when it is run again, its place is there."""
    return run.machine.machine_class if run.machine else run.wanted_class


def _reason_against_rerun(run: Run) -> str:
    """Return why a run is not run again, empty when it may be."""
    if not run.is_final or run.submission.deleted_at is not None:
        return "only a run that has ended, of a submission that was not deleted, can be run again"
    if run.verdict == Verdict.REFUSED:
        return "the file was refused: change it and submit it anew"
    target = Target(run.benchmark, run.instance)
    try:
        catalogue.parse_target(str(target))
    except RequestError as error:
        return str(error)
    same = run.submission.runs.filter(
        benchmark=run.benchmark, instance=run.instance, scale=run.scale, verified=run.verified
    )
    return "" if not same.exclude(state__in=FINAL_STATES).exists() else "it is queued already"


def rerun_stale() -> list[Run]:
    """Queue anew what stands on a board with older benchmark versions, and return the new runs.

    Gates count as well. Each (submission, target, scale, class of machines) is queued once per version, however often
    this is called; the new runs wait behind fresh submissions. Entries whose gates are out of date
    leave the board until those have passed.
    """
    with transaction.atomic():
        standing.lock()
        stale = list(_stale_targets())
        new = [
            run
            for submission, targets in stale
            for run in claims.enqueue(
                submission.owner_id,
                [
                    new_run(
                        submission,
                        target,
                        scale,
                        sessions,
                        priority=Priority.BATCH,
                        wanted_class=wanted_class,
                    )
                    for target, scale, sessions, wanted_class in targets
                ],
            )
        ]
        standing.refresh(
            Run.objects.select_related("submission", "machine").filter(
                submission__in=[submission for submission, _ in stale],
                kind=Kind.PERFORMANCE,
                state=State.DONE,
            )
        )
        if new:
            transaction.on_commit(partial(bell.ring, bell.BENCH))
    return new


def _stale_targets() -> Iterable[tuple[Submission, list[tuple[Target, str, int, str]]]]:
    """Yield submissions once eligible, with what they lack at the newest versions: target, scale, sessions, class."""
    ranked = Submission.objects.filter(
        deleted_at__isnull=True, runs__board_entries__isnull=False
    ).distinct()
    for submission in ranked.prefetch_related("runs__machine"):
        runs = [
            (run, "" if run.is_gate else class_of(run))
            for run in submission.runs.all()
            if not run.verified
        ]
        have = {(r.benchmark, r.instance, r.scale, r.benchmark_version, c) for r, c in runs}
        lacking: dict[tuple[Target, str, str], int] = {}
        for run, wanted_class in runs:
            version = catalogue.current_version(run.benchmark)
            key = (run.benchmark, run.instance, run.scale, version, wanted_class)
            if version is None or key in have:
                continue
            if run.instance in catalogue.benchmarks()[run.benchmark].instances:
                lacking[Target(run.benchmark, run.instance), run.scale, wanted_class] = run.sessions
        if lacking:
            yield submission, [(t, scale, n, where) for (t, scale, where), n in lacking.items()]
