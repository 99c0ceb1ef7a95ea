"""The bench worker: claims a run, executes it, records what happened. One run at a time per slot.

A worker may die at any moment: its lease runs out, and whoever looks next queues the run again: the sweep, or any
worker before it claims. It holds a file lock for its slot, so that two processes never time libraries on the same
cores; the database's unique index says the same.
"""

from __future__ import annotations

import fcntl
import logging
import os
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections

from leaderboard import bell, claims, machines, services, versions
from leaderboard.claims import Beat, Slot
from leaderboard.models import ACTIVE_STATES, Run
from runner.contract import Cancelled, JailLevel, Job, Progress, RunReport, Scale, Verdict
from runner.execute import execute as execute_for_real
from runner.janitor import sweep
from runner.lot import draw_seed
from runner.machine import machine_facts
from runner.settings import load_settings
from runner.slots import SlotsTakenError
from runner.slots import hold_slot as hold_jail_slot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Execute = Callable[[Job, Callable[[Progress], bool]], RunReport]

BEAT_SECONDS = 1.0
IDLE_SECONDS = 1.0
# What Django raises while the database is away, and once more on a connection that it had before.
DATABASE_AWAY = (OperationalError, InterfaceError)

_log = logging.getLogger(__name__)


class SlotTakenError(Exception):
    """Another process works on this slot of this machine."""


class NotBuiltError(Exception):
    """This machine lacks programs that every run needs: claiming runs would only spoil them."""


def require_built() -> None:
    """Raise NotBuiltError, saying what to do, unless everything that runs need is built."""
    if missing := load_settings().missing_binaries():
        names = ", ".join(map(str, missing))
        message = f"not built: {names}; run ./dev build or set KEYDROME_BUILD, then start the worker again"
        raise NotBuiltError(message)


