"""Every write that a user, an organiser or a worker can cause. Read this first.

Each function is one transaction; bells ring after commit. Functions that a person calls take `by`
and raise PermissionDenied unless that person owns the thing or is an organiser (is_staff).
"""

from __future__ import annotations

import errno
import logging
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from leaderboard import bell, catalogue, claims, machines, quotas, standing
from leaderboard.models import (
    ACTIVE_STATES,
    MAX_DESCRIPTION,
    Kind,
    Run,
    RunDetail,
    State,
    Submission,
)
from leaderboard.new_runs import new_run
from leaderboard.refusals import reasons_against_file
from leaderboard.summaries import summarise
from runner.contract import Verdict
from runner.elf import inspect_library, refusal_findings
from runner.manifest import Kind as BenchmarkKind
from runner.manifest import RequestError
from runner.settings import load_settings
from runner.store import BlobStore, BlobTooLargeError
from runner.text import display_name, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    from leaderboard.catalogue import Target
    from runner.contract import RunReport
    from runner.elf import LibraryFacts, Refusal
    from runner.store import Blob

_log = logging.getLogger(__name__)

MAX_SESSIONS = 99


class Refused(Exception):  # noqa: N818 - not a fault of the program
    """A request that cannot become a submission; `messages` say what is wrong and what to do."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("; ".join(messages))
        self.messages = tuple(messages)


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep did."""

    requeued: tuple[int, ...]
    given_up: tuple[int, ...]
    cancelled: tuple[int, ...]


def submit(
    *,
    owner: User,
    file: BinaryIO,
    file_name: str,
    description: str = "",
    targets: Sequence[Target],
    configuration: str = "",
    scale: str | None = None,
    sessions: int | None = None,
    trusted: bool = False,
    reference: bool = False,
) -> Submission:
    """Store an uploaded file and queue it on `targets` and on every gate; return the submission.

    The blob is stored first, then the rows appear in one transaction. `scale` and `sessions` default to
    KEYDROME_SCALE and KEYDROME_SESSIONS; gates run one session. `trusted` and `reference` are for the libraries of
    this repository: the one allows more shared objects, the other lifts the limit per user on boards.

    A file that the inspection refuses, or that does not fit the configuration, is a submission too: its runs are done
    at once, with the verdict "refused" and the reasons. Faults in refusals.BENCH_DECIDES are left to the worker.

    Raises Refused, and then creates no row, for what cannot be a submission: a file above the limit, an unknown
    target, scale or configuration, no target at all.
    """
    wanted_scale = scale or settings.KEYDROME_SCALE
    wanted_sessions = settings.KEYDROME_SESSIONS if sessions is None else sessions
    planned = _plan(targets, wanted_scale, wanted_sessions, configuration)
    blob, facts = _take_in(file, trusted=trusted)
    refusals = reasons_against_file(facts, configuration)
    with transaction.atomic():
        if refusals:
            standing.lock()
        elif reason := quotas.reason_against(owner):
            raise Refused([reason])
        submission = Submission.objects.create(
            owner=owner,
            description=printable(" ".join(description.split()))[:MAX_DESCRIPTION],
            file_name=display_name(file_name),
            blob_sha256=blob.sha256,
            size_bytes=blob.size_bytes,
            kind=Kind(facts.kind.value),
            configuration=configuration,
            facts=facts.to_json(),
            trusted=trusted,
            reference=reference,
        )
        runs = [
            new_run(submission, target, run_scale, wanted_sessions) for target, run_scale in planned
        ]
        if refusals:
            _refuse(Run.objects.bulk_create(runs), refusals, facts)
        else:
            claims.enqueue(owner.pk, runs)
            transaction.on_commit(partial(bell.ring, bell.BENCH))
    return submission


