"""Computes the time of each phase of a run from its stored sessions.

A session executes the benchmark in phases, such as loading the records and reading them. This file uses no database.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leaderboard.submissions.report_columns import StoredSession
    from runner.report import Phase


@dataclass(frozen=True, slots=True)
class PhaseTimes:
    """The medians of one phase over the sessions that count. A number that no session measured is None.

    - `timed`: the time of the phase is part of the result.
    - `wall_ms`, `cpu_ms`: the time and the CPU time of the submitted library. `control_ms`: the control library's time.
    - `ratio`: the median of the library's time divided by the control's time in the same session.
    """

    name: str
    timed: bool
    wall_ms: float | None
    control_ms: float | None
    ratio: float | None
    cpu_ms: float | None


def phase_times(sessions: Sequence[StoredSession]) -> list[PhaseTimes]:
    """Return the times of each phase, in the order in which the phases ran. Discarded sessions do not count."""
    both = [
        (phase, next((other for other in session.control_phases if other.name == phase.name), None))
        for session in sessions
        if not session.discarded
        for phase in session.phases
    ]
    names = dict.fromkeys(phase.name for phase, _ in both)
    return [_of_phase([pair for pair in both if pair[0].name == name]) for name in names]


def _of_phase(pairs: Sequence[tuple[Phase, Phase | None]]) -> PhaseTimes:
    """Return the times of one phase; each pair has the library's and the control's phase of a session."""
    with_control = [(mine, control) for mine, control in pairs if control is not None]
    return PhaseTimes(
        name=pairs[0][0].name,
        timed=pairs[0][0].timed,
        wall_ms=_median(mine.wall_ns / 1e6 for mine, _ in pairs),
        control_ms=_median(control.wall_ns / 1e6 for _, control in with_control),
        ratio=_median(
            m.wall_ns / control.wall_ns for m, control in with_control if control.wall_ns
        ),
        cpu_ms=_median(mine.cpu_us / 1e3 for mine, _ in pairs if mine.cpu_us is not None),
    )


def _median(values: Iterable[float]) -> float | None:
    found = list(values)
    return median(found) if found else None
