"""What a comparison comes to: the blocks, judged, and the same as JSON. Pure: the same blocks give the same answer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

from runner.blocks import FLOOR
from runner.contract import JailLevel
from runner.machine import machine_facts
from runner.manifest import Direction
from runner.stats.family import MARGIN_RATIO, SIGNIFICANCE
from runner.stats.pairs import Comparison, compare

if TYPE_CHECKING:
    from collections.abc import Collection

    from runner.blocks import Block, Blocks
    from runner.manifest import Metric
    from runner.order import Order
    from runner.stats.family import Rank
    from runner.stats.pairs import Pair

COMPARE_SCHEMA = "keydrome.compare.v1"
# Below this many times the harness's own time, a library's number is to a good part the harness's.
FLOOR_RATIO_MIN = 3.0
_COMPARED_MIN = 2


@dataclass(frozen=True, slots=True)
class Library:
    """A library that takes part. `refused` says why it cannot be run, empty when it can."""

    name: str
    file: str  # for display only
    sha256: str
    configuration: dict[str, Any] | None
    refused: str = ""


@dataclass(frozen=True)
class Compared:
    """The blocks of an order, and what they say."""

    order: Order
    libraries: tuple[Library, ...]
    blocks: Blocks
    wanted: int

    @property
    def metric(self) -> Metric:
        """Return what is compared by."""
        if self.order.benchmark.metric is None:
            raise ValueError(f"{self.order.benchmark.name} has no metric to compare by")
        return self.order.benchmark.metric

    @cached_property
    def counted(self) -> list[Block]:
        """Return the blocks that are not void."""
        return self.blocks.counted()

    @cached_property
    def values(self) -> dict[str, list[float]]:
        """Return the numbers of the libraries that got through all blocks, over those that count."""
        return self.blocks.values()

    @cached_property
    def comparison(self) -> Comparison | None:
        """Return who is apart from whom, None when fewer than two libraries have numbers."""
        if len(self.values) < _COMPARED_MIN:
            return None
        lower = self.metric.direction is Direction.LOWER
        return compare(self.values, lower_is_better=lower)

    def left_out(self) -> dict[str, str]:
        """Return why libraries have no numbers, by name."""
        refused = {lib.name: f"refused: {lib.refused}" for lib in self.libraries if lib.refused}
        return {**refused, **self.blocks.excluded}

    def rank(self, name: str) -> Rank | None:
        """Return a library's rank."""
        if self.comparison is None or name not in self.comparison.names:
            return None
        return self.comparison.ranks[self.comparison.names.index(name)]

    def over_control(self, name: str) -> float:
        """Return the median over the blocks of a library's number over the control's."""
        return median(block.values[name] / block.control for block in self.counted)

    def over_floor(self, name: str) -> float | None:
        """Return how many times longer than the null library it takes; None where that has no number."""
        if self.blocks.floor:
            return None
        sign = 1 if self.metric.direction is Direction.LOWER else -1
        return median((b.values[name] / b.values[FLOOR]) ** sign for b in self.counted)

    def harness_bound(self, name: str) -> bool:
        """Whether a library is so fast that its number says little but that."""
        ratio = self.over_floor(name)
        return ratio is not None and ratio < FLOOR_RATIO_MIN


def compare_json(compared: Compared) -> dict[str, Any]:
    """Return the comparison for scripts (harness/schema/compare.v1.schema.json)."""
    order, metric, blocks = compared.order, compared.metric, compared.blocks
    drift = blocks.drift()
    pairs = compared.comparison.pairs if compared.comparison else ()
    rehearsal = blocks.rehearsal
    return {
        "schema": COMPARE_SCHEMA,
        "benchmark": order.benchmark.name,
        "benchmark_version": order.benchmark.version,
        "instance": order.instance,
        "scale": order.scale.value,
        "parameters": order.benchmark.resolve(order.instance, order.scale, order.overrides),
        "plain": order.plain,
        "metric": {"name": metric.name, "direction": metric.direction.value, "unit": metric.unit},
        "rules": {
            "significance": SIGNIFICANCE,
            "margin_ratio": MARGIN_RATIO,
            "band_ratio": math.exp(drift.band) if math.isfinite(drift.band) else None,
        },
        "sessions": {"wanted": compared.wanted, "counted": len(compared.counted)},
        "libraries": [_library_json(compared, library) for library in compared.libraries],
        "floor": {"missing": blocks.floor},
        "pairs": [_pair_json(pair) for pair in pairs],
        "rehearsal": None if rehearsal is None else _block_json(rehearsal, ""),
        "blocks": [
            _block_json(block, drift.reason(index)) for index, block in enumerate(blocks.blocks)
        ],
        "jail_level": weakest(blocks.jail_levels),
        "machine": machine_facts(),
    }


def weakest(levels: Collection[str]) -> str:
    """Return the weakest of jail levels, empty without any."""
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


def _pair_json(pair: Pair) -> dict[str, Any]:
    return {
        "first": pair.first,
        "second": pair.second,
        "ratio": pair.ratio,
        "low": pair.low,
        "high": pair.high,
        "coverage": pair.coverage,
        "p_different": pair.p_different,
        "p_apart": pair.p_apart,
        "p_equal": pair.p_equal,
        "standing": pair.standing.value,
        "leader": pair.leader,
        "more_sessions": pair.more_sessions,
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
