"""Repeats runs: a single run on request, or, after a new benchmark version, all outdated runs that boards count.

A run tests or times one submitted library on one benchmark.
`rerun` and `rerun_stale` each execute one transaction. After the commit they wake the bench workers, which execute
runs.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Prefetch, Q

from leaderboard import catalogue
from leaderboard.catalogue import Target
from leaderboard.contests.progress import counted_submissions, counting_entries
from leaderboard.models import FINAL_STATES, Run, State, Submission
from leaderboard.queue import claims, quotas, wakeup
from leaderboard.queue.fairness import Priority
from leaderboard.ranking import board_entries
from leaderboard.services import Refused, may_change
from leaderboard.submissions.new_runs import new_run
from runner.manifest import Kind
from runner.terms import Verdict

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from leaderboard.contests.models import HiddenInstance


def rerun(run: Run, *, by: User) -> Run:
    """Repeat a finished run with the benchmark's newest version: queue a new run, and return it.

    The new run has a lower priority than new submissions. Raises Refused in these cases:

    - The run has not ended, or its submission was deleted.
    - The file was refused.
    - The run plays a hidden instance, i.e. one whose parameters a contest keeps secret.
    - The benchmark instance no longer exists.
    - A run of the same submission, benchmark instance and scale is already queued or running. (If one of the two runs
      is an audit and the other is not, they do not conflict.)
    - The user's quota of repeated sessions is used up.
    """
    may_change(run.submission, by)
    with transaction.atomic():
        reason = ""
        if run.hidden_id is not None:
            reason = "the run plays a hidden instance, so only the officials of the contest can repeat the run"
        reason = (
            reason
            or _reason_against_rerun(run)
            or quotas.reason_against_repetitions(by, run.sessions)
        )
        if reason:
            raise Refused([reason])
        return _queue_again(run)


def repeat(run: Run) -> Run:
    """Repeat a run as `rerun` does, without a quota, for a caller that has checked the rights itself."""
    with transaction.atomic():
        if reason := _reason_against_rerun(run):
            raise Refused([reason])
        return _queue_again(run)


def _queue_again(run: Run) -> Run:
    again = new_run(
        run.submission,
        Target(run.benchmark, run.instance),
        run.scale,
        run.sessions,
        priority=Priority.RERUN,
        wanted_class=class_of(run),
        verified=run.verified,
        hidden=run.hidden,
    )
    claims.enqueue(run.submission.owner_id, [again])
    transaction.on_commit(partial(wakeup.wake, wakeup.BENCH))
    return again


def class_of(run: Run) -> str:
    """Return the machine class on which a run executed or, if it has no machine yet, the class that it wants.

    A rerun must use the same class, because boards compare only runs of the same machine class.
    """
    return run.machine.machine_class if run.machine else run.wanted_class


def _reason_against_target(run: Run) -> str:
    """Return that the run's benchmark or instance no longer exists, and what to do; an empty text if both exist."""
    again = "submit the file again"
    if run.is_gate:
        again += ", which queues the present correctness tests"
    else:
        again += " and choose another benchmark instance"
    benchmark = catalogue.benchmarks().get(run.benchmark)
    if benchmark is None:
        return f"the benchmark {run.benchmark} no longer exists: {again}"
    instance = run.hidden.instance if run.hidden else run.instance
    if instance not in benchmark.instances:
        return f"the benchmark {run.benchmark} no longer has the instance {instance!r}: {again}"
    return ""


def _reason_against_rerun(run: Run) -> str:
    """Return why a run cannot be repeated; an empty text if it can."""
    if run.submission.deleted_at is not None:
        return (
            "the submission of this run was deleted, so its file can no longer run: "
            "only the owner can submit the file again"
        )
    if not run.is_final:
        return "the run has not ended yet: wait until the run ends, or cancel it"
    if run.verdict == Verdict.REFUSED:
        return "the file was refused, so it cannot run: correct the file and submit it again"
    if reason := _reason_against_target(run):
        return reason
    same = run.submission.runs.filter(
        benchmark=run.benchmark, instance=run.instance, scale=run.scale, verified=run.verified
    )
    is_open = same.exclude(state__in=FINAL_STATES).exists()
    if not is_open:
        return ""
    return (
        "another run of this submission on the same benchmark instance is queued or running already: "
        "wait until that run ends"
    )