def _plan(
    targets: Sequence[Target], scale: str, sessions: int, configuration: str = ""
) -> list[tuple[Target, str]]:
    """Return what to run at which scale, gates first. Raises Refused."""
    messages = []
    planned = []
    if not targets:
        messages.append("choose at least one benchmark")
    if not 1 <= sessions <= MAX_SESSIONS:
        messages.append(f"{sessions} sessions were asked for: choose 1 to {MAX_SESSIONS}")
    known = catalogue.configurations()
    if configuration and configuration not in known:
        messages.append(
            f"there is no configuration {configuration!r}; there are: {', '.join(known)}"
        )
    gates = catalogue.gate_targets()
    for target in [*gates, *(t for t in dict.fromkeys(targets) if t not in gates)]:
        try:
            catalogue.parse_target(str(target))
            planned.append((target, catalogue.run_scale(target, scale)))
        except RequestError as error:
            messages.append(str(error))
    if messages:
        raise Refused(list(dict.fromkeys(messages)))
    return planned


def _take_in(file: BinaryIO, *, trusted: bool) -> tuple[Blob, LibraryFacts]:
    """Store and inspect an uploaded file. Raises Refused, and keeps nothing, when there is no room for it."""
    place = load_settings()
    store = BlobStore(place.blobs)
    try:
        blob = store.put(file, limit_bytes=place.library_bytes_max)
    except BlobTooLargeError as error:
        raise Refused([str(error)]) from error
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        _log.exception("no room for an upload in %s", place.blobs)
        raise Refused(["the site's disk is full: tell an organiser and try again later"]) from error
    return blob, inspect_library(store.path(blob.sha256), place, trusted=trusted)


def _refuse(runs: Sequence[Run], refusals: Sequence[Refusal], facts: LibraryFacts) -> None:
    """End runs that were just created: their file goes to no worker. Call it after `standing.lock`."""
    now = timezone.now()
    created = Run.objects.filter(pk__in=[run.pk for run in runs])
    created.update(
        state=State.DONE,
        verdict=Verdict.REFUSED,
        reason="; ".join(map(str, refusals)),
        finished_at=now,
    )
    RunDetail.objects.bulk_create(
        RunDetail(
            run=run,
            findings=[finding.to_json() for finding in refusal_findings(refusals)],
            library_facts=facts.to_json(),
            drawn_at=now,  # there is nothing to draw
        )
        for run in runs
    )
    standing.refresh(
        created.select_related("submission", "machine").filter(kind=BenchmarkKind.PERFORMANCE)
    )


def record(report: RunReport) -> bool:
    """Write down what a run showed and refresh the boards; False for a report that came too late.

    Idempotent: only the attempt that owns the run is recorded, and only once. A report of an
    attempt whose lease was taken away, or of a run that is already final, changes nothing.
    """
    with transaction.atomic():
        standing.lock()
        run = (
            Run.objects.select_related("submission", "machine")
            .filter(pk=report.run_id, attempt=report.attempt, state__in=ACTIVE_STATES)
            .first()
        )
        if run is None:
            _log.warning("report of run %d attempt %d came too late", report.run_id, report.attempt)
            return False
        benchmark = catalogue.benchmarks().get(run.benchmark)
        metric = benchmark.metric.name if benchmark and benchmark.metric else None
        summary = summarise(report, metric, run.scale)
        changed = Run.objects.filter(
            pk=run.pk, attempt=report.attempt, state__in=ACTIVE_STATES
        ).update(
            state=State.DONE,
            started_at=datetime.fromisoformat(report.started_at),
            finished_at=datetime.fromisoformat(report.finished_at),
            lease_until=None,
            progress=1.0,
            progress_note="",
            **summary.columns,
        )
        if not changed:
            return False
        RunDetail.objects.update_or_create(run_id=run.pk, defaults=summary.detail)
        Run.objects.filter(pk=run.pk).update(unsteady=machines.note_control(run, report.sessions))
        run.refresh_from_db(fields=["state", "unsteady", *summary.columns])
        standing.refresh([run])
        transaction.on_commit(partial(bell.ring, bell.RESULTS))
    return True


