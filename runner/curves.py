"""A session's curves as the rows of tables. Pure, and without matplotlib, which web processes should not load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# More points than pixels only make a picture larger.
MAX_POINTS = 600


@dataclass(frozen=True, slots=True)
class ThroughputRow:
    """One window of the throughput curve."""

    start_ms: float
    end_ms: float
    committed: int
    per_second: float


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """One transaction class: how long its transactions took, in microseconds."""

    transaction_class: str
    count: int
    p50_us: float
    p90_us: float
    p99_us: float
    p999_us: float
    max_us: float


def throughput_rows(throughput: dict[str, Any]) -> list[ThroughputRow]:
    """Return the windows of report.throughput, at most MAX_POINTS: neighbours are added up beyond that."""
    window_ms = throughput["window_ns"] / 1e6
    counts = throughput["committed"]
    width = -(-len(counts) // MAX_POINTS) or 1
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


def latency_rows(latency: list[dict[str, Any]]) -> list[LatencyRow]:
    """Return report.latency as rows of a table, classes without transactions left out."""
    return [
        LatencyRow(
            transaction_class=entry["class"],
            count=entry["count"],
            p50_us=entry["p50_ns"] / 1e3,
            p90_us=entry["p90_ns"] / 1e3,
            p99_us=entry["p99_ns"] / 1e3,
            p999_us=entry["p999_ns"] / 1e3,
            max_us=entry["max_ns"] / 1e3,
        )
        for entry in latency
        if entry["count"] > 0
    ]


def latency_curve(entry: dict[str, Any]) -> list[tuple[float, float]]:
    """Return (share of transactions slower than this, latency in us), falling shares, from a class's buckets."""
    total = sum(count for _, count in entry["buckets"])
    seen = 0
    points = []
    for bound_ns, count in sorted(map(tuple, entry["buckets"])):
        # The share not yet counted before this bucket is done in at most its bound.
        slower = 1 - seen / total
        seen += count
        points.append((slower, bound_ns / 1e3))
    step = -(-len(points) // MAX_POINTS) or 1
    kept = points[::step]
    return kept if kept[-1:] == points[-1:] else [*kept, *points[-1:]]