def rerun_stale() -> list[Run]:
    """Queue new runs for entries whose timed runs or gates used older benchmark versions; return the new runs.

    Three kinds of submissions get new runs:

    - Those with an entry on a board of the site.
    - Those that running contests count, also on hidden instances.
    - Those with an unfinished run of an older version.

    The new runs have a lower priority than new submissions and single reruns. A second call queues only missing runs,
    because each combination of submission, instance, scale and machine class is queued once per benchmark version. An
    entry with an outdated gate (required correctness test) leaves the board and returns when the gate has passed at the
    newest version.

    Queued runs of older versions are cancelled, because no worker of this site's version can execute them.
    """
    with transaction.atomic():
        board_entries.lock()
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
                        hidden=hidden,
                    )
                    for target, scale, sessions, wanted_class, hidden in targets
                ],
            )
        ]
        _cancel_overtaken()
        board_entries.refresh(
            Run.objects.select_related("submission", "machine").filter(
                submission__in=[submission for submission, _ in stale],
                kind=Kind.PERFORMANCE,
                state=State.DONE,
            )
        )
        if new:
            transaction.on_commit(partial(wakeup.wake, wakeup.BENCH))
    return new


def _overtaken() -> QuerySet[Run]:
    """Return the query for the runs that have not ended and whose benchmark has a newer version."""
    older = Q(pk__in=())
    for name, benchmark in catalogue.benchmarks().items():
        older |= Q(benchmark=name) & ~Q(benchmark_version=benchmark.version)
    return Run.objects.filter(older).exclude(state__in=FINAL_STATES)


def _cancel_overtaken() -> None:
    waiting = _overtaken().filter(state=State.QUEUED)
    cancelled = list(waiting.values_list("pk", flat=True))
    claims.cancel_waiting(waiting)
    Run.objects.filter(pk__in=cancelled, state=State.CANCELLED).update(
        reason="not run, because the benchmark has a newer version now: look for a run of that version on the "
        "submission's page; if there is none, repeat this run, which then uses the newer version"
    )


_Missing = tuple[Target, str, int, str, "HiddenInstance | None"]


def _stale_targets() -> Iterable[tuple[Submission, list[_Missing]]]:
    """Yield each submission that counts and lacks runs at the newest benchmark versions, with these runs.

    Each missing run is a tuple of target, scale, number of sessions, machine class and hidden instance. 5 SQL
    statements.
    """
    ranked = Submission.objects.filter(
        Q(runs__board_entries__spare=False)
        | Q(pk__in=counted_submissions())
        | Q(pk__in=_overtaken().filter(verified=False).values("submission")),
        deleted_at__isnull=True,
    ).distinct()
    entries = Prefetch("contest_entries", queryset=counting_entries())
    for submission in ranked.prefetch_related("runs__machine", "runs__hidden", entries):
        contests = {entry.contest_id for entry in submission.contest_entries.all()}
        runs = [
            (run, "" if run.is_gate else class_of(run))
            for run in submission.runs.all()
            if not run.verified
        ]
        have = {(r.benchmark, r.instance, r.scale, r.benchmark_version, c) for r, c in runs}
        lacking: dict[tuple[Target, str, str], Run] = {}
        for run, wanted_class in runs:
            version = catalogue.current_version(run.benchmark)
            key = (run.benchmark, run.instance, run.scale, version, wanted_class)
            if version is not None and key not in have and _is_playable(run, contests):
                lacking[Target(run.benchmark, run.instance), run.scale, wanted_class] = run
        if lacking:
            yield (
                submission,
                [
                    (t, scale, r.sessions, wanted, r.hidden)
                    for (t, scale, wanted), r in lacking.items()
                ],
            )


def _is_playable(run: Run, contests: Container[int]) -> bool:
    """Return True if the run's instance still exists. A hidden instance must belong to one of these contests."""
    hidden = run.hidden
    instances = catalogue.benchmarks()[run.benchmark].instances
    if hidden is None:
        return run.instance in instances
    return (
        hidden.removed_at is None and hidden.contest_id in contests and hidden.instance in instances
    )
