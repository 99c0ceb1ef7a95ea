"""Tests the table of metrics: their names, headings, order and directions, and that the reference page of a report
names each of them.
"""

from __future__ import annotations

import re

import pytest

from results.metrics import METRICS, rankable, ranked_by, with_metric
from runner.manifest import Direction, RequestError, load_benchmarks
from runner.settings import load_settings


def test_names_and_labels_are_unique() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert len({metric.label for metric in METRICS}) == len(METRICS)


def test_every_benchmark_ranks_by_a_metric_with_a_label() -> None:
    for benchmark in load_benchmarks(load_settings({}).root).values():
        if benchmark.metric is not None:
            shown = ranked_by(benchmark.metric.name, benchmark.own_metrics)
            assert (shown.label, shown.unit) != (benchmark.metric.name, "")
            assert shown.unit == benchmark.metric.unit


def test_a_heading_has_the_unit_and_a_time_few_decimals() -> None:
    time = ranked_by("total_ms", ())
    assert (time.heading, time.text(999.94), time.text(1234.5)) == ("Time (ms)", "999.9", "1,234")


def is_defined(name: str, page: str) -> bool:
    """Return True if the page names the metric."""
    return re.search(rf"\b{name}\b", page) is not None


def test_every_metric_is_in_the_reference() -> None:
    page = (load_settings({}).root / "docs" / "reference" / "plan-and-report.md").read_text()
    assert [metric.name for metric in METRICS if not is_defined(metric.name, page)] == []


def test_the_default_comes_first_and_every_metric_once() -> None:
    for benchmark in load_benchmarks(load_settings({}).root).values():
        names = [metric.name for metric in rankable(benchmark)]
        assert len(names) == len(set(names))
        if benchmark.metric is not None:
            assert rankable(benchmark)[0] == benchmark.metric
            assert with_metric(benchmark, benchmark.metric.name) == benchmark


def test_directions() -> None:
    benchmark = load_benchmarks(load_settings({}).root)["open_loop"]
    directions = {metric.name: metric.direction for metric in rankable(benchmark)}
    assert directions["sustained_per_s"] is Direction.HIGHER
    assert directions["throughput_tps"] is Direction.HIGHER
    assert directions["total_ms"] is Direction.LOWER
    assert directions["memory_peak_bytes"] is Direction.LOWER
    assert "calls" not in directions


def test_an_unknown_metric_lists_the_known_ones() -> None:
    benchmark = load_benchmarks(load_settings({}).root)["sigmod2009"]
    with pytest.raises(
        RequestError, match="no metric 'beauty' to compare by; choose one of: total_ms, "
    ):
        with_metric(benchmark, "beauty")
