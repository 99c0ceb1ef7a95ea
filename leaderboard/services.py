"""Implements the changes that users, organisers and workers make: submit, store a result, give up, cancel, delete.

A *run* is the request to judge one submitted library on one benchmark instance. Each function is one transaction,
except that `recover_lost` uses one transaction for each lost run. `submit` and `record` wake workers after the commit.
A function that acts for a user takes the user as `by`. Such a function raises PermissionDenied if the user
neither owns the submission nor is an organiser (is_staff).
"""

from __future__ import annotations

import errno
import logging
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from leaderboard import catalogue
from leaderboard.audits.look_ahead import with_look_ahead
from leaderboard.machines import control_history
from leaderboard.models import (
    ACTIVE_STATES,
    MAX_DESCRIPTION,
    Kind,
    Run,
    RunDetail,
    State,
    Submission,
)
from leaderboard.queue import claims, quotas, wakeup
from leaderboard.queue.gate_end import end_gate_early
from leaderboard.ranking import board_entries
from leaderboard.submissions.inspection import reasons_against_file
from leaderboard.submissions.new_runs import new_run
from leaderboard.submissions.report_columns import summarise
from results.counts import counted
from runner.inspection.library import inspect_library, refusal_findings, refusals_text
from runner.manifest import Kind as BenchmarkKind
from runner.manifest import RequestError
from runner.settings import load_settings
from runner.store import BlobStore, BlobTooLargeError
from runner.terms import Verdict
from runner.text import display_name, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    from leaderboard.catalogue import Target
    from runner.contract import RunReport
    from runner.inspection.library import LibraryFacts, Refusal
    from runner.store import Blob

_log = logging.getLogger(__name__)

MAX_SESSIONS = 99


class Refused(Exception):  # noqa: N818 - not an error of the program
    """A user's request was refused. Each of `messages` says what is wrong and what to do."""

    def __init__(self, messages: Sequence[str]) -> None:
        super().__init__("; ".join(messages))
        self.messages = tuple(messages)


@dataclass(frozen=True, slots=True)
class Recovered:
    """The ids of the lost runs that were queued again, given up, or cancelled."""

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
    further_configurations: Sequence[str] = (),
    scale: str | None = None,
    sessions: int | None = None,
    trusted: bool = False,
    reference: bool = False,
) -> Submission:
    """Store an uploaded file and queue its runs: one on each of `targets`, and one on every gate instance.

    A gate is a correctness benchmark that boards require. The file's content is stored first; then one transaction
    writes all rows. `scale` and `sessions` default to KEYDROME_SCALE (if empty: the scale of each target's board) and
    KEYDROME_SESSIONS; gates run one session. `configuration` says how Keydrome adds locks and transactions to a bare
    structure. Each of `further_configurations` makes a further submission, whose `upload` is the returned one. For
    libraries of this repository, `trusted` allows more shared objects, `reference` more board entries per user.

    If the inspection refuses the file, or the file does not fit the configuration, the submission is still stored. Its
    runs end at once with the verdict "refused" and the reasons. Refusals in inspection.BENCH_DECIDES depend on the
    machine, so the worker decides these: it inspects the file again.

    Raises Refused and writes no row if the file is too large, the disk is full, or the user's quota is used up. The
    same happens if no target is given, or if the sessions, a target, the scale or the configuration are not valid.
    """
    wanted_scale = scale or settings.KEYDROME_SCALE
    wanted_sessions = settings.KEYDROME_SESSIONS if sessions is None else sessions
    configurations = list(dict.fromkeys([configuration, *further_configurations]))
    planned = _plan(targets, wanted_scale, wanted_sessions, configurations)
    blob, facts = _take_in(file, trusted=trusted)
    refusals = reasons_against_file(facts, configuration)
    with transaction.atomic():
        if refusals:
            board_entries.lock()
        elif reason := quotas.reason_against(owner, len(configurations)):
            raise Refused([reason])
        # A file is refused under all configurations or under none, so one submission is enough to report a refusal.
        every = _store(
            configurations[:1] if refusals else configurations,
            owner=owner,
            description=printable(" ".join(description.split()))[:MAX_DESCRIPTION],
            file_name=display_name(file_name),
            blob_sha256=blob.sha256,
            size_bytes=blob.size_bytes,
            kind=Kind(facts.kind.value),
            facts=facts.to_json(),
            trusted=trusted,
            reference=reference,
        )
        runs = [new_run(one, *target, wanted_sessions) for one in every for target in planned]
        if refusals:
            _refuse(Run.objects.bulk_create(runs), refusals, facts)
        else:
            claims.enqueue(owner.pk, runs)
            transaction.on_commit(partial(wakeup.wake, wakeup.BENCH))
    return every[0]