@contextmanager
def hold_slot(number: int) -> Iterator[None]:
    """Hold a slot of this machine; SlotTakenError when another process has it. Any death frees it.

    The name in runner.slots keeps the command line and other workers of this machine away, the file lock workers in
    other containers that share KEYDROME_VAR.
    """
    folder = load_settings().var / "locks"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / f"slot-{number}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with ExitStack() as held:
        held.callback(os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held.enter_context(hold_jail_slot(number, number))
        except (BlockingIOError, SlotsTakenError) as error:
            message = f"slot {number} is worked on by another process; use another KEYDROME_SLOT"
            raise SlotTakenError(message) from error
        yield


def clear_away() -> None:
    """Have the jail kill and remove what dead jails of this machine left behind; the log tells what that was."""
    for line in sweep():
        _log.warning("%s", line)


def this_slot(number: int) -> Slot:
    """Return the slot of this machine, writing the machine down. KEYDROME_MACHINE names it, else its host name.

    Raises versions.SchemaSkewError when this worker and the database are not of one version.
    """
    versions.require_own_schema()
    facts = machine_facts()
    name = os.environ.get("KEYDROME_MACHINE") or str(facts["name"])
    return Slot(machines.seen(name, str(facts["class"]), facts), number)


def make_job(run: Run) -> Job:
    """Return what the runner is asked to do for a claimed run with its submission loaded."""
    submission = run.submission
    seeds = tuple(run.seeds)
    one_in = settings.KEYDROME_RECORD_ONE_IN
    return Job(
        run_id=run.pk,
        attempt=run.attempt,
        blob_sha256=submission.blob_sha256,
        benchmark=run.benchmark,
        benchmark_version=run.benchmark_version,
        instance=run.instance,
        scale=Scale(run.scale),
        seeds=seeds,
        configuration=submission.configuration or None,
        trusted=submission.trusted,
        recorded_seed=None if run.is_gate or run.verified else draw_seed(seeds, one_in),
        verified=run.verified,
        require_level=os.environ.get("KEYDROME_JAIL_LEVEL", JailLevel.FULL.value),
    )


def _lease_from_now() -> float:
    """Return when a lease taken now is over, on the monotonic clock."""
    lease: int = settings.KEYDROME_LEASE_SECONDS
    return time.monotonic() + lease


@dataclass(slots=True)
class _Heart:
    """The beat function of one attempt: at most one database round trip per BEAT_SECONDS.

    A database that cannot be reached is no reason to stop a timed run before the lease is over.
    """

    run_id: int
    attempt: int
    stopping: threading.Event
    beat_seconds: float = BEAT_SECONDS
    last: Beat = Beat.GO_ON
    next_at: float = 0.0
    alive_until: float = field(default_factory=_lease_from_now)

    def __call__(self, progress: Progress) -> bool:
        """Tell the database how far the run is; False when it is to stop."""
        if self.stopping.is_set() or self.last is not Beat.GO_ON:
            return False
        now = time.monotonic()
        if now < self.next_at:
            return True
        self.next_at = now + self.beat_seconds
        try:
            self.last = claims.beat(
                self.run_id, self.attempt, progress.fraction, describe(progress)
            )
            self.alive_until = _lease_from_now()
        except DATABASE_AWAY:
            _log.warning(
                "run %d: the database did not hear a heartbeat", self.run_id, exc_info=True
            )
            close_old_connections()
            if now > self.alive_until:
                self.last = Beat.LOST
        return self.last is Beat.GO_ON

    def insist(self, write: Callable[[], bool]) -> bool:
        """Write how the run ended; while the database is away, try again as long as the lease lasts.

        A write whose answer was lost may have been done: then the next try changes nothing and gives False.
        """
        while True:
            try:
                return write()
            except DATABASE_AWAY:
                if time.monotonic() > self.alive_until:
                    raise
                _log.warning("run %d: the database did not take its end", self.run_id)
                close_old_connections()
                time.sleep(self.beat_seconds)


def something_waits() -> bool:
    """Whether a run could start now. 1 SQL statement."""
    return claims.claimable().exists()


def describe(progress: Progress) -> str:
    """Return where a run stands in words."""
    if progress.session == 0:
        return "inspecting the library"
    return f"session {progress.session} of {progress.sessions}: {progress.role}, {progress.phase}"


@dataclass(slots=True)
class Worker:
    """Works off the queue on one slot; hold the slot's file lock around its use.

    Not thread-safe, except `stop`, which may come from a signal handler: the run at hand is given back.
    `execute` stands for runner.execute.execute and keeps its promises.
    """

    slot: Slot
    execute: Execute | None = None  # None: runner.execute.execute in this slot's jail
    beat_seconds: float = BEAT_SECONDS
    stopping: threading.Event = field(default_factory=threading.Event)
    # Whether a run may still be ours in the database though nothing executes: a step failed halfway.
    unsure: bool = False
    recover_at: float = 0.0  # on the monotonic clock

    def stop(self) -> None:
        """Ask the worker to stop soon; its run goes back to the queue."""
        self.stopping.set()

    def take_back(self) -> list[int]:
        """Queue what an earlier process left behind on this slot and return its ids. Call it first, once.

        We hold the slot's lock, so whoever claimed those runs is dead, whatever their lease says.
        """
        left = Run.objects.filter(
            machine=self.slot.machine, slot=self.slot.number, state__in=ACTIVE_STATES
        )
        taken = []
        for run in left:
            reason = f"The worker on {self.slot.machine.name}, slot {self.slot.number} died."
            if services.try_again(run.pk, run.attempt, reason):
                taken.append(run.pk)
        return taken

    def run_one(self) -> bool:
        """Claim, execute and record one run; False when there was nothing to do.

        Raises what the database raises when it cannot be reached; the next call takes back what that left behind.
        """
        machines.alive(self.slot.machine, busy=False)
        if self.stopping.is_set():
            return False
        if self.unsure:
            self.take_back()
        self.unsure = True
        self._recover_lost()
        run = self._claim()
        if run is not None:
            machines.alive(self.slot.machine, busy=True)
            if something_waits():  # for other slots, which may be idle
                bell.ring(bell.BENCH)
            self._execute(run)
            machines.alive(self.slot.machine, busy=True)
        self.unsure = False
        return run is not None

    def _recover_lost(self) -> None:
        """Queue again what other workers lost, once in a sweep's period.

        There is one results worker, and it may be dead itself, or its ring lost, when a lease runs out.
        """
        now = time.monotonic()
        if now >= self.recover_at:
            self.recover_at = now + settings.KEYDROME_SWEEP_SECONDS
            services.recover_lost()

    def _claim(self) -> Run | None:
        """Claim a run of a benchmark version that this worker has; when it only leaves others, say so once."""
        own = versions.own_versions()
        run = claims.claim(self.slot, own)
        reason = versions.refusal(own, self.slot.machine.machine_class) if run is None else ""
        if reason != self.slot.machine.refusal:
            self.slot.machine.refusal = reason
            machines.refuses(self.slot.machine, reason)
            _log.warning("refusal: %s", reason or "no more")
        return run

    def drain(self) -> int:
        """Work until nothing waits; return how many runs were worked on."""
        done = 0
        while self.run_one():
            done += 1
        return done

    def work(self) -> None:
        """Work until `stop`, looking for work every second."""
        while not self.stopping.is_set():
            close_old_connections()
            try:
                done = self.drain()
            except DATABASE_AWAY:
                _log.warning("the database cannot be reached, trying again", exc_info=True)
                done = 0
            if done == 0:
                self.stopping.wait(IDLE_SECONDS)

    def _execute_here(self) -> Execute:
        """Return what executes a job in the jail of the slot that this worker holds."""
        if self.execute is not None:
            return self.execute
        return partial(execute_for_real, settings=replace(load_settings(), slot=self.slot.number))

    def _execute(self, run: Run) -> None:
        """Execute a claimed run and write down how it ended, whatever happens."""
        heart = _Heart(run.pk, run.attempt, self.stopping, self.beat_seconds)
        _log.info("run %d attempt %d starts: %s", run.pk, run.attempt, run)
        if not claims.start(run.pk, run.attempt):
            return
        doing = "The runner failed"
        try:
            report = self._execute_here()(make_job(run), heart)
            doing = "The result could not be written down"
            self._record(run, report, heart)
        except Cancelled:
            self._stopped(run, heart)
        except Exception as error:  # the queue must go on whatever a run does
            _log.exception("run %d attempt %d: %s", run.pk, run.attempt, doing)
            close_old_connections()
            services.try_again(run.pk, run.attempt, f"{doing}: {type(error).__name__}.")

    def _stopped(self, run: Run, heart: _Heart) -> None:
        """End a run that was stopped on our own word."""
        if heart.last is Beat.CANCEL:
            claims.finish_cancelled(run.pk, run.attempt)
        elif heart.last is Beat.GO_ON:
            claims.requeue(run.pk, run.attempt)
        _log.info("run %d attempt %d stopped: %s", run.pk, run.attempt, heart.last.value)

    def _record(self, run: Run, report: RunReport, heart: _Heart) -> None:
        """Record a report; a fault of the machine is tried again before its owner hears of it."""
        tries: int = settings.KEYDROME_MAX_ATTEMPTS
        if report.verdict is Verdict.INFRASTRUCTURE and run.attempt < tries:
            _log.warning("run %d attempt %d: %s", run.pk, run.attempt, report.reason)
            heart.insist(partial(claims.requeue, run.pk, run.attempt))
            return
        recorded = heart.insist(partial(services.record, report))
        _log.info(
            "run %d attempt %d: %s%s",
            run.pk,
            run.attempt,
            report.verdict.value,
            "" if recorded else ", thrown away: another attempt owns the run",
        )
