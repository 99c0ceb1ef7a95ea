"""Lists the metrics that reports of every benchmark may have, with name, label, unit and number of decimals.

The command line and the site show these metrics in this order and under these labels. Metrics that only one benchmark
reports are listed in its manifest (runner/manifest.py). docs/reference/plan-and-report.md defines each metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from runner.manifest import OwnMetric

TOTAL_MS = "total_ms"
# From this time on, a table shows no decimals.
_WHOLE_FROM_MS = 1000


class Unit(StrEnum):
    """The unit of a metric's number. Code that shows a metric decides how to write the unit."""

    COUNT = "count"
    SHARE = "share"  # a fraction from 0 to 1
    NANOSECONDS = "ns"
    MICROSECONDS = "us"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. If its unit is COUNT, the number is shown with `digits` decimals."""

    name: str
    label: str
    unit: Unit = Unit.COUNT
    digits: int = 0


@dataclass(frozen=True, slots=True)
class RankedBy:
    """How tables show the metric by which a benchmark ranks libraries: as its total time, or as its own metric.

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
    return RankedBy(metric, "", lambda value: f"{value:,.1f}")


def _time_text(value_ms: float) -> str:
    return f"{value_ms:,.{1 if abs(value_ms) < _WHOLE_FROM_MS else 0}f}"


METRICS = (
    Metric("throughput_tps", "transactions per second"),
    Metric("transactions_completed", "transactions completed"),
    Metric("transactions_failed", "transactions failed"),
    Metric("deadlocks", "deadlocks"),
    Metric("calls", "calls"),
    Metric("ns_per_call", "time per call", Unit.NANOSECONDS),
    Metric("hit_ratio", "hit ratio", Unit.SHARE),
    Metric("client_context_switches", "context switches of the client threads"),
    Metric("cycles_per_call", "cycles per call", digits=1),
    Metric("instructions_per_call", "instructions per call", digits=1),
    Metric("cache_misses_per_call", "cache misses per call", digits=3),
    Metric("branch_misses_per_call", "branch misses per call", digits=3),
    Metric("stalled_frontend_per_call", "cycles per call with the front end stalled", digits=1),
    Metric("stalled_backend_per_call", "cycles per call with the back end stalled", digits=1),
    Metric("page_faults", "page faults"),
    Metric("context_switches", "context switches of all threads"),
    Metric("migrations", "CPU migrations"),
    Metric("records_start", "records at the start"),
    Metric("records_end", "records at the end"),
    Metric("memory_peak_bytes", "peak memory", Unit.BYTES),
    Metric("memory_start_bytes", "memory at the start", Unit.BYTES),
    Metric("memory_end_bytes", "memory at the end", Unit.BYTES),
    Metric("bytes_per_record_start", "bytes per record at the start", digits=1),
    Metric("bytes_per_record", "bytes per record at the end", digits=1),
    Metric("cpu_us", "CPU time", Unit.MICROSECONDS),
    Metric("library_threads", "threads of the library"),
    Metric("library_cpu_us", "CPU time of the library's threads", Unit.MICROSECONDS),
    Metric("final_scan_cpu_us", "CPU time of the final scan", Unit.MICROSECONDS),
    Metric("setup_cpu_us", "CPU time before the first timed phase", Unit.MICROSECONDS),
    Metric("setup_bytes", "memory taken before the first timed phase", Unit.BYTES),
)