def _store(configurations: Sequence[str], **columns: Any) -> list[Submission]:  # noqa: ANN401 - values of columns
    """Store one submission for each configuration. `upload` of the further ones refers to the first one."""
    first, *further = configurations
    submission = Submission.objects.create(configuration=first, **columns)
    return [
        submission,
        *(
            Submission.objects.create(configuration=name, upload=submission, **columns)
            for name in further
        ),
    ]


def _plan(
    targets: Sequence[Target], scale: str, sessions: int, configurations: Sequence[str] = ()
) -> list[tuple[Target, str]]:
    """Return the targets to run with the scale of each, gates first. Raises Refused if the request is not valid."""
    messages = []
    planned: list[tuple[Target, str]] = []
    if not targets:
        messages.append("no benchmark is chosen: choose at least one benchmark")
    if not 1 <= sessions <= MAX_SESSIONS:
        messages.append(
            f"{counted(sessions, 'session is', 'sessions are')} not possible: choose 1 to {MAX_SESSIONS} sessions"
        )
    known = catalogue.configurations()
    messages += [
        f"unknown configuration {name!r}: choose one of {', '.join(known)}"
        for name in configurations
        if name and name not in known
    ]
    known_targets = []
    for target in targets:
        try:
            known_targets.append(catalogue.parse_target(str(target)))
        except RequestError as error:
            messages.append(str(error))
    try:
        planned = catalogue.planned_scales(known_targets, scale)
    except RequestError as error:
        messages.append(str(error))
    if messages:
        raise Refused(list(dict.fromkeys(messages)))
    return planned


def _take_in(file: BinaryIO, *, trusted: bool) -> tuple[Blob, LibraryFacts]:
    """Store an uploaded file and inspect it.

    Raises Refused and stores nothing if the file is too large or the disk is full.
    """
    runner_settings = load_settings()
    store = BlobStore(runner_settings.blobs)
    try:
        blob = store.put(file, limit_bytes=runner_settings.library_bytes_max)
    except BlobTooLargeError as error:
        raise Refused([str(error)]) from error
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        _log.exception(
            "an upload was refused, because the site cannot store it in %s: %s: "
            "free space on this disk, or raise the disk quota",
            runner_settings.blobs,
            error.strerror,
        )
        raise Refused(
            [
                "the site did not store the file, because its storage is full: tell an organiser, and try again later"
            ]
        ) from error
    return blob, inspect_library(store.path(blob.sha256), runner_settings, trusted=trusted)


def _refuse(runs: Sequence[Run], refusals: Sequence[Refusal], facts: LibraryFacts) -> None:
    """End newly created runs with the verdict refused, so that no worker executes the file.

    Call this after `board_entries.lock`.
    """
    now = timezone.now()
    created = Run.objects.filter(pk__in=[run.pk for run in runs])
    created.update(
        state=State.DONE,
        verdict=Verdict.REFUSED,
        reason=refusals_text(refusals),
        finished_at=now,
    )
    RunDetail.objects.bulk_create(
        RunDetail(
            run=run,
            findings=[finding.to_json() for finding in refusal_findings(refusals)],
            library_facts=facts.to_json(),
            drawn_at=now,  # marks the plots as drawn, since there are no curves
        )
        for run in runs
    )
    board_entries.refresh(
        created.select_related("submission", "machine").filter(kind=BenchmarkKind.PERFORMANCE)
    )


def record(report: RunReport) -> bool:
    """Store the result of a run and refresh the boards. Return False if the report came too late.

    A result is stored only once, and only for the attempt that owns the run. If the run has already ended or was queued
    again, the report came too late and changes nothing.
    """
    with transaction.atomic():
        board_entries.lock()
        run = (
            Run.objects.select_related("submission", "machine")
            .filter(pk=report.run_id, attempt=report.attempt, state__in=ACTIVE_STATES)
            .first()
        )
        if run is None:
            _log.warning(
                "the report of run %d attempt %d was discarded, because the run has ended or was queued again since: "
                "the run's page shows which; nothing needs to be done",
                report.run_id,
                report.attempt,
            )
            return False
        report = with_look_ahead(run, report)
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
            live=None,
            **summary.columns,
        )
        if not changed:
            return False
        RunDetail.objects.update_or_create(run_id=run.pk, defaults=summary.detail)
        Run.objects.filter(pk=run.pk).update(
            why_excluded=control_history.note_control(run, report.sessions)
        )
        run.refresh_from_db(fields=["state", "why_excluded", *summary.columns])
        end_gate_early(run)
        board_entries.refresh([run])
        transaction.on_commit(partial(wakeup.wake, wakeup.RESULTS))
    return True


