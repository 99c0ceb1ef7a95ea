"""Bench machines: that they are there, what they are, and whether their numbers may rank.

Each function is one transaction, or part of its caller's.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils import timezone

from leaderboard import catalogue, steadiness
from leaderboard.models import ControlSeries, Machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaderboard.models import Run
    from runner.contract import Session

_BRACKET = 2  # control runs around a candidate


def seen(name: str, machine_class: str, facts: dict[str, Any]) -> Machine:
    """Write down that a machine is there, and what it is; return its row."""
    values = {"machine_class": machine_class, "facts": facts, "last_seen": timezone.now()}
    machine, _ = Machine.objects.update_or_create(name=name, defaults={**values, "refusal": ""})
    return machine


def alive(machine: Machine, *, busy: bool) -> None:
    """Write down that a machine was heard of just now, and whether it claimed or ended a run."""
    now = timezone.now()
    times = {"last_seen": now, "last_busy": now} if busy else {"last_seen": now}
    Machine.objects.filter(pk=machine.pk).update(**times)


def refuses(machine: Machine, reason: str) -> None:
    """Write down why the machine's worker leaves runs that wait; an empty reason: it leaves none."""
    Machine.objects.filter(pk=machine.pk).exclude(refusal=reason).update(refusal=reason)


def note_control(run: Run, sessions: Sequence[Session]) -> str:
    """Keep what the control did beside a timed run; return why its machine does not rank, empty if it does.

    Audits and runs without a control say nothing about the machine. 4 SQL statements.
    """
    benchmark = catalogue.benchmarks().get(run.benchmark)
    if run.machine is None or run.verified or benchmark is None or benchmark.metric is None:
        return ""
    series = _series(run, sessions, benchmark.metric.name)
    if series is None:
        return ""
    ControlSeries.objects.update_or_create(
        run=run,
        defaults={
            "machine": run.machine,
            "level": series.level,
            "changes": list(series.changes),
        },
    )
    found = steadiness.judge(history(run.machine), limits())
    Machine.objects.filter(pk=run.machine.pk).update(
        noise=found.noise, drift=found.drift, unsteady=found.reason
    )
    return found.reason


def limits() -> steadiness.Limits:
    """Return how far a machine that ranks may stray."""
    return steadiness.Limits(
        noise=settings.KEYDROME_NOISE_PERCENT_MAX / 100,
        drift=settings.KEYDROME_DRIFT_PERCENT_MAX / 100,
    )


def history(machine: Machine) -> list[steadiness.Series]:
    """Return what the control did on a machine, newest first. 1 SQL statement."""
    rows = (
        ControlSeries.objects.filter(machine=machine)
        .order_by("-recorded_at", "-pk")
        .values_list(
            "run__benchmark",
            "run__benchmark_version",
            "run__instance",
            "run__scale",
            "level",
            "changes",
        )[: steadiness.SERIES_MAX]
    )
    return [
        steadiness.Series((name, version, instance, scale), level, tuple(changes))
        for name, version, instance, scale, level, changes in rows
    ]


def _series(run: Run, sessions: Sequence[Session], metric: str) -> steadiness.Series | None:
    levels = []
    changes = []
    for session in sessions:
        values = [report["metrics"].get(metric) for report in session.controls]
        known = [value for value in values if value and value > 0]
        levels += known
        if len(known) == _BRACKET:
            changes.append(math.log(known[1] / known[0]))
    if not levels:
        return None
    target = (run.benchmark, run.benchmark_version, run.instance, run.scale)
    return steadiness.Series(target, median(levels), tuple(changes))
