"""Runs several libraries in complete blocks, for `keydrome compare`.

A block runs every library once, with the same operations, each in a fresh process. The order is random and depends on
the block's seed. A fixed library, the control library, runs twice: first and last in the block. Its two times should be
equal, so their difference shows the noise of the machine.

The first block is a rehearsal: it warms the machine up and finds libraries that fail. Its times are not used. If the
control's time changed too much in a block (drift.py), the block is discarded and repeated. The number of repetitions
is at most the number of requested blocks. A library that fails is excluded from all later blocks, so that the remaining
libraries are measured under equal conditions.
"""

from __future__ import annotations

import hashlib
import math
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runner.contract import Cancelled, Progress, RefereeError
from runner.drift import Drift, judge_drift
from runner.inspection.user_file import unchanged
from runner.referee import build_plan, run_session
from runner.request import Loadable
from runner.terms import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from runner.manifest import Metric
    from runner.report import Report
    from runner.request import Request
    from runner.settings import Settings

# Names of the control library and of the null library in a block. The null library does nothing, so its time is the
# time that Keydrome's own code needs for the same calls. Callers must not give these names to their libraries.
CONTROL, FLOOR = "(control)", "(null)"
_COMPARED_MIN = 2
_REHEARSAL = "the rehearsal (the first block, which does not count)"
# The null library stores nothing, so it may fail its checks. Only its time is used.
_FLOOR_VERDICTS = {Verdict.PASSED, Verdict.FAILED}


@dataclass(frozen=True, slots=True)
class Block:
    """One block. `order` lists all libraries in running order.

    `values` maps each library that passed to its value of the metric, the measured number that the benchmark compares
    libraries by. The null library is in `values` even if its checks failed.
    """

    seed: str
    order: tuple[str, ...]
    values: dict[str, float]
    control_first: float
    control_last: float

    @property
    def control(self) -> float:
        """Return the control's metric: the geometric mean of both runs, so that a steady drift cancels."""
        return math.sqrt(self.control_first * self.control_last)

    @property
    def change(self) -> float:
        """Return the natural logarithm of the control's last metric divided by its first metric."""
        return math.log(self.control_last / self.control_first)


@dataclass(slots=True)
class Blocks:
    """The blocks that have run so far. `excluded` maps each library that failed to the reason."""

    rehearsal: Block | None = None
    blocks: list[Block] = field(default_factory=list)
    excluded: dict[str, str] = field(default_factory=dict)
    floor: str = ""  # the reason why the null library has no metric; empty if it has one
    # How well the jail, the sandbox in which the libraries ran, protected the machine.
    jail_levels: set[str] = field(default_factory=set)

    def drift(self) -> Drift:
        """Return which blocks must be discarded because the control's time changed too much."""
        return judge_drift([block.change for block in self.blocks])

    def counted(self) -> list[Block]:
        """Return the blocks that are not discarded."""
        drift = self.drift()
        return [block for index, block in enumerate(self.blocks) if not drift.is_discarded(index)]

    def values(self) -> dict[str, list[float]]:
        """Return the metrics of each library that was never excluded: one for each block that is not discarded."""
        counted = self.counted()
        names = counted[0].values if counted else {}
        return {
            name: [block.values[name] for block in counted]
            for name in names
            if name not in self.excluded and name != FLOOR
        }


def _when(number: int) -> str:
    return f"in block {number}" if number else f"in {_REHEARSAL}"


def block_order(names: tuple[str, ...], seed: str) -> tuple[str, ...]:
    """Return the libraries in a random order, which depends on the seed alone, so that a replay uses the same order."""
    return tuple(
        sorted(
            names, key=lambda name: hashlib.sha256(f"order of {name} in {seed}".encode()).digest()
        )
    )


def run_blocks(
    candidates: Mapping[str, Loadable],
    request: Request,
    settings: Settings,
    folder: Path,
    heartbeat: Callable[[Progress], bool],
    *,
    wanted: int,
    after_block: Callable[[Blocks], None] | None = None,
) -> Blocks:
    """Run the rehearsal, and then blocks until `wanted` of them are valid, that is, not discarded.

    `candidates` maps names to at least two libraries. The request has one seed for the rehearsal, one for each block,
    and one for each possible repetition. The run ends early if fewer than two libraries are left.

    This function calls `heartbeat` with the progress at least once a second, and raises Cancelled if `heartbeat`
    returns False. It calls `after_block` with all blocks so far after each block, but not after the rehearsal. Raises
    RefereeError if the control library fails or the machine cannot run a library. Raises RequestError if a user's file
    that every run of a library reads (keys, or a recorded trace of calls) changes.
    """
    runner = _Runner(candidates, request, settings, folder, heartbeat)
    result = runner.result
    rehearsal, *seeds = request.seeds
    result.rehearsal = runner.block(rehearsal, 0, wanted)
    for number, seed in enumerate(seeds, start=1):
        enough = number > wanted and len(result.counted()) >= wanted
        if enough or len(candidates) - len(result.excluded) < _COMPARED_MIN:
            break
        result.blocks.append(runner.block(seed, number, max(number, wanted)))
        if after_block is not None:
            after_block(result)
    return result


