"""Tests of runner/manifest.py: manifests are read strictly, and requests that do not fit them are refused.

A manifest is the JSON file that describes a benchmark: its parameters, instances (named sets of values) and limits.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from runner.manifest import Kind, RequestError, find_benchmark, load_benchmarks, parse_benchmark
from runner.strict import StrictError
from runner.terms import Scale
from runner.tests.samples import MANIFEST

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = parse_benchmark(MANIFEST, "sample")


def changed(change: dict[str, Any]) -> str:
    return json.dumps({**json.loads(MANIFEST), **change})


def test_a_manifest_is_read_whole() -> None:
    assert (SAMPLE.name, SAMPLE.version, SAMPLE.kind) == ("sample", 3, Kind.PERFORMANCE)
    assert SAMPLE.metric is not None
    assert SAMPLE.metric.name == "total_ms"
    assert SAMPLE.limits[Scale.SMOKE].phase_timeout_ms == 1000
    assert SAMPLE.resolve("small", Scale.SMOKE, {}) == {"threads": 4}
    assert SAMPLE.resolve("small", Scale.SMOKE, {"threads": 256}) == {"threads": 256}


@pytest.mark.parametrize(
    ("unit", "value", "label", "text"),
    [
        ("1/s", 12345.6, "Growth, 1/s", "12,346"),
        ("MB/s", 12345.67, "Growth, MB/s", "12,345.7"),
        ("ms", 0.25, "Growth, ms", "0.2"),
        ("%", 7.0, "Growth, %", "7.0"),
        ("share", 0.0712, "Growth, %", "7.1"),
        ("count", 3.0, "Growth", "3"),
        ("mean", 3.0, "Growth", "3.0"),
    ],
)
def test_a_metric_of_a_benchmark_is_written_in_its_unit(
    unit: str, value: float, label: str, text: str
) -> None:
    own = {"growth": {"title": "Growth", "unit": unit}}
    (metric,) = parse_benchmark(changed({"own_metrics": own}), "sample").own_metrics
    assert (metric.name, metric.label, metric.text(value)) == ("growth", label, text)


@pytest.mark.parametrize(
    ("instance", "scale", "overrides", "message"),
    [
        ("large", Scale.SMOKE, {}, "no instance 'large'; choose one of: small"),
        ("small", Scale.PAPER, {}, "no scale 'paper'; choose one of: smoke"),
        ("small", Scale.SMOKE, {"speed": 1}, "no parameter 'speed'; choose one of: threads"),
        ("small", Scale.SMOKE, {"threads": 257}, "threads is 257, but sample allows 1 to 256"),
        ("small", Scale.SMOKE, {"threads": 0}, "threads is 0, but sample allows 1 to 256"),
    ],
)
def test_a_request_for_something_unknown_lists_the_known(
    instance: str, scale: Scale, overrides: dict[str, int], message: str
) -> None:
    with pytest.raises(RequestError, match=message):
        SAMPLE.resolve(instance, scale, overrides)


def test_a_request_for_an_unknown_benchmark_lists_the_known_ones() -> None:
    with pytest.raises(RequestError, match="no benchmark 'other'; choose one of: sample"):
        find_benchmark({"sample": SAMPLE}, "other")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"version": 0}, "0 is less than 1"),
        ({"kind": "fun"}, "not one of correctness, performance"),
        ({"metric": None}, "a performance benchmark requires a metric"),
        ({"instances": {}}, "at least one instance is required"),
        ({"limits": {}}, "there are none for the scale smoke"),
        ({"own_metrics": {"a": {"title": "A", "unit": "m"}}}, "not one of 1/s, MB/s"),
        (
            {"parameters": {}},
            r"every scale must set every parameter and no other \(unknown: threads\)",
        ),
    ],
)
def test_an_invalid_manifest_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(StrictError, match=message):
        parse_benchmark(changed(change), "sample")


def test_an_instance_value_out_of_bounds_is_refused() -> None:
    with pytest.raises(StrictError, match="is not within"):
        parse_benchmark(MANIFEST.replace('"threads": 4', '"threads": 400'), "sample")


def test_the_name_must_be_that_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks" / "other"
    folder.mkdir(parents=True)
    (folder / "benchmark.json").write_text(MANIFEST)
    with pytest.raises(StrictError, match="differs from the folder's"):
        load_benchmarks(tmp_path)


def test_a_repository_without_benchmarks_is_named(tmp_path: Path) -> None:
    with pytest.raises(StrictError, match="this clone is incomplete"):
        load_benchmarks(tmp_path)
