"""The lot: now and then a timed run has one more session, of which every call is recorded and certified.

A library could be right only while it is tested, or only in short runs. The additional session is one of the same
instance by the same player, with a seed of its own, and the library is told nothing; its times never count. What it
shows is judged as the gate is. Whether a run has one is drawn by the worker: one in KEYDROME_RECORD_ONE_IN.

The lot is drawn with the run's own secret seeds, not thrown anew: what a run drew, it keeps. A recorded session that
the machine loses is not replaced by a second chance to go without, and whoever has the seeds can see that it was drawn
fairly. Nobody has them before the run has ended, and no seed enters the jail.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.contract import Finding, Progress, Severity, Verdict
from runner.series import SeriesResult, run_series

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from runner.order import Order, Target
    from runner.settings import Settings

RECORDED = "recorded session: "


def draw_seed(seeds: Sequence[str], one_in: int) -> str | None:
    """Return the seed of a run's recorded session, or None when the lot fell on another run; 0 never falls.

    `seeds` are those of the run's sessions. The recorded one's is as secret as they are and differs from them.
    """
    if one_in < 1:
        return None
    digest = hashlib.sha256(f"lot of {' '.join(seeds)}".encode()).digest()
    seed, lot = digest[:8], digest[8:]
    return seed.hex() if int.from_bytes(lot) % one_in == 0 else None


def run_with_lot(
    target: Target,
    order: Order,
    settings: Settings,
    folder: Path,
    beat: Callable[[Progress], bool],
    *,
    seed: str | None,
) -> SeriesResult:
    """Run the order's series and, if there is a seed for it, the recorded session first.

    A recorded session that fails ends the run. One that could not be judged, or was lost to the machine, only adds an
    advisory finding: nothing is known against the library. What it found is told with the findings of the series.
    """
    if seed is None:
        return run_series(target, order, settings, folder, beat)
    place = folder / "recorded"
    place.mkdir(mode=0o700)
    count = len(order.seeds)
    recorded_order = replace(order, seeds=(seed,), control=False, record=True, plain=False)

    def recorded_beat(progress: Progress) -> bool:
        return beat(replace(progress, sessions=count, fraction=progress.fraction / (count + 1)))

    def series_beat(progress: Progress) -> bool:
        return beat(replace(progress, fraction=(1 + count * progress.fraction) / (count + 1)))

    recorded = run_series(target, recorded_order, settings, place, recorded_beat)
    unknown = recorded.verdict is Verdict.INFRASTRUCTURE
    if not unknown and recorded.verdict is not Verdict.PASSED:
        return replace(recorded, reason=RECORDED + recorded.reason, sessions=())
    series = run_series(target, order, settings, folder, series_beat)
    findings = list(recorded.findings)
    if unknown:
        suite = order.benchmark.name
        findings.append(
            Finding(suite, "not_certified", Severity.ADVISORY, RECORDED + recorded.reason)
        )
    known = {(finding.suite, finding.name, finding.severity) for finding in series.findings}
    extra = tuple(f for f in findings if (f.suite, f.name, f.severity) not in known)
    return replace(series, findings=series.findings + extra)
