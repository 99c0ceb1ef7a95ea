"""Implements the bench worker, which claims a run, executes the run, stores the result, and claims the next run.

A worker executes one run at a time on its slot. A slot is a number that gives a jail (sandbox) its own user and control
group. KEYDROME_CPUS can also give each slot its own processors. The worker reserves its slot (runner/slots.py), so that
no two processes use it. A unique index in the database also allows only one active run per slot.

A worker may execute a run only until its lease on the run ends. Each heartbeat, which the worker sends every second,
extends the lease. If a worker dies, the lease expires. Then another bench worker queues the run again, or the results
worker, a background process of the site, does so.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections

from leaderboard import services
from leaderboard.live_curve import live_json
from leaderboard.machines import registry
from leaderboard.models import ACTIVE_STATES, Run
from leaderboard.queue import claims, versions, wakeup
from leaderboard.queue.claims import Heartbeat, Slot
from runner.audit import audited_seeds
from runner.contract import AUDIT_ROLE, Cancelled, Job, Progress, RunReport
from runner.execute import execute as execute_for_real
from runner.janitor import remove_leftovers
from runner.machine import machine_facts
from runner.settings import BUILD_FIRST, SettingsError, load_settings
from runner.slots import hold_worker_slot
from runner.spot_check import spot_check_seed
from runner.terms import JailLevel, Scale, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from runner.contract import SessionCurves

    Execute = Callable[[Job, Callable[[Progress], bool]], RunReport]

HEARTBEAT_SECONDS = 1.0
IDLE_SECONDS = 1.0
# The exceptions that Django raises if the database cannot be reached or if an open connection has broken.
UNREACHABLE = (OperationalError, InterfaceError)

_log = logging.getLogger(__name__)
# Why a run was stopped, by the last reply to its heartbeats. The log names the reason.
_STOPPED = {
    Heartbeat.CANCEL: "a user cancelled the run",
    Heartbeat.CONTINUE: "this worker is stopping, so the run is queued again",
    Heartbeat.LOST: "this worker had no contact with the database for too long, so its lease on the run has ended; the "
    "site queues the run again, unless this was the last attempt; if this happens often, check the database server and "
    "the network",
}


class NotBuiltError(Exception):
    """Programs that every run needs are not built on this machine, so every run would fail."""


def require_built() -> None:
    """Check that all programs that runs need are built. Otherwise raise NotBuiltError, which says what to do."""
    if missing := load_settings().missing_binaries():
        names = ", ".join(map(str, missing))
        message = f"these files are not built yet: {names}: {BUILD_FIRST}, and restart the worker"
        raise NotBuiltError(message)


def jail_level() -> JailLevel:
    """Return the setting KEYDROME_JAIL_LEVEL, the weakest isolation that this worker accepts.

    Raises SettingsError if the setting is no level.
    """
    text = os.environ.get("KEYDROME_JAIL_LEVEL", JailLevel.FULL.value)
    try:
        return JailLevel(text)
    except ValueError as error:
        message = f"KEYDROME_JAIL_LEVEL is {text!r}, but must be one of {', '.join(JailLevel)}"
        raise SettingsError(message) from error


def hold_slot(first: int, last: int | None = None) -> AbstractContextManager[int]:
    """Reserve the first free slot from `first` to `last` (default: only `first`).

    Raises SlotsTakenError if no slot is free.
    """
    return hold_worker_slot(first, first if last is None else last, load_settings().var)


def clean_up(slot: int) -> None:
    """Remove and log the processes and control groups that killed jails have left in this slot and in unused slots."""
    for line in remove_leftovers(slot):
        _log.warning("%s", line)


def register_slot(number: int) -> Slot:
    """Register this machine in the database, and return the machine's slot with this number.

    KEYDROME_MACHINE names the machine; the default is the host name. Raises versions.SchemaSkewError if the database
    does not have exactly the tables that this worker expects.
    """
    versions.require_own_schema()
    facts = machine_facts()
    name = os.environ.get("KEYDROME_MACHINE") or str(facts["name"])
    return Slot(registry.seen(name, str(facts["class"]), facts), number)


def make_job(run: Run) -> Job:
    """Return the job that the runner executes for a claimed run. The run's submission must be loaded.

    1 SQL statement for a run on a hidden instance (whose parameters a contest keeps secret), and otherwise none.
    """
    submission, hidden = run.submission, run.hidden
    seeds = tuple(run.seeds)
    one_in = settings.KEYDROME_RECORD_ONE_IN
    # An audited session (repetition) is played twice: in timed mode, and in verified mode, where a process outside the
    # jail makes every call. If an organiser has queued the run as an audit (run.verified), all sessions of a timed run
    # are played twice.
    audited = seeds if run.verified else audited_seeds(seeds, settings.KEYDROME_AUDIT_ONE_IN)
    return Job(
        run_id=run.pk,
        attempt=run.attempt,
        blob_sha256=submission.blob_sha256,
        benchmark=run.benchmark,
        benchmark_version=run.benchmark_version,
        instance=hidden.instance if hidden else run.instance,
        scale=Scale(run.scale),
        seeds=seeds,
        configuration=submission.configuration or None,
        parameters=tuple(sorted(hidden.parameters.items())) if hidden else (),
        trusted=submission.trusted,
        recorded_seed=None if run.is_gate or run.verified else spot_check_seed(seeds, one_in),
        audited_seeds=() if run.is_gate else audited,
        verified=run.verified,
        require_level=jail_level().value,
    )


def _lease_from_now() -> float:
    """Return the end of a lease that starts now, on the monotonic clock."""
    lease: int = settings.KEYDROME_LEASE_SECONDS
    return time.monotonic() + lease


@dataclass(slots=True)
class _Heartbeats:
    """Sends the heartbeats of one attempt to the database, at most one every `heartbeat_seconds`.

    The runner calls this object with its progress, and stops if the call returns False. While the database cannot be
    reached, the run continues until its lease ends.
    """

    run_id: int
    attempt: int
    stopping: threading.Event
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    last: Heartbeat = Heartbeat.CONTINUE
    curves: SessionCurves | None = None  # the curves that were stored last
    next_at: float = 0.0
    lease_until: float = field(default_factory=_lease_from_now)

    def __call__(self, progress: Progress) -> bool:
        """Send the progress to the database; return False if the run must stop."""
        if self.stopping.is_set() or self.last is not Heartbeat.CONTINUE:
            return False
        now = time.monotonic()
        if now < self.next_at:
            return True
        self.next_at = now + self.heartbeat_seconds
        try:
            new = progress.curves if progress.curves is not self.curves else None
            self.last = claims.heartbeat(
                self.run_id,
                self.attempt,
                progress.fraction,
                describe(progress),
                live_json(new) if new else None,
            )
            self.curves = progress.curves
            self.lease_until = _lease_from_now()
        except UNREACHABLE:
            _log.warning(
                "run %d: a call to the database failed; the run stops if no call succeeds within %d s: "
                "check the database server; the following traceback names the reason",
                self.run_id,
                max(0, round(self.lease_until - now)),
                exc_info=True,
            )
            close_old_connections()
            if now > self.lease_until:
                self.last = Heartbeat.LOST
        return self.last is Heartbeat.CONTINUE

    def persist(self, write: Callable[[], bool]) -> bool:
        """Call `write`, which stores how the run ended, and return its result.

        While the database cannot be reached, call `write` again until the lease ends. If the database stored the result
        but its reply was lost, the next call changes nothing and returns False.
        """
        while True:
            try:
                return write()
            except UNREACHABLE as error:
                if time.monotonic() > self.lease_until:
                    raise
                _log.warning(
                    "run %d: the database did not store the result: check the database server. This worker tries "
                    "again for %d s; after that, the site queues the run again. The error: %s",
                    self.run_id,
                    max(0, round(self.lease_until - time.monotonic())),
                    " ".join(str(error).split()),
                )
                close_old_connections()
                time.sleep(self.heartbeat_seconds)


def something_waits() -> bool:
    """Return True if a queued run could start now. 1 SQL statement."""
    return claims.claimable().exists()


def describe(progress: Progress) -> str:
    """Return the progress of a run in words."""
    if progress.session == 0:
        return "inspecting the library"
    role = progress.role.removesuffix(AUDIT_ROLE)
    # See Progress.role: a session may run the control library twice.
    library = (
        f"{role} library" if role != "control again" else "control library for the second time"
    )
    if (
        progress.fraction >= 1.0
    ):  # all planned sessions are done; the number of repetitions is unknown
        session = (
            f"session {progress.session}, which replaces a session that was too noisy to count"
        )
    else:
        session = f"session {progress.session} of {progress.sessions}"
    again = ", played again for an audit" if role != progress.role else ""
    return f"{session}{again}: {library}, phase {progress.phase}"


@dataclass(slots=True)
class Worker:
    """Executes the runs of the queue on one slot. The caller must hold the slot (`hold_slot`) all the time.

    Only one thread may use a worker, except that a signal handler may call `stop`. `execute` must behave like
    runner.execute.execute; tests pass a substitute.
    """

    slot: Slot
    execute: Execute | None = None  # None stands for runner.execute.execute in this slot's jail
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    stopping: threading.Event = field(default_factory=threading.Event)
    # True if the last call of run_one() failed halfway. Then the database may say that a run executes on this slot,
    # but none does.
    unsure: bool = False
    recover_at: float = 0.0  # when to look for lost runs again, on the monotonic clock

    def stop(self) -> None:
        """Make the worker stop soon. It then puts its current run back into the queue."""
        self.stopping.set()

    def take_back(self) -> list[int]:
        """Queue the unfinished runs on this slot again, or end those whose attempts are used up. Return their ids.

        Call this before the first claim, and after a call of run_one that failed. Because this process holds the slot,
        no process executes these runs now, even if their leases have not expired yet.
        """
        left = Run.objects.filter(
            machine=self.slot.machine, slot=self.slot.number, state__in=ACTIVE_STATES
        )
        taken = []
        for run in left:
            reason = f"The worker on {self.slot.machine.name}, slot {self.slot.number}, died while it executed the run."
            if services.try_again(run.pk, run.attempt, reason):
                taken.append(run.pk)
        return taken

    def run_one(self) -> bool:
        """Claim and execute one run, and store its result. Return False if no run could be claimed.

        Raises the database's exceptions. After an exception, the next call queues the unfinished run again.
        """
        registry.alive(self.slot.machine, busy=False)
        if self.stopping.is_set():
            return False
        if self.unsure:
            self.take_back()
        self.unsure = True
        self._recover_lost()
        run = self._claim()
        if run is not None:
            registry.alive(self.slot.machine, busy=True)
            if something_waits():  # other slots may be idle
                wakeup.wake(wakeup.BENCH)
            self._execute(run)
            registry.alive(self.slot.machine, busy=True)
        self.unsure = False
        return run is not None

    def _recover_lost(self) -> None:
        """Queue again the runs whose lease has expired, at most once every KEYDROME_SWEEP_SECONDS.

        The results worker does the same, but may have died too.
        """
        now = time.monotonic()
        if now >= self.recover_at:
            self.recover_at = now + settings.KEYDROME_SWEEP_SECONDS
            services.recover_lost()

    def _claim(self) -> Run | None:
        """Claim a run of a benchmark version that this worker has. Return None if there is no such run.

        If runs wait but this worker can execute none of them, log the reason, and store it for the status page.
        """
        own = versions.own_versions()
        run = claims.claim(self.slot, own)
        reason = versions.refusal(own, self.slot.machine.machine_class) if run is None else ""
        if reason != self.slot.machine.refusal:
            self.slot.machine.refusal = reason
            registry.refuses(self.slot.machine, reason)
            if reason:
                _log.warning("this worker leaves waiting runs to other workers: %s", reason)
            else:
                _log.info("this worker can execute all waiting runs again")
        return run

    def drain(self) -> int:
        """Execute runs until no more can be claimed, and return how many were executed."""
        done = 0
        while self.run_one():
            done += 1
        return done

    def work(self) -> None:
        """Execute runs until `stop` is called. While no run waits, check the queue every IDLE_SECONDS."""
        while not self.stopping.is_set():
            close_old_connections()
            try:
                done = self.drain()
            except UNREACHABLE:
                _log.warning(
                    "a call to the database failed; trying again every second: check the database server; "
                    "the following traceback names the reason",
                    exc_info=True,
                )
                done = 0
            if done == 0:
                self.stopping.wait(IDLE_SECONDS)

    def _execute_here(self) -> Execute:
        """Return the function that executes a job in the jail of this worker's slot."""
        if self.execute is not None:
            return self.execute
        return partial(execute_for_real, settings=replace(load_settings(), slot=self.slot.number))

    def _execute(self, run: Run) -> None:
        """Execute a claimed run and store how it ended, even if an exception ended it."""
        heartbeats = _Heartbeats(run.pk, run.attempt, self.stopping, self.heartbeat_seconds)
        _log.info("run %d attempt %d starts: %s", run.pk, run.attempt, run)
        if not claims.start(run.pk, run.attempt):
            return
        failure = "Keydrome's runner failed"
        try:
            report = self._execute_here()(make_job(run), heartbeats)
            failure = "Keydrome could not store the result"
            self._record(run, report, heartbeats)
        except Cancelled:
            self._stopped(run, heartbeats)
        except Exception as error:  # no failure of one run may stop the worker
            _log.exception(
                "run %d attempt %d: %s: correct the cause in the following traceback if it is on this machine or "
                "in the database; otherwise report the traceback to Keydrome's developers",
                run.pk,
                run.attempt,
                failure,
            )
            close_old_connections()
            services.try_again(
                run.pk, run.attempt, f"{failure} (exception {type(error).__name__})."
            )

    def _stopped(self, run: Run, heartbeats: _Heartbeats) -> None:
        """Store the end of a run that was stopped by its heartbeat.

        If a user cancelled the run, the run ends as cancelled. If this worker is stopping, the run is queued again. If
        this worker no longer owns the run, nothing is stored.
        """
        if heartbeats.last is Heartbeat.CANCEL:
            claims.finish_cancelled(run.pk, run.attempt)
        elif heartbeats.last is Heartbeat.CONTINUE:
            claims.requeue(run.pk, run.attempt)
        _log.info("run %d attempt %d stopped: %s", run.pk, run.attempt, _STOPPED[heartbeats.last])

    def _record(self, run: Run, report: RunReport, heartbeats: _Heartbeats) -> None:
        """Store a report. If the machine failed and the run has attempts left, queue the run again instead."""
        tries: int = settings.KEYDROME_MAX_ATTEMPTS
        if report.verdict is Verdict.INFRASTRUCTURE and run.attempt < tries:
            _log.warning(
                "run %d attempt %d failed, but not because of the library, so the run is queued again: %s",
                run.pk,
                run.attempt,
                report.reason,
            )
            heartbeats.persist(partial(claims.requeue, run.pk, run.attempt))
            return
        recorded = heartbeats.persist(partial(services.record, report))
        _log.info(
            "run %d attempt %d ended with verdict %s%s",
            run.pk,
            run.attempt,
            report.verdict.value,
            ""
            if recorded
            else ", which was discarded, because this attempt no longer owns the run",
        )
