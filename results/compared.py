"""Evaluates the blocks of `keydrome compare`, and returns the result as JSON.

A block runs every library once, with the same operations (runner/blocks.py). Each block also runs the control library,
which is the baseline, and the null library, which does nothing. The control runs twice per block. If its two times
differ too much, the block is discarded; the other blocks are valid. The result depends on the blocks alone, except for
the facts about the machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

from results.result_files import COMPARE_SCHEMA
from results.stats.family import MARGIN_RATIO, SIGNIFICANCE
from results.stats.pairs import Comparison, compare, sessions_for_equality
from runner.blocks import FLOOR
from runner.drift import VALUES_MIN, why_too_busy
from runner.machine import machine_facts
from runner.manifest import Direction
from runner.terms import JailLevel

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from results.stats.family import Rank
    from runner.blocks import Block, Blocks
    from runner.manifest import Metric
    from runner.request import Request

# The harness is the program that calls the libraries. The null library does nothing, so its time is the time of the
# harness. If a library takes less than this multiple of the null library's time, a large part of the library's time is
# the time of the harness.
FLOOR_RATIO_MIN = 3.0
_COMPARED_MIN = 2


@dataclass(frozen=True, slots=True)
class Library:
    """A library of the comparison. `refused` says why the inspection refused the file; empty if it was accepted."""

    name: str
    file: str  # for display only
    sha256: str
    configuration: dict[str, Any] | None
    refused: str = ""


@dataclass(frozen=True)
class Compared:
    """The blocks of a comparison, and their evaluation.

    `wanted` is the requested number of valid blocks. Ratios between 1 / margin_ratio and margin_ratio count as equal.
    """

    request: Request
    libraries: tuple[Library, ...]
    blocks: Blocks
    wanted: int
    margin_ratio: float = MARGIN_RATIO

    @property
    def metric(self) -> Metric:
        """Return the metric of the benchmark. Raises ValueError if the benchmark has no metric."""
        if self.request.benchmark.metric is None:
            raise ValueError(
                f"the benchmark {self.request.benchmark.name} has no metric to compare by: choose another benchmark"
            )
        return self.request.benchmark.metric

    @cached_property
    def counted(self) -> list[Block]:
        """Return the blocks that are not discarded."""
        return self.blocks.counted()

    @cached_property
    def values(self) -> dict[str, list[float]]:
        """Return, for each library that passed in every block, its metric in each valid block."""
        return self.blocks.values()

    @cached_property
    def comparison(self) -> Comparison | None:
        """Return the comparison of all pairs of libraries, or None if fewer than two libraries have values."""
        if len(self.values) < _COMPARED_MIN:
            return None
        lower = self.metric.direction is Direction.LOWER
        margin = math.log(self.margin_ratio)
        return compare(self.values, lower_is_better=lower, margin=margin)

    def sessions_for_equality(self) -> int | None:
        """Estimate how many blocks would show that two equal libraries are equal, from the two runs of the control.

        Returns None if there are too few blocks to tell, or if the number is too large.
        """
        changes = [block.change for block in self.counted]
        if len(changes) < VALUES_MIN:
            return None
        margin = math.log(self.margin_ratio)
        return sessions_for_equality(changes, max(len(self.values), _COMPARED_MIN), margin)

    def left_out(self) -> dict[str, str]:
        """Return the libraries without values, each with the reason: a verb phrase, such as "crashed in block 3"."""
        refused = {
            lib.name: f"was refused by the inspection: {lib.refused}"
            for lib in self.libraries
            if lib.refused
        }
        return {**refused, **self.blocks.excluded}

    def rank(self, name: str) -> Rank | None:
        """Return a library's rank, or None if the library was not compared."""
        if self.comparison is None or name not in self.comparison.names:
            return None
        return self.comparison.ranks[self.comparison.names.index(name)]

    def over_control(self, name: str) -> float:
        """Return the median over the blocks of (library's metric / control library's metric)."""
        return median(block.values[name] / block.control for block in self.counted)

    def over_floor(self, name: str) -> float | None:
        """Return the median over the blocks of (library's time / null library's time).

        Returns None if the null library has no time.
        """
        if self.blocks.floor:
            return None
        sign = 1 if self.metric.direction is Direction.LOWER else -1
        return median((b.values[name] / b.values[FLOOR]) ** sign for b in self.counted)

    def harness_bound(self, name: str) -> bool:
        """Return True if a large part of the library's time is the time of the harness (FLOOR_RATIO_MIN)."""
        ratio = self.over_floor(name)
        return ratio is not None and ratio < FLOOR_RATIO_MIN


def compare_json(compared: Compared, warnings: Sequence[str] = ()) -> dict[str, Any]:
    """Return the comparison as JSON (harness/schema/compare.v1.schema.json).

    `warnings` has the sentences about other work on the machine, from before and during the blocks.
    """
    request, metric, blocks = compared.request, compared.metric, compared.blocks
    drift = blocks.drift()
    pairs = compared.comparison.pairs if compared.comparison else ()
    rehearsal = blocks.rehearsal
    return {
        "schema": COMPARE_SCHEMA,
        "benchmark": request.benchmark.name,
        "benchmark_version": request.benchmark.version,
        "instance": request.instance,
        "scale": request.scale.value,
        "parameters": request.benchmark.resolve(request.instance, request.scale, request.overrides),
        **{used.option: used.to_json() for used in request.user_files},
        "plain": request.plain,
        "metric": {"name": metric.name, "direction": metric.direction.value, "unit": metric.unit},
        "rules": {
            "significance": SIGNIFICANCE,
            "margin_ratio": compared.margin_ratio,
            "band_ratio": math.exp(drift.band) if math.isfinite(drift.band) else None,
        },
        "sessions": {"wanted": compared.wanted, "counted": len(compared.counted)},
        "libraries": [_library_json(compared, library) for library in compared.libraries],
        "floor": {"missing": blocks.floor},
        "pairs": [pair.to_json() for pair in pairs],
        "rehearsal": None if rehearsal is None else _block_json(rehearsal, ""),
        "blocks": [
            _block_json(block, drift.reason(index)) for index, block in enumerate(blocks.blocks)
        ],
        "warnings": [*warnings, *filter(None, [why_too_busy(drift.changes)])],
        "jail_level": weakest(blocks.jail_levels),
        "machine": machine_facts(),
    }


def weakest(levels: Collection[str]) -> str:
    """Return the weakest of these levels of the jail (sandbox), or an empty string if there are none."""
    order = list(JailLevel)
    return max(map(JailLevel, levels), key=order.index).value if levels else ""


def _library_json(compared: Compared, library: Library) -> dict[str, Any]:
    name = library.name
    values = compared.values.get(name, [])
    rank = compared.rank(name)
    return {
        "name": name,
        "file": library.file,
        "sha256": library.sha256,
        "configuration": library.configuration,
        "left_out": compared.left_out().get(name, ""),
        "rank": None
        if rank is None
        else {"position": rank.position, "low": rank.low, "high": rank.high},
        "values": values,
        "median": median(values) if values else None,
        "over_control": compared.over_control(name) if values else None,
        "over_floor": compared.over_floor(name) if values else None,
        "harness_bound": bool(values) and compared.harness_bound(name),
    }


def _block_json(block: Block, void: str) -> dict[str, Any]:
    return {
        "seed": block.seed,
        "order": list(block.order),
        "values": block.values,
        "control_first": block.control_first,
        "control_last": block.control_last,
        "void": void,
    }
