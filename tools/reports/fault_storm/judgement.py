"""Checks the site's database and logs after the fault storm, which kills processes of the site at random.

A run is a request to judge one uploaded library; a worker executes it, in several attempts if one is killed. The
conditions that this file checks must be true after any sequence of kills.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from tools.reports.fault_storm.site import LEASE_SECONDS, SWEEP_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from tools.reports.fault_storm.kills import Hit

RECORDED = re.compile(r"run (\d+) attempt (\d+) ended with verdict (\w+)$", re.MULTILINE)
# The time that recovery may take in addition to its usual time. Workers look for lost runs only between their own runs,
# which take some seconds. A killed database must first restart.
LOOK_SECONDS = 12
# The verdict of a run whose player, the process that calls the library, was killed. The sender of the signal is
# unknown, so a kill counts as a crash of the library.
KILLED_PLAYER = "crashed"


def faults(hits: list[Hit], wanted: list[str], logs: Path) -> list[str]:
    """Return all faults of submissions, runs, recorded results and leases."""
    return [*_submissions(wanted), *_runs(hits), *_records(logs), *_recovery(hits)]


def _submissions(wanted: list[str]) -> list[str]:
    """Return the submissions that are missing or exist twice."""
    from leaderboard.models import Submission  # noqa: PLC0415 - needs Django set up

    found = Counter(Submission.objects.values_list("description", flat=True))
    return [
        f"submission {name!r} exists {found[name]} times instead of once"
        for name in wanted
        if found[name] != 1
    ]


def _runs(hits: list[Hit]) -> list[str]:
    """Return the runs without a final verdict, or with a verdict or number of attempts that no kill explains."""
    from leaderboard.models import Run, RunDetail, State  # noqa: PLC0415 - needs Django set up

    players = {hit.run_id for hit in hits if hit.target == "player"}
    # Kills of players whose run is unknown, because the database was down. Each may explain one crashed run.
    unnamed = sum(hit.target == "player" and hit.run_id is None for hit in hits)
    crashed = Run.objects.filter(verdict=KILLED_PLAYER).exclude(pk__in=players - {None})
    forgiven = set(crashed.values_list("pk", flat=True)[:unnamed])
    found = []
    details = set(RunDetail.objects.values_list("run_id", flat=True))
    lost = Counter(h.run_id for h in hits if h.target in {"worker", "referee", "jail", "jail-init"})
    for run in Run.objects.all():
        if run.state != State.DONE:
            found.append(f"run {run.pk} is {run.state} instead of done")
        elif run.verdict == KILLED_PLAYER and run.pk not in players | forgiven:
            found.append(
                f"run {run.pk} crashed, but the storm had not killed its player, the process that calls the library "
                f'(the run\'s reason: "{run.reason}")'
            )
        elif run.verdict not in {"passed", "infrastructure", KILLED_PLAYER}:
            found.append(
                f"run {run.pk} has verdict {run.verdict}, but its library is correct (the run's reason: "
                f'"{run.reason}")'
            )
        elif run.verdict == "infrastructure" and run.attempt < 3:  # noqa: PLR2004 - KEYDROME_MAX_ATTEMPTS
            found.append(
                f"run {run.pk} was given up after only {run.attempt} attempts (the run's reason: "
                f'"{run.reason}")'
            )
        elif run.attempt > 1 + lost[run.pk] and not _whole_site_was_hit(hits):
            found.append(
                f"run {run.pk} had {run.attempt} attempts, but at most {1 + lost[run.pk]} are allowed: one, and "
                "another one for each attempt that was killed"
            )
        elif run.verdict == "passed" and run.pk not in details:
            found.append(f"run {run.pk} has a verdict but no stored result")
    return found


def _whole_site_was_hit(hits: list[Hit]) -> bool:
    """Return whether the database was killed, which may abort every running attempt."""
    return any(hit.target == "postgres" for hit in hits)


def _records(logs: Path) -> list[str]:
    """Return the runs whose result was recorded twice or by an old attempt, from the workers' logs."""
    from leaderboard.models import Run  # noqa: PLC0415 - needs Django set up

    attempts = dict(Run.objects.values_list("pk", "attempt"))
    said: Counter[int] = Counter()
    found = []
    for log in logs.glob("worker-*.log"):
        for run_id, attempt, _verdict in RECORDED.findall(log.read_text(errors="replace")):
            said[int(run_id)] += 1
            if attempts.get(int(run_id)) != int(attempt):
                found.append(
                    f"run {run_id}: the result of attempt {attempt} was recorded, "
                    f"but the last attempt is number {attempts.get(int(run_id))}"
                )
    if not said:
        found.append("no worker logged a recorded result, so double recording cannot be checked")
    return [
        *found,
        *(f"the result of run {pk} was recorded {n} times" for pk, n in said.items() if n > 1),
    ]


def _recovery(hits: list[Hit]) -> list[str]:
    """Return the leases of killed workers that did not expire in time. A lease is the right to execute a run."""
    limit = LEASE_SECONDS + SWEEP_SECONDS + LOOK_SECONDS
    return [
        f"a killed {hit.target} held run {hit.run_id} {_held(hit)}, but at most {limit:.0f} s are allowed"
        for hit in hits
        if hit.target == "worker"
        and hit.run_id is not None
        and (hit.recovered_seconds is None or hit.recovered_seconds > limit)
    ]


def _held(hit: Hit) -> str:
    """Return how long the run of a killed process stayed claimed."""
    if hit.recovered_seconds is None:
        return "until the end of the storm"
    return f"for {hit.recovered_seconds:.0f} s"
