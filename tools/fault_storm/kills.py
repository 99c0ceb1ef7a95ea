"""Whom the storm kills, and what the kill hit."""

from __future__ import annotations

import subprocess
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from tools.fault_storm.ask import ask
from tools.fault_storm.site import POSTGRES, REDIS, RESULTS, WEB, worker_name
from tools.process_tree import Process, descendants

if TYPE_CHECKING:
    import random

    from tools.fault_storm.site import Site

EMPTY_REDIS, RING = "redis emptied", "bell doubled"
# Whom -> how often in each round.
TARGETS = {
    "worker": 4, "referee": 3, "jail": 1, "jail-init": 2, "player": 3,
    WEB: 2, RESULTS: 1, REDIS: 2, EMPTY_REDIS: 1, RING: 1, POSTGRES: 2,
}  # fmt: skip
RINGS = 5


@dataclass(slots=True)
class Hit:
    """One kill: when, whom, and which run it hit in which state."""

    second: float
    target: str
    state: str
    run_id: int | None = None
    attempt: int = 0
    recovered_seconds: float | None = None  # until the hit attempt was over in the database

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


def strike(
    site: Site, target: str, workers: int, first_slot: int, chance: random.Random
) -> Hit | None:
    """Kill one `target`, if there is one now, and return what it hit."""
    now = time.monotonic()
    if target == EMPTY_REDIS:
        done = subprocess.run(
            ["redis-cli", "-s", str(site.redis_socket), "FLUSHALL"],
            capture_output=True,
            check=False,
        )
        return Hit(now, target, "its messages") if done.returncode == 0 else None
    if target == RING:
        return _ring_doubled(now)
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


def _ring_doubled(now: float) -> Hit:
    """Ring the bench bell several times for nothing."""
    from leaderboard import bell  # noqa: PLC0415 - needs Django set up

    for _ in range(RINGS):
        bell.ring(bell.BENCH)
    return Hit(now, RING, f"{RINGS} rings")


def _state_of(slot: int, target: str) -> Hit:
    """Return what the slot does just now, in the words of the run's page."""
    from django.db import DatabaseError  # noqa: PLC0415 - needs Django set up

    try:
        run = ask(lambda: _active(slot), patience_seconds=0.0)
    except DatabaseError:
        return Hit(0.0, target, "the database was away")
    if run is None:
        return Hit(0.0, target, "idle")
    state = f"{run.state}, {run.progress_note}" if run.progress_note else run.state
    return Hit(0.0, target, state, run.pk, run.attempt)


def _active(slot: int) -> Any:  # noqa: ANN401 - a Run, which needs Django set up
    from leaderboard.models import ACTIVE_STATES, Run  # noqa: PLC0415 - needs Django set up

    return Run.objects.filter(slot=slot, state__in=ACTIVE_STATES).first()


def note_recovery(hits: list[Hit]) -> None:
    """Note of which hit attempts the database now says that they are over."""
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
