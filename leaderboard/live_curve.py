"""Turns the throughput of a running run's newest ended session into JSON, and reads this JSON.

The run's page shows this throughput before the run ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.report import Throughput

if TYPE_CHECKING:
    from runner.contract import SessionCurves

# The largest number of windows (equal intervals of time) of a stored curve. Curves must be short, because a heartbeat,
# the worker's regular sign of life, stores them in the row of the run.
WINDOWS_MAX = 60


@dataclass(frozen=True, slots=True)
class LiveCurve:
    """The throughput in the last session that has ended: of the candidate, and of the control library if it ran."""

    session: int
    candidate: Throughput
    control: Throughput | None

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> LiveCurve:
        """Return the curves in the JSON that `live_json` returned."""
        control = value.get("control")
        return cls(
            int(value["session"]),
            Throughput.from_json(value["candidate"]),
            None if control is None else Throughput.from_json(control),
        )


def live_json(curves: SessionCurves) -> dict[str, Any]:
    """Return the curves as JSON, with at most WINDOWS_MAX windows each."""
    return {
        "session": curves.session,
        "candidate": _short(curves.candidate).to_json(),
        "control": None if curves.control is None else _short(curves.control).to_json(),
    }


def _short(curve: Throughput) -> Throughput:
    """Return the curve with so many neighbouring windows merged that at most WINDOWS_MAX are left.

    Windows at the end that do not fill a merged window are left out, because the rate of that window would be too low.
    """
    count = len(curve.committed)
    width = -(-count // WINDOWS_MAX) or 1
    merged = tuple(
        sum(curve.committed[start : start + width]) for start in range(0, count - width + 1, width)
    )
    return Throughput(curve.phase, curve.window_ns * width, merged)
