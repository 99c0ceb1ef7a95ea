"""Stores the control library's results on each machine, and excludes a noisy machine from ranking.

The control library is the baseline. Each session (repetition) of a timed run measures it and the candidate, the library
that the run judges. The control's results over time describe the machine, because they do not depend on the candidates.
control_noise.py decides whether the machine is too noisy; this module reads and writes the rows.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from django.conf import settings

from leaderboard import catalogue
from leaderboard.machines import control_noise
from leaderboard.models import ControlSeries, Machine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaderboard.models import Run
    from runner.contract import Session

# In a full session the control runs this many times: once before and once after the candidate.
_BRACKET = 2


def note_control(run: Run, sessions: Sequence[Session]) -> str:
    """Store the control's results of a timed run; return why the run's machine is excluded from ranking.

    Returns an empty text if the machine is not excluded. Stores nothing for runs without a control, and for audits
    (repetitions in a mode in which every call takes longer). 4 SQL statements.
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
    found = control_noise.judge(history(run.machine), limits())
    Machine.objects.filter(pk=run.machine.pk).update(
        noise=found.noise, drift=found.drift, why_excluded=found.reason
    )
    return found.reason


def limits() -> control_noise.Limits:
    """Return the largest noise and drift with which a machine's runs may still be ranked."""
    return control_noise.Limits(
        noise=settings.KEYDROME_NOISE_PERCENT_MAX / 100,
        drift=settings.KEYDROME_DRIFT_PERCENT_MAX / 100,
    )


def history(machine: Machine) -> list[control_noise.Series]:
    """Return the newest SERIES_MAX series (one for each timed run) on a machine, newest first. 1 SQL statement."""
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
        )[: control_noise.SERIES_MAX]
    )
    return [
        control_noise.Series((name, version, instance, scale), level, tuple(changes))
        for name, version, instance, scale, level, changes in rows
    ]


def _series(run: Run, sessions: Sequence[Session], metric: str) -> control_noise.Series | None:
    """Return the control's results in one run, or None if no session measured the control."""
    levels = []
    changes = []
    for session in sessions:
        values = [report.metrics.get(metric) for report in session.controls]
        known = [value for value in values if value and value > 0]
        levels += known
        if len(known) == _BRACKET:
            changes.append(math.log(known[1] / known[0]))
    if not levels:
        return None
    target = (run.benchmark, run.benchmark_version, run.instance, run.scale)
    return control_noise.Series(target, median(levels), tuple(changes))
