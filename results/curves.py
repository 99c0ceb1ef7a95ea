"""Turns the latency and throughput curves of a run's report into rows of numbers, for tables and plots.

This file must not import matplotlib, because web processes use the file, and importing matplotlib takes a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.report import LatencyClass, Throughput

# The largest number of points in a curve. More points than pixels would only make the file of a picture larger.
MAX_POINTS = 600


@dataclass(frozen=True, slots=True)
class ThroughputRow:
    """One window of the throughput curve: a short interval of time, and the transactions that committed in it."""

    start_ms: float
    end_ms: float
    committed: int
    per_second: float


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """The latencies of one transaction class, in microseconds."""

    transaction_class: str
    count: int
    p50_us: float
    p90_us: float
    p99_us: float
    p999_us: float
    max_us: float


def throughput_rows(throughput: Throughput, width: int | None = None) -> list[ThroughputRow]:
    """Return the windows of a throughput curve. `width` neighbouring windows are merged into one.

    By default, `width` is the smallest number that leaves at most MAX_POINTS windows.
    """
    window_ms = throughput.window_ns / 1e6
    counts = throughput.committed
    width = width or -(-len(counts) // MAX_POINTS) or 1
    rows = []
    for start in range(0, len(counts), width):
        part = counts[start : start + width]
        length_ms = window_ms * len(part)
        rows.append(
            ThroughputRow(
                start_ms=start * window_ms,
                end_ms=start * window_ms + length_ms,
                committed=sum(part),
                per_second=sum(part) / length_ms * 1e3,
            )
        )
    return rows


def latency_rows(latency: Iterable[LatencyClass]) -> list[LatencyRow]:
    """Return the latencies as rows of a table, without classes that had no transactions."""
    return [
        LatencyRow(
            transaction_class=entry.transaction_class,
            count=entry.count,
            p50_us=entry.p50_ns / 1e3,
            p90_us=entry.p90_ns / 1e3,
            p99_us=entry.p99_ns / 1e3,
            p999_us=entry.p999_ns / 1e3,
            max_us=entry.max_ns / 1e3,
        )
        for entry in latency
        if entry.count > 0
    ]


def latency_curve(entry: LatencyClass) -> list[tuple[float, float]]:
    """Return one point for each bucket of a class's latencies, lowest latency first.

    A point is (fraction of the transactions that are in this bucket or a higher one, upper bound of the bucket in us).
    If there are too many points, only every n-th point and the last one are returned.
    """
    total = sum(count for _, count in entry.buckets)
    seen = 0
    points = []
    for bound_ns, count in sorted(entry.buckets):
        # `seen` transactions are in lower buckets. `slower` is the fraction of the transactions in this and higher
        # buckets.
        slower = 1 - seen / total
        seen += count
        points.append((slower, bound_ns / 1e3))
    step = -(-len(points) // MAX_POINTS) or 1
    kept = points[::step]
    return kept if kept[-1:] == points[-1:] else [*kept, *points[-1:]]
