"""What must hold after the storm, whatever was killed when."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from tools.fault_storm.site import LEASE_SECONDS, SWEEP_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from tools.fault_storm.kills import Hit

RECORDED = re.compile(r"run (\d+) attempt (\d+): (\w+)$", re.MULTILINE)
# Workers look for lost runs between their own, which take some seconds; the database that was killed starts again.
LOOK_SECONDS = 12
KILLED_PLAYER = "crashed"  # nobody can tell who sent the signal: it counts as the library's own


def faults(hits: list[Hit], wanted: list[str], logs: Path) -> list[str]:
    """Return what is wrong; every submission is there once and every run has one final verdict, or it is listed."""
    return [*_submissions(wanted), *_runs(hits), *_records(logs), *_recovery(hits)]


def _submissions(wanted: list[str]) -> list[str]:
    """No submission is lost, none is there twice."""
    from leaderboard.models import Submission  # noqa: PLC0415 - needs Django set up

    found = Counter(Submission.objects.values_list("description", flat=True))
    return [
        f"submission {name!r} exists {found[name]} times" for name in wanted if found[name] != 1
    ]


def _runs(hits: list[Hit]) -> list[str]:
    """Every run has one final verdict, which a right library can have, and its attempts were counted."""
    from leaderboard.models import Run, RunDetail, State  # noqa: PLC0415 - needs Django set up

    players = {hit.run_id for hit in hits if hit.target == "player"}
    # While the database was away nobody could say whose player was killed.
    unnamed = sum(hit.target == "player" and hit.run_id is None for hit in hits)
    crashed = Run.objects.filter(verdict=KILLED_PLAYER).exclude(pk__in=players - {None})
    forgiven = set(crashed.values_list("pk", flat=True)[:unnamed])
    found = []
    details = set(RunDetail.objects.values_list("run_id", flat=True))
    lost = Counter(h.run_id for h in hits if h.target in {"worker", "referee", "jail", "jail-init"})
    for run in Run.objects.all():
        if run.state != State.DONE:
            found.append(f"run {run.pk} is {run.state}")
        elif run.verdict == KILLED_PLAYER and run.pk not in players | forgiven:
            found.append(f"run {run.pk} crashed, and nobody killed its player: {run.reason}")
        elif run.verdict not in {"passed", "infrastructure", KILLED_PLAYER}:
            found.append(f"run {run.pk} of a right library: {run.verdict}, {run.reason}")
        elif run.verdict == "infrastructure" and run.attempt < 3:  # noqa: PLR2004 - KEYDROME_MAX_ATTEMPTS
            found.append(f"run {run.pk} was given up after attempt {run.attempt}: {run.reason}")
        elif run.attempt > 1 + lost[run.pk] and not _whole_site_was_hit(hits):
            found.append(f"run {run.pk} had {run.attempt} attempts, {lost[run.pk]} were hit")
        elif run.verdict == "passed" and run.pk not in details:
            found.append(f"run {run.pk} has a verdict and no result")
    return found


def _whole_site_was_hit(hits: list[Hit]) -> bool:
    """Whether the database was killed, which may cost any running attempt."""
    return any(hit.target == "postgres" for hit in hits)


def _records(logs: Path) -> list[str]:
    """No result was written down twice: the workers say each time that one was."""
    from leaderboard.models import Run  # noqa: PLC0415 - needs Django set up

    attempts = dict(Run.objects.values_list("pk", "attempt"))
    said: Counter[int] = Counter()
    found = []
    for log in logs.glob("worker-*.log"):
        for run_id, attempt, _verdict in RECORDED.findall(log.read_text(errors="replace")):
            said[int(run_id)] += 1
            if attempts.get(int(run_id)) != int(attempt):
                found.append(f"run {run_id}: attempt {attempt} was recorded and is not the last")
    if not said:
        found.append("no worker said that it recorded anything: the check above saw nothing")
    return [*found, *(f"run {pk} was recorded {n} times" for pk, n in said.items() if n > 1)]


def _recovery(hits: list[Hit]) -> list[str]:
    """Return which leases of killed workers were not over within the lease time."""
    limit = LEASE_SECONDS + SWEEP_SECONDS + LOOK_SECONDS
    return [
        f"run {hit.run_id} was held for {hit.recovered_seconds or float('inf'):.0f} s by a killed {hit.target}"
        for hit in hits
        if hit.target == "worker"
        and hit.run_id is not None
        and (hit.recovered_seconds is None or hit.recovered_seconds > limit)
    ]
