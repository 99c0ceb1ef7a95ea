"""A run that is to be queued: its row, and its secret seeds."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from django.conf import settings

from leaderboard import catalogue
from leaderboard.fairness import Priority
from leaderboard.models import Run, Submission
from runner.manifest import Kind

if TYPE_CHECKING:
    from leaderboard.catalogue import Target


def new_run(
    submission: Submission,
    target: Target,
    scale: str,
    sessions: int,
    *,
    priority: Priority = Priority.CONTEST,
    wanted_class: str | None = None,
    verified: bool = False,
) -> Run:
    """Return a run for the queue, not saved. A gate needs one session only, on any machine."""
    where = settings.KEYDROME_MACHINE_CLASS if wanted_class is None else wanted_class
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
        seeds=fresh_seeds(count),
        priority=priority,
        wanted_class="" if gate else where,
        verified=verified,
    )


def fresh_seeds(count: int) -> list[str]:
    """Return different secret 64-bit seeds in hexadecimal."""
    seeds: set[str] = set()
    while len(seeds) < count:
        seeds.add(secrets.token_hex(8))
    return list(seeds)