@dataclass(slots=True)
class _Runner:
    candidates: Mapping[str, Loadable]
    request: Request
    settings: Settings
    folder: Path
    heartbeat: Callable[[Progress], bool]
    result: Blocks = field(default_factory=Blocks)

    @property
    def metric(self) -> Metric:
        if self.request.benchmark.metric is None:
            raise ValueError(
                f"the benchmark {self.request.benchmark.name} has no metric to compare by: choose another benchmark"
            )
        return self.request.benchmark.metric

    def block(self, seed: str, number: int, of: int) -> Block:
        """Run one block; number 0 is the rehearsal. `of` is the total number of blocks that the progress shows."""
        names = [name for name in self.candidates if name not in self.result.excluded]
        if not self.result.floor:
            names.append(FLOOR)
        places = (CONTROL, *block_order(tuple(names), seed), CONTROL)
        values: dict[str, float] = {}
        controls = []
        for place, name in enumerate(places):
            where = Progress(number, of, name, "start", (number + place / len(places)) / (of + 1))
            report = self._run(name, seed, where)
            value = self._value(report)
            self.result.jail_levels.add(report.jail.level)
            if name == CONTROL:
                controls.append(self._control(report, value, number))
            elif value is not None and self._passed(name, report):
                values[name] = value
            else:
                self._leave_out(name, report, number)
        return Block(seed, places, values, *controls)

    def _run(self, name: str, seed: str, where: Progress) -> Report:
        def tick(phase: str, _index: int, count: int) -> bool:
            nonlocal where
            if count > 0:
                where = Progress(where.session, where.sessions, name, phase, where.fraction)
            return self.heartbeat(where)

        if not self.heartbeat(where):
            raise Cancelled
        work = self.folder / "session"
        work.mkdir(mode=0o700)
        try:
            with unchanged(self.request.user_files):
                return run_session(self._plan(name, seed), work, self.settings, tick)
        finally:
            shutil.rmtree(work)

    def _plan(self, name: str, seed: str) -> dict[str, Any]:
        if name == CONTROL:
            return build_plan(Loadable(self.settings.control), self.request, seed, self.settings)
        if name != FLOOR:
            return build_plan(self.candidates[name], self.request, seed, self.settings)
        plan = build_plan(Loadable(self.settings.floor), self.request, seed, self.settings)
        # "plain" switches the checks off, because the null library returns wrong results and only its time is used.
        return {**plan, "plain": True}

    def _value(self, report: Report) -> float | None:
        value = report.metrics.get(self.metric.name)
        return float(value) if value is not None and value > 0 else None

    def _what_happened(self, report: Report, when: str = "") -> str:
        """Return a verb phrase, whose subject is the library, about a session that has no usable result."""
        how = f"{report.verdict.predicate}{when}"
        return f"{how}: {report.reason}" if report.reason else f"{how}, but {self._no_value()}"

    def _no_value(self) -> str:
        name = self.metric.name
        return (
            f"{name} in the report of this library is 0 or missing, so no ratio can be computed; "
            "`keydrome bench` shows all metrics of the library"
        )

    @staticmethod
    def _passed(name: str, report: Report) -> bool:
        allowed = _FLOOR_VERDICTS if name == FLOOR else {Verdict.PASSED}
        return report.verdict in allowed

    def _control(self, report: Report, value: float | None, number: int) -> float:
        if report.verdict is Verdict.REFUSED:
            raise RefereeError(report.reason)
        if report.verdict is not Verdict.PASSED or value is None:
            raise RefereeError(
                f"{_when(number)}, the control library, Keydrome's own library for comparison, "
                f"{self._what_happened(report)}. "
                "Try again when the machine has less other work; if this happens again, run ./dev build, because "
                "Keydrome's build may be damaged"
            )
        return value

    def _leave_out(self, name: str, report: Report, number: int) -> None:
        text = self._what_happened(report, f" {_when(number)}")
        if name == FLOOR:
            self.result.floor = text
        else:
            self.result.excluded[name] = text
