"""Complete blocks: every library once with the same operations, in random order, in fresh processes.

A block has a seed of its own and begins and ends with the control library, so that each block says itself how steady
the machine was. A first block is a rehearsal: it warms the machine up, finds the libraries that do not get through, and
counts for nothing. A block in which the control strayed is void and one more is run for it, at most as many as were
asked for. A library that fails is left out from then on; the others stay comparable.
"""

from __future__ import annotations

import hashlib
import math
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runner.contract import Cancelled, Progress, Verdict
from runner.order import Target
from runner.referee import RefereeError, build_plan, run_session
from runner.stats.drift import Drift, judge_drift

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from runner.manifest import Metric
    from runner.order import Order
    from runner.settings import Settings

# No file gives such a name: compared libraries are named by their callers, who must not use these.
CONTROL, FLOOR = "(control)", "(null)"
_COMPARED_MIN = 2
# Whose numbers count although it cannot pass: it stores nothing, and only its time is wanted.
_FLOOR_VERDICTS = {Verdict.PASSED, Verdict.FAILED}


@dataclass(frozen=True, slots=True)
class Block:
    """One block: `values` has the metric of every library that got through, `change` how far the control strayed."""

    seed: str
    order: tuple[str, ...]
    values: dict[str, float]
    control_first: float
    control_last: float

    @property
    def control(self) -> float:
        """Return the control's number in this block: the geometric mean, so that a steady drift cancels."""
        return math.sqrt(self.control_first * self.control_last)

    @property
    def change(self) -> float:
        """Return the logarithm of the control's last number over its first."""
        return math.log(self.control_last / self.control_first)


@dataclass(slots=True)
class Blocks:
    """What the blocks showed so far. `excluded` says of each library that did not get through why."""

    rehearsal: Block | None = None
    blocks: list[Block] = field(default_factory=list)
    excluded: dict[str, str] = field(default_factory=dict)
    floor: str = ""  # why there is no number of the null library; empty: there is
    jail_levels: set[str] = field(default_factory=set)

    def drift(self) -> Drift:
        """Return which blocks the control voids."""
        return judge_drift([block.change for block in self.blocks])

    def counted(self) -> list[Block]:
        """Return the blocks that are not void."""
        drift = self.drift()
        return [block for index, block in enumerate(self.blocks) if not drift.is_void(index)]

    def values(self) -> dict[str, list[float]]:
        """Return the numbers of the libraries that got through everything, over the blocks that count."""
        counted = self.counted()
        names = counted[0].values if counted else {}
        return {
            name: [block.values[name] for block in counted]
            for name in names
            if name not in self.excluded and name != FLOOR
        }


def block_order(names: tuple[str, ...], seed: str) -> tuple[str, ...]:
    """Return the libraries in the order of the block with this seed: each order equally likely, a replay repeats it."""
    return tuple(
        sorted(
            names, key=lambda name: hashlib.sha256(f"order of {name} in {seed}".encode()).digest()
        )
    )


def run_blocks(
    targets: Mapping[str, Target],
    order: Order,
    settings: Settings,
    folder: Path,
    beat: Callable[[Progress], bool],
    *,
    wanted: int,
) -> Blocks:
    """Run a rehearsal and `wanted` blocks that count.

    `targets` are the libraries under comparison by name, at least two. The order's seeds are those of the rehearsal,
    of the blocks, and of as many repetitions as there may be. Ends early when fewer than two libraries are left. Raises
    RefereeError when control or machine fail, and Cancelled when `beat` returns False.
    """
    runner = _Runner(targets, order, settings, folder, beat)
    result = runner.result
    rehearsal, *seeds = order.seeds
    result.rehearsal = runner.block(rehearsal, 0, wanted)
    for number, seed in enumerate(seeds, start=1):
        enough = number > wanted and len(result.counted()) >= wanted
        if enough or len(targets) - len(result.excluded) < _COMPARED_MIN:
            break
        result.blocks.append(runner.block(seed, number, max(number, wanted)))
    return result


@dataclass(slots=True)
class _Runner:
    targets: Mapping[str, Target]
    order: Order
    settings: Settings
    folder: Path
    beat: Callable[[Progress], bool]
    result: Blocks = field(default_factory=Blocks)

    @property
    def metric(self) -> Metric:
        if self.order.benchmark.metric is None:
            raise ValueError(f"{self.order.benchmark.name} has no metric to compare by")
        return self.order.benchmark.metric

    def block(self, seed: str, number: int, of: int) -> Block:
        """Run one block; number 0 is the rehearsal."""
        names = [name for name in self.targets if name not in self.result.excluded]
        if not self.result.floor:
            names.append(FLOOR)
        places = (CONTROL, *block_order(tuple(names), seed), CONTROL)
        values: dict[str, float] = {}
        controls = []
        for place, name in enumerate(places):
            where = Progress(number, of, name, "start", (number + place / len(places)) / (of + 1))
            report = self._run(name, seed, where)
            value = self._value(report)
            self.result.jail_levels.add(report["jail"]["level"])
            if name == CONTROL:
                controls.append(self._control(report, value, number))
            elif value is not None and self._got_through(name, report):
                values[name] = value
            else:
                self._leave_out(name, report, number)
        return Block(seed, places, values, *controls)

    def _run(self, name: str, seed: str, where: Progress) -> dict[str, Any]:
        def tick(phase: str, _index: int, count: int) -> bool:
            nonlocal where
            if count > 0:
                where = Progress(where.session, where.sessions, name, phase, where.fraction)
            return self.beat(where)

        if not self.beat(where):
            raise Cancelled
        work = self.folder / "session"
        work.mkdir(mode=0o700)
        try:
            return run_session(self._plan(name, seed), work, self.settings, tick)
        finally:
            shutil.rmtree(work)

    def _plan(self, name: str, seed: str) -> dict[str, Any]:
        if name == CONTROL:
            return build_plan(Target(self.settings.control), self.order, seed, self.settings)
        if name != FLOOR:
            return build_plan(self.targets[name], self.order, seed, self.settings)
        plan = build_plan(Target(self.settings.floor), self.order, seed, self.settings)
        # It answers nothing right, so it is asked without the checks.
        return {**plan, "plain": True}

    def _value(self, report: dict[str, Any]) -> float | None:
        value = report["metrics"].get(self.metric.name)
        return float(value) if value is not None and value > 0 else None

    @staticmethod
    def _got_through(name: str, report: dict[str, Any]) -> bool:
        allowed = _FLOOR_VERDICTS if name == FLOOR else {Verdict.PASSED}
        return report["verdict"] in allowed

    def _control(self, report: dict[str, Any], value: float | None, number: int) -> float:
        if report["verdict"] == Verdict.REFUSED:
            raise RefereeError(report["reason"])
        if report["verdict"] != Verdict.PASSED or value is None:
            raise RefereeError(
                f"block {number}: the control library {report['verdict']}: {report['reason']}"
            )
        return value

    def _leave_out(self, name: str, report: dict[str, Any], number: int) -> None:
        when = f"in block {number}" if number else "in the rehearsal"
        verdict = str(report["verdict"]).replace("_", " ")
        reason = report["reason"] or f"it reported no {self.metric.name}"
        text = f"{verdict} {when}: {reason}"
        if name == FLOOR:
            self.result.floor = text
        else:
            self.result.excluded[name] = text