def give_up(run_id: int, attempt: int, reason: str) -> bool:
    """End a run that this attempt cannot finish as an infrastructure fault, with a reason for its owner."""
    with transaction.atomic():
        standing.lock()
        changed = Run.objects.filter(pk=run_id, attempt=attempt, state__in=ACTIVE_STATES).update(
            state=State.DONE,
            verdict=Verdict.INFRASTRUCTURE,
            reason=reason,
            finished_at=timezone.now(),
            lease_until=None,
            progress_note="",
        )
        if changed:
            standing.refresh(Run.objects.select_related("submission", "machine").filter(pk=run_id))
    return bool(changed)


def try_again(run_id: int, attempt: int, reason: str) -> bool:
    """Queue a run again after a fault of the machine, or give it up after KEYDROME_MAX_ATTEMPTS attempts."""
    if attempt >= settings.KEYDROME_MAX_ATTEMPTS:
        return give_up(
            run_id,
            attempt,
            f"{reason} This was attempt {attempt} of {settings.KEYDROME_MAX_ATTEMPTS}, so it is not"
            " tried again. The library is not to blame: submit it once more or tell an organiser.",
        )
    return claims.requeue(run_id, attempt)


def sweep() -> Swept:
    """Recover lost runs, and ring the bench bell when something waits: an earlier ring may have been lost."""
    swept = recover_lost()
    if claims.claimable().exists():
        bell.ring(bell.BENCH)
    return swept


def recover_lost() -> Swept:
    """Queue runs again whose worker is gone, or end them. Several processes may. 1 SQL statement when there is none.

    After KEYDROME_MAX_ATTEMPTS attempts a run is given up; one whose cancellation was asked for is cancelled.
    """
    requeued: list[int] = []
    given_up: list[int] = []
    cancelled: list[int] = []
    for run in claims.lapsed().select_related("machine"):
        where = f"{run.machine.name}, slot {run.slot}" if run.machine else "an unknown machine"
        if run.cancel_requested_at is not None:
            if claims.finish_cancelled(run.pk, run.attempt):
                cancelled.append(run.pk)
            continue
        reason = f"The worker on {where} was lost while it ran."
        if try_again(run.pk, run.attempt, reason):
            last = run.attempt >= settings.KEYDROME_MAX_ATTEMPTS
            (given_up if last else requeued).append(run.pk)
    return Swept(tuple(requeued), tuple(given_up), tuple(cancelled))


def may_change(submission: Submission, by: User) -> None:
    """Raise PermissionDenied unless `by` owns the submission or is an organiser."""
    if by.pk != submission.owner_id and not by.is_staff:
        message = "only the owner and organisers may do this"
        raise PermissionDenied(message)


def cancel(run: Run, *, by: User) -> bool:
    """Ask for a run to stop; return False when it was already final.

    A waiting run is cancelled at once, a running one at its worker's next heartbeat (about a second).
    """
    may_change(run.submission, by)
    with transaction.atomic():
        waiting = claims.cancel_waiting(Run.objects.filter(pk=run.pk))
        active = Run.objects.filter(pk=run.pk, state__in=ACTIVE_STATES).update(
            cancel_requested_at=timezone.now()
        )
    return bool(waiting or active)


def withdraw(submission: Submission, *, by: User) -> bool:
    """Delete a submission from all pages and boards; return False when it was already gone.

    Rows, blob and artefacts stay, visible to organisers only. Waiting and running runs are cancelled.
    """
    may_change(submission, by)
    with transaction.atomic():
        standing.lock()
        now = timezone.now()
        changed = Submission.objects.filter(pk=submission.pk, deleted_at__isnull=True).update(
            deleted_at=now
        )
        if not changed:
            return False
        runs = Run.objects.filter(submission_id=submission.pk)
        claims.cancel_waiting(runs)
        runs.filter(state__in=ACTIVE_STATES).update(cancel_requested_at=now)
        standing.refresh(runs.select_related("submission", "machine").filter(state=State.DONE))
    submission.deleted_at = now
    return True
