"""Lists the metrics that reports of every benchmark may have, with name, label, unit and number of decimals.

The command line and the site show these metrics in this order and under these labels. Metrics that only one benchmark
reports are listed in its manifest (runner/manifest.py). docs/reference/plan-and-report.md defines each metric.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.manifest import Direction, OwnUnit, RequestError
from runner.manifest import Metric as RankingMetric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.manifest import Benchmark, OwnMetric

TOTAL_MS = "total_ms"
# For metrics of a benchmark in these units, higher values are better.
_HIGHER_UNITS = {OwnUnit.PER_SECOND, OwnUnit.MEGABYTES_PER_SECOND}
# Tables show times of at least this many milliseconds without decimals.
_WHOLE_FROM_MS = 1000


class Unit(StrEnum):
    """The unit of a metric's number. Code that shows a metric decides how to write the unit."""

    COUNT = "count"
    SHARE = "share"  # a fraction from 0 to 1
    NANOSECONDS = "ns"
    MICROSECONDS = "us"
    BYTES = "bytes"


_UNITS = {
    Unit.COUNT: "",
    Unit.SHARE: "",
    Unit.NANOSECONDS: "ns",
    Unit.MICROSECONDS: "us",
    Unit.BYTES: "bytes",
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. If its unit is COUNT, the number is shown with `digits` decimals.

    `direction` says whether a lower or a higher value is better. It is None if libraries cannot be compared by this
    metric.
    """

    name: str
    label: str
    unit: Unit = Unit.COUNT
    digits: int = 0
    direction: Direction | None = None


@dataclass(frozen=True, slots=True)
class RankedBy:
    """How tables show the metric that ranks the libraries of a benchmark: the total time, or another metric.

    - `label` names the metric within a sentence. `unit` is empty if the numbers have none.
    - `text` writes a number, with commas between thousands.
    """

    label: str
    unit: str
    text: Callable[[float], str]

    @property
    def heading(self) -> str:
        """Return label and unit, for the heading of a column."""
        label = self.label[:1].upper() + self.label[1:]
        return f"{label} ({self.unit})" if self.unit else label


def ranked_by(metric: str, own_metrics: Iterable[OwnMetric]) -> RankedBy:
    """Return how to show the metric with this name. `own_metrics` are the metrics that only its benchmark has."""
    for own in own_metrics:
        if own.name == metric:
            return RankedBy(own.title[:1].lower() + own.title[1:], own.written_unit, own.text)
    if metric == TOTAL_MS:
        return RankedBy("time", "ms", _time_text)
    for common in METRICS:
        if common.name == metric:
            return RankedBy(common.label, _UNITS[common.unit], lambda value: f"{value:,.1f}")
    return RankedBy(metric, "", lambda value: f"{value:,.1f}")


def with_metric(benchmark: Benchmark, name: str) -> Benchmark:
    """Return the benchmark, but ranked by the metric `name`. Raises RequestError if it has no such metric."""
    found = {one.name: one for one in rankable(benchmark)}
    if name not in found:
        raise RequestError(
            f"the benchmark {benchmark.name} has no metric {name!r} to compare by; choose one of: {', '.join(found)}"
        )
    return replace(benchmark, metric=found[name])


def rankable(benchmark: Benchmark) -> list[RankingMetric]:
    """Return the metrics by which libraries can be compared. The metric of the benchmark's manifest comes first."""
    found = [] if benchmark.metric is None else [benchmark.metric]
    found.append(RankingMetric(TOTAL_MS, Direction.LOWER, "ms"))
    for own in benchmark.own_metrics:
        if own.unit in _HIGHER_UNITS:
            found.append(RankingMetric(own.name, Direction.HIGHER, own.unit.value))
        elif own.unit is OwnUnit.MILLISECONDS:
            found.append(RankingMetric(own.name, Direction.LOWER, own.unit.value))
    found += [
        RankingMetric(one.name, one.direction, _UNITS[one.unit])
        for one in METRICS
        if one.direction is not None
    ]
    first: dict[str, RankingMetric] = {}
    for one in found:
        first.setdefault(one.name, one)
    return list(first.values())


def _time_text(value_ms: float) -> str:
    return f"{value_ms:,.{1 if abs(value_ms) < _WHOLE_FROM_MS else 0}f}"


METRICS = (
    Metric("throughput_tps", "transactions per second", direction=Direction.HIGHER),
    Metric("transactions_completed", "transactions completed"),
    Metric("transactions_failed", "transactions failed", direction=Direction.LOWER),
    Metric("deadlocks", "deadlocks", direction=Direction.LOWER),
    Metric("calls", "calls"),
    Metric("ns_per_call", "time per call", Unit.NANOSECONDS, direction=Direction.LOWER),
    Metric("hit_ratio", "hit ratio", Unit.SHARE),
    Metric(
        "client_context_switches",
        "context switches of the client threads",
        direction=Direction.LOWER,
    ),
    Metric("cycles_per_call", "cycles per call", digits=1, direction=Direction.LOWER),
    Metric("instructions_per_call", "instructions per call", digits=1, direction=Direction.LOWER),
    Metric("cache_misses_per_call", "cache misses per call", digits=3, direction=Direction.LOWER),
    Metric("branch_misses_per_call", "branch misses per call", digits=3, direction=Direction.LOWER),
    Metric("stalled_frontend_per_call", "cycles per call with the front end stalled", digits=1),
    Metric("stalled_backend_per_call", "cycles per call with the back end stalled", digits=1),
    Metric("page_faults", "page faults", direction=Direction.LOWER),
    Metric("context_switches", "context switches of all threads", direction=Direction.LOWER),
    Metric("migrations", "CPU migrations"),
    Metric("records_start", "records at the start"),
    Metric("records_end", "records at the end"),
    Metric("memory_peak_bytes", "peak memory", Unit.BYTES, direction=Direction.LOWER),
    Metric("memory_start_bytes", "memory at the start", Unit.BYTES, direction=Direction.LOWER),
    Metric("memory_end_bytes", "memory at the end", Unit.BYTES, direction=Direction.LOWER),
    Metric(
        "bytes_per_record_start",
        "bytes per record at the start",
        digits=1,
        direction=Direction.LOWER,
    ),
    Metric("bytes_per_record", "bytes per record at the end", digits=1, direction=Direction.LOWER),
    Metric("cpu_us", "CPU time", Unit.MICROSECONDS, direction=Direction.LOWER),
    Metric("library_threads", "threads of the library"),
    Metric("library_cpu_us", "CPU time of the library's threads", Unit.MICROSECONDS),
    Metric(
        "final_scan_cpu_us",
        "CPU time of the final scan",
        Unit.MICROSECONDS,
        direction=Direction.LOWER,
    ),
    Metric(
        "setup_cpu_us",
        "CPU time before the first timed phase",
        Unit.MICROSECONDS,
        direction=Direction.LOWER,
    ),
    Metric("setup_bytes", "memory taken before the first timed phase", Unit.BYTES),
)
