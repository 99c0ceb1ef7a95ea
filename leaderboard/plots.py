"""From a run's curves to the pictures of its page. Pure and byte-stable; how they look is runner/plots/style.py."""

from __future__ import annotations

from typing import Any

from runner.plots.lines import LatencyPanel
from runner.plots.lines import draw_latency as latency_figure
from runner.plots.lines import draw_throughput as throughput_figure
from runner.plots.style import ADAPTING, stable, svg


def draw_throughput(throughput: dict[str, Any]) -> bytes:
    """Return committed transactions per second over time as SVG."""
    with stable():
        return svg(throughput_figure([("", throughput)], ADAPTING))


def draw_latency(latency: list[dict[str, Any]]) -> bytes:
    """Return latency by percentile, one line per transaction class, as SVG."""
    lines = tuple((entry["class"], entry) for entry in latency if entry["buckets"])
    with stable():
        return svg(latency_figure([LatencyPanel("", lines)], ADAPTING))