def give_up(run_id: int, attempt: int, reason: str) -> bool:
    """End a run with the verdict infrastructure (a failure of the site) and a reason for the run's owner.

    Returns False if this attempt does not own the run.
    """
    with transaction.atomic():
        board_entries.lock()
        changed = Run.objects.filter(pk=run_id, attempt=attempt, state__in=ACTIVE_STATES).update(
            state=State.DONE,
            verdict=Verdict.INFRASTRUCTURE,
            reason=reason,
            finished_at=timezone.now(),
            lease_until=None,
            progress_note="",
            live=None,
        )
        if changed:
            board_entries.refresh(
                Run.objects.select_related("submission", "machine").filter(pk=run_id)
            )
    return bool(changed)


def try_again(run_id: int, attempt: int, reason: str) -> bool:
    """Queue a run again after a failure of the site, or end the run if this was its last attempt.

    `reason` says what failed. Returns False if this attempt does not own the run.
    """
    if attempt >= settings.KEYDROME_MAX_ATTEMPTS:
        return give_up(
            run_id,
            attempt,
            f"{reason} This was attempt {attempt} of {settings.KEYDROME_MAX_ATTEMPTS}, so the site does not try the"
            " run again.",
        )
    return claims.requeue(run_id, attempt)


def recover_and_wake() -> Recovered:
    """Recover lost runs. Then, if runs wait, wake the workers, because an earlier wake-up may have been lost."""
    recovered = recover_lost()
    if claims.claimable().exists():
        wakeup.wake(wakeup.BENCH)
    return recovered


def recover_lost() -> Recovered:
    """Queue lost runs again. A run is lost if its lease has expired.

    A lease is a worker's right to execute a run until a given time. It expires if the worker died or hangs.

    A lost run that has used KEYDROME_MAX_ATTEMPTS attempts ends with the verdict infrastructure. A lost run that a user
    wanted to cancel is cancelled. Several processes may call this at the same time. Executes 1 SQL statement if no run
    is lost.
    """
    requeued: list[int] = []
    given_up: list[int] = []
    cancelled: list[int] = []
    for run in claims.lapsed().select_related("machine"):
        where = f"{run.machine.name}, slot {run.slot}," if run.machine else "an unknown machine"
        if run.cancel_requested_at is not None:
            if claims.finish_cancelled(run.pk, run.attempt):
                cancelled.append(run.pk)
            continue
        reason = f"The worker on {where} stopped responding while it executed the run."
        if try_again(run.pk, run.attempt, reason):
            last = run.attempt >= settings.KEYDROME_MAX_ATTEMPTS
            (given_up if last else requeued).append(run.pk)
    return Recovered(tuple(requeued), tuple(given_up), tuple(cancelled))


def may_change(submission: Submission, by: User) -> None:
    """Raise PermissionDenied if `by` neither owns the submission nor is an organiser."""
    if by.pk != submission.owner_id and not by.is_staff:
        message = (
            "only the owner of a submission and organisers can change the submission or its runs"
        )
        raise PermissionDenied(message)


def cancel(run: Run, *, by: User) -> bool:
    """Cancel a run. Return False if the run had already ended.

    A queued run is cancelled at once. A running run is cancelled at its worker's next heartbeat, within about a second.
    """
    may_change(run.submission, by)
    with transaction.atomic():
        waiting = claims.cancel_waiting(Run.objects.filter(pk=run.pk))
        active = Run.objects.filter(pk=run.pk, state__in=ACTIVE_STATES).update(
            cancel_requested_at=timezone.now()
        )
    return bool(waiting or active)


def withdraw(submission: Submission, *, by: User) -> bool:
    """Delete a submission from all pages and boards, and cancel its open runs.

    The rows, the file and the plots remain, but only organisers see them. Returns False if the submission had already
    been deleted.
    """
    may_change(submission, by)
    with transaction.atomic():
        board_entries.lock()
        now = timezone.now()
        changed = Submission.objects.filter(pk=submission.pk, deleted_at__isnull=True).update(
            deleted_at=now
        )
        if not changed:
            return False
        runs = Run.objects.filter(submission_id=submission.pk)
        claims.cancel_waiting(runs)
        runs.filter(state__in=ACTIVE_STATES).update(cancel_requested_at=now)
        board_entries.refresh(runs.select_related("submission", "machine").filter(state=State.DONE))
    submission.deleted_at = now
    return True
