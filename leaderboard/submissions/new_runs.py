"""Makes the rows of new runs, with secret seeds. leaderboard/queue/claims.py saves the rows.

The seeds are fresh, unless the run plays a hidden instance (one whose parameters a contest keeps secret) for which the
contest's organisers chose the same seeds for all entries.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from django.conf import settings

from leaderboard import catalogue
from leaderboard.models import Run, Submission
from leaderboard.queue.fairness import Priority
from runner.manifest import Kind

if TYPE_CHECKING:
    from leaderboard.catalogue import Target
    from leaderboard.contests.models import HiddenInstance


def new_run(
    submission: Submission,
    target: Target,
    scale: str,
    sessions: int,
    *,
    priority: Priority = Priority.CONTEST,
    wanted_class: str | None = None,
    verified: bool = False,
    hidden: HiddenInstance | None = None,
) -> Run:
    """Return a new run, which is not saved yet.

    `hidden` is a contest's instance with secret parameters. If it is given, `target` has the name of this instance.
    A gate (correctness benchmark) has one session (repetition) and may run on any machine, because gates are not timed.
    Other runs want the machine class `wanted_class`, by default KEYDROME_MACHINE_CLASS; an empty text means any class.
    """
    machine_class = settings.KEYDROME_MACHINE_CLASS if wanted_class is None else wanted_class
    benchmark = catalogue.benchmarks()[target.benchmark]
    gate = benchmark.kind is Kind.CORRECTNESS
    count = 1 if gate else sessions
    return Run(
        submission=submission,
        benchmark=benchmark.name,
        benchmark_version=benchmark.version,
        kind=benchmark.kind.value,
        instance=target.instance,
        scale=scale,
        sessions=count,
        seeds=list(hidden.seeds) if hidden and hidden.seeds else fresh_seeds(count),
        priority=priority,
        wanted_class="" if gate else machine_class,
        verified=verified,
        hidden=hidden,
    )


def fresh_seeds(count: int) -> list[str]:
    """Return `count` different secret 64-bit seeds, each as 16 hexadecimal digits."""
    seeds: set[str] = set()
    while len(seeds) < count:
        seeds.add(secrets.token_hex(8))
    return list(seeds)
