"""Kills one process of the site under test, or disturbs the site's queue, and records what the process was doing.

A bench worker executes runs (requests to judge a library). For a run it starts the referee, which judges. The referee
starts the jail (a sandbox), and in the jail the player calls the library.
"""

from __future__ import annotations

import subprocess
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tools.process_tree import Process, descendants
from tools.reports.fault_storm.ask import ask
from tools.reports.fault_storm.site import POSTGRES, REDIS, RESULTS, WEB, worker_name

if TYPE_CHECKING:
    import random

    from tools.reports.fault_storm.site import Site

EMPTY_REDIS, REPEATED_WAKE_UP = "redis emptied", "repeated wake-up"
# Target -> how often it is struck in each round. A round strikes all targets, in random order.
TARGETS = {
    "worker": 4, "referee": 3, "jail": 1, "jail-init": 2, "player": 3,
    WEB: 2, RESULTS: 1, REDIS: 2, EMPTY_REDIS: 1, REPEATED_WAKE_UP: 1, POSTGRES: 2,
}  # fmt: skip
WAKE_UPS = 5


@dataclass(slots=True)
class Hit:
    """One kill or other disturbance: its time and target, what the target was doing, and the run being executed."""

    second: float
    target: str
    state: str
    run_id: int | None = None
    attempt: int = 0
    recovered_seconds: float | None = (
        None  # from the kill until the attempt had ended in the database
    )

    @property
    def text(self) -> str:
        """Return what was done, in words."""
        if self.target == EMPTY_REDIS:
            return "deleted all messages in Redis"
        if self.target == REPEATED_WAKE_UP:
            return f"sent {self.state} to the workers, although no new run was queued"
        if self.run_id is None:
            return f"killed the process {self.target} ({self.state})"
        return (
            f"killed the process {self.target} in attempt {self.attempt} of run {self.run_id} (state and progress of "
            f"the run: {self.state})"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


def strike(
    site: Site, target: str, workers: int, first_slot: int, chance: random.Random
) -> Hit | None:
    """Kill one process named `target`, or empty Redis, or send wake-ups; return None if that was not possible."""
    now = time.monotonic()
    if target == EMPTY_REDIS:
        done = subprocess.run(
            ["redis-cli", "-s", str(site.redis_socket), "FLUSHALL"],
            capture_output=True,
            check=False,
        )
        return Hit(now, target, "its messages") if done.returncode == 0 else None
    if target == REPEATED_WAKE_UP:
        return _wake_repeatedly(now)
    if target in site.services:
        pid = site.services[target].pid
        return Hit(now, target, "at work") if pid and Process(pid, target).kill() else None
    number = chance.randrange(workers)
    pid = site.services[worker_name(number)].pid
    if pid is None:
        return None
    victims = [Process(pid, "worker"), *descendants(pid)]
    victim = next((process for process in victims if process.name == target), None)
    if victim is None:
        return None
    hit = _state_of(first_slot + number, target)
    hit.second = time.monotonic()
    return hit if victim.kill() else None


def _wake_repeatedly(now: float) -> Hit:
    """Send the bench workers several wake-up messages although no new run was queued."""
    from leaderboard.queue import wakeup  # noqa: PLC0415 - needs Django set up

    for _ in range(WAKE_UPS):
        wakeup.wake(wakeup.BENCH)
    return Hit(now, REPEATED_WAKE_UP, f"{WAKE_UPS} wake-ups")


def _state_of(slot: int, target: str) -> Hit:
    """Return a Hit with the run that the worker with this slot number is executing, and the state of the run."""
    from django.db import DatabaseError  # noqa: PLC0415 - needs Django set up

    try:
        run = ask(lambda: _active(slot), timeout_seconds=0.0)
    except DatabaseError:
        return Hit(0.0, target, "the database was down")
    if run is None:
        return Hit(0.0, target, "idle")
    state = f"{run.state}, {run.progress_note}" if run.progress_note else run.state
    return Hit(0.0, target, state, run.pk, run.attempt)


def _active(slot: int) -> Any:  # noqa: ANN401 - a Run, which needs Django set up
    from leaderboard.models import ACTIVE_STATES, Run  # noqa: PLC0415 - needs Django set up

    return Run.objects.filter(slot=slot, state__in=ACTIVE_STATES).first()


def note_recovery(hits: list[Hit]) -> None:
    """Record the recovery time of each killed attempt that has ended in the database since the last call."""
    from leaderboard.models import ACTIVE_STATES, Run  # noqa: PLC0415 - needs Django set up

    open_hits = [h for h in hits if h.run_id is not None and h.recovered_seconds is None]
    if not open_hits:
        return
    wanted = {h.run_id for h in open_hits}
    active = ask(
        lambda: set(
            Run.objects.filter(pk__in=wanted, state__in=ACTIVE_STATES).values_list("pk", "attempt")
        )
    )
    for hit in open_hits:
        if (hit.run_id, hit.attempt) not in active:
            hit.recovered_seconds = time.monotonic() - hit.second
