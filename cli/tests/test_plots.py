"""Tests of `keydrome plot`: which plots a result gives, reproducible bytes, and which files are refused."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from results.plots.pictures import Picture, ShownMetric, pictures
from results.plots.style import ADAPTING, DARK, INK, LIGHT, png, stable, svg
from results.result_files import BENCH_SCHEMA
from runner.tests.samples import latency, report

GOLDEN = Path(__file__).parent / "golden" / "compare.json"
GRID = ((0, 1, 9.0), (0, 2, 16.0), (20, 1, 5.0), (20, 2, 8.0))  # insert_percent, threads, tps
PNG = b"\x89PNG\r\n\x1a\n"


def session(total_ms: float, void: str = "") -> dict[str, Any]:
    """Return one session of a bench result, with latency and throughput curves."""
    curves = {
        "latency": [
            latency("scan", (1000, 90), (2000, 10)).to_json(),
            latency("get", (500, 4)).to_json(),
            latency("x", (1, 0)).to_json() | {"buckets": []},
        ],
        "throughput": {"phase": "test", "window_ns": 2_000_000, "committed": [10, 0, 30]},
    }
    metrics = {"total_ms": total_ms, "throughput_tps": 1000 / total_ms}
    return {
        "seed": "00000000000000aa",
        "candidate_first": False,
        "void": void,
        "metrics": metrics,
        "control_metrics": None,
        "ratio": None,
        "candidate": report().to_json() | curves | {"metrics": metrics},
        "control": None,
        "control_after": None,
    }


def unmeasured() -> dict[str, Any]:
    """Return a session whose candidate has no metrics."""
    one = session(1.0)
    return one | {"metrics": {}, "candidate": one["candidate"] | {"metrics": {}}}


def bench(name: str, threads: int = 4, *sessions: dict[str, Any]) -> dict[str, Any]:
    """Return a bench result of a library."""
    return {
        "schema": BENCH_SCHEMA,
        "verdict": "passed",
        "reason": "",
        "benchmark": "sample",
        "benchmark_version": 3,
        "instance": "small",
        "scale": "smoke",
        "parameters": {"threads": threads, "keys": 7},
        "plain": False,
        "record": False,
        "configuration": {"name": "rw"} if name == "tree" else None,
        "library": {"file": f"{name}.so", "sha256": "0" * 64, "facts": {}},
        "findings": [],
        "sessions": list(
            sessions or [session(1.0), session(4.0), session(2.0), session(9.0, "why")]
        ),
        "summary": {
            "sessions": 3,
            "provisional": True,
            "metric": "total_ms",
            "ratios": [],
            "ratio": None,
            "ratio_interval": None,
            "medians": {},
            "control_medians": {},
        },
        "jail_level": "full",
        "machine": {"class": "an example"},
    }


TIME = ShownMetric("total_ms", "Time (ms)")


def drawn(*results: dict[str, Any], metric: ShownMetric | None = None) -> dict[str, Picture]:
    found = list(pictures(results, metric))
    assert len({picture.name for picture in found}) == len(found)
    for picture in found:
        assert picture.rows
        assert {len(row) for row in picture.rows} == {len(picture.columns)}
    return {picture.name: picture for picture in found}


def test_one_result_gives_latency_and_throughput_of_its_typical_session() -> None:
    found = drawn(bench("a"))
    assert list(found) == ["sample-small-smoke-latency", "sample-small-smoke-throughput"]
    rows = found["sample-small-smoke-latency"].rows
    assert rows == (("a", "scan", 0.0, 1.0), ("a", "scan", 90.0, 2.0), ("a", "get", 0.0, 0.5))
    rows = found["sample-small-smoke-throughput"].rows
    assert [row[3] for row in rows] == [10, 0, 30]


def test_every_picture_has_a_title_that_says_what_it_shows() -> None:
    def titles(*results: dict[str, Any]) -> set[str]:
        with stable():
            return {picture.draw(LIGHT).get_suptitle() for picture in drawn(*results).values()}

    where = "sample/small version 3, smoke scale"
    assert titles(bench("tree")) == {f"tree:rw on {where}"}
    assert titles(bench("a$b$")) == {f"a$b$ on {where}"}  # no formula
    assert titles(bench("a"), bench("tree")) == {where}
    assert titles(json.loads(GOLDEN.read_text())) == {where}


def test_results_that_differ_in_threads_show_how_a_library_scales() -> None:
    found = drawn(bench("a", 4), bench("a", 1), bench("tree", 1))
    picture = found["sample-small-smoke-by-threads"]
    assert picture.columns == ("library", "threads", "throughput_tps", "lowest", "highest")
    assert picture.rows == (
        ("a", 1.0, 500.0, 250.0, 1000.0),
        ("a", 4.0, 500.0, 250.0, 1000.0),
        ("tree:rw", 1.0, 500.0, 250.0, 1000.0),
    )
    label = picture.draw(LIGHT).axes[0].get_xlabel()
    assert label == (
        "threads\na dot for the median of the sessions, bars to the lowest and the highest"
    )
    names = {row[0] for row in found["sample-small-smoke-latency"].rows}
    assert names == {"a, threads=4", "a, threads=1", "tree:rw, threads=1"}


def test_results_of_other_instances_are_never_drawn_into_one_picture() -> None:
    found = drawn(bench("a"), bench("a") | {"instance": "large"})
    assert {name.split("-")[1] for name in found} == {"small", "large"}


def test_results_of_two_versions_of_a_benchmark_are_never_drawn_into_one_picture() -> None:
    found = drawn(bench("a", 4), bench("a", 1) | {"benchmark_version": 4}, bench("b", 2))
    picture = found["sample-small-smoke-v3-by-threads"]
    assert [row[:2] for row in picture.rows] == [("a", 4.0), ("b", 2.0)]
    assert [name for name in found if "-v4" in name] == [
        "sample-small-smoke-v4-latency",
        "sample-small-smoke-v4-throughput",
    ]
    assert not [name for name in found if "-v3" not in name and "-v4" not in name]


def test_a_series_contains_one_version_of_the_benchmark() -> None:
    newer = [series(n, n) | {"benchmark_version": 4} for n in (10, 30)]
    found = drawn(series(0, 0), series(20, 20), *newer)
    swept = {name: picture for name, picture in found.items() if "inserts_N" in name}
    assert {name: [row[1] for row in picture.rows] for name, picture in swept.items()} == {
        "sample-inserts_N-smoke-v3-by-insert_percent": [0, 20],
        "sample-inserts_N-smoke-v4-by-insert_percent": [10, 30],
    }


def test_comparisons_of_two_versions_are_told_apart_by_their_names() -> None:
    comparison = json.loads(GOLDEN.read_text())
    version = comparison["benchmark_version"]
    found = drawn(comparison, comparison | {"benchmark_version": version + 1})
    assert {name.rpartition("-")[0] for name in found} == {
        f"sample-small-smoke-v{version}",
        f"sample-small-smoke-v{version + 1}",
    }


def series(number: int, value: int, threads: int = 4, tps: float = 1.0) -> dict[str, Any]:
    """Return a result of the instance inserts_NUMBER with `value` % inserts."""
    result = bench("pine", threads, session(1000 / tps))
    result["instance"] = f"inserts_{number}"
    result["parameters"]["insert_percent"] = value
    return result


def test_instances_that_differ_in_the_number_in_their_names_share_the_picture_of_a_sweep() -> None:
    pictures = drawn(series(40, 40, tps=2), series(0, 0, tps=8), series(5, 5, tps=4))
    swept = pictures["sample-inserts_N-smoke-by-insert_percent"]
    assert [row[:3] for row in swept.rows] == [("pine", 0, 8), ("pine", 5, 4), ("pine", 40, 2)]
    assert [name for name in pictures if "-by-" in name] == [
        "sample-inserts_N-smoke-by-insert_percent"
    ]


def test_a_changed_parameter_or_another_parameter_does_not_join_a_series() -> None:
    assert not [name for name in drawn(series(0, 0), series(5, 6)) if "-by-" in name]
    other = series(5, 5)
    other["parameters"] |= {"keys": 9, "threads": 9}  # three parameters differ
    assert not [name for name in drawn(series(0, 0), other) if "-by-" in name]


def test_a_sweep_over_threads_and_a_series_has_a_line_for_each_value_of_the_other() -> None:
    grid = [series(n, n, threads, tps) for n, threads, tps in GRID]
    pictures = drawn(*grid, series(80, 80, 1))
    by_share = pictures["sample-inserts_N-smoke-by-insert_percent"]
    assert [row[:3] for row in by_share.rows] == [
        ("pine, threads=1", 0, 9),
        ("pine, threads=1", 20, 5),
        ("pine, threads=1", 80, 1),
        ("pine, threads=2", 0, 16),
        ("pine, threads=2", 20, 8),
    ]
    by_threads = pictures["sample-inserts_N-smoke-by-threads"]
    assert [row[:3] for row in by_threads.rows] == [
        ("pine, insert_percent=0", 1, 9),
        ("pine, insert_percent=0", 2, 16),
        ("pine, insert_percent=20", 1, 5),
        ("pine, insert_percent=20", 2, 8),
    ]


def test_a_comparison_gives_a_forest_and_its_values() -> None:
    comparison = json.loads(GOLDEN.read_text())
    found = drawn(comparison, comparison)
    assert list(found) == [
        f"sample-small-smoke{number}-{kind}"
        for number in ("", "-2")
        for kind in ("forest", "values")
    ]
    forest = found["sample-small-smoke-forest"]
    assert forest.rows[0][:2] == ("a", "b:rw")
    assert forest.rows[0][2] == comparison["pairs"][0]["ratio"]
    assert [row[0] for row in found["sample-small-smoke-values"].rows] == ["a"] * 7 + ["b:rw"] * 7


def test_a_metric_has_a_picture_of_all_sessions_and_sweeps() -> None:
    found = drawn(bench("a", 4), bench("tree", 1, session(8.0)), metric=TIME)
    assert found["sample-small-smoke-total_ms"].rows == (
        ("a, threads=4", 1, 1.0),
        ("a, threads=4", 2, 4.0),
        ("a, threads=4", 3, 2.0),
        ("tree:rw, threads=1", 1, 8.0),
    )
    swept = found["sample-small-smoke-total_ms-by-threads"]
    assert swept.columns == ("library", "threads", "total_ms", "lowest", "highest")
    assert swept.rows == (("a", 4.0, 2.0, 1.0, 4.0), ("tree:rw", 1.0, 8.0, 8.0, 8.0))
    assert len(found) == 2
    with stable():
        figure = swept.draw(LIGHT)
    assert figure.axes[0].get_ylabel() == "Time (ms)"
    with stable():
        axes = found["sample-small-smoke-total_ms"].draw(LIGHT).axes[0]
    assert axes.xaxis.get_major_formatter()(2_000_000) == "2,000,000"
    series_of_time = drawn(series(0, 0), series(5, 5), metric=TIME)
    assert "sample-inserts_N-smoke-total_ms-by-insert_percent" in series_of_time


def test_a_comparison_is_drawn_only_by_its_own_metric() -> None:
    comparison = json.loads(GOLDEN.read_text())
    own = ShownMetric(comparison["metric"]["name"], "its own")
    assert drawn(comparison, metric=own).keys() == drawn(comparison).keys()
    assert drawn(comparison, metric=ShownMetric("deadlocks", "deadlocks")) == {}


def test_the_command_draws_a_metric_and_refuses_one_that_no_result_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, compared, out = tmp_path / "a.json", tmp_path / "c.json", tmp_path / "plots"
    source.write_text(json.dumps(bench("a")))
    compared.write_text(GOLDEN.read_text())
    files = [str(source), str(compared), "--out", str(out)]
    assert main(["plot", *files, "--metric", "throughput_tps"]) == 0
    told = capsys.readouterr().err
    assert "a comparison on sample/small is left out, because it compares by " in told
    assert "repeat the comparison with --metric throughput_tps" in told
    names = {path.name for path in out.iterdir()}
    assert names == {
        f"sample-small-smoke-throughput_tps{suffix}"
        for suffix in (".svg", ".png", "-dark.png", ".csv")
    }
    assert main(["plot", *files, "--metric", "speed"]) == 2
    told = capsys.readouterr().err
    assert "the results have no metric 'speed'; they have: throughput_tps, total_ms" in told


def test_nothing_measured_is_nothing_drawn() -> None:
    failed = unmeasured()
    assert drawn(bench("a", 4, failed), bench("a", 1, failed)) == {}
    comparison = json.loads(GOLDEN.read_text()) | {"pairs": [], "libraries": []}
    assert drawn(comparison) == {}


def test_pictures_are_the_same_bytes_every_time_in_every_look() -> None:
    comparison = json.loads(GOLDEN.read_text())
    for picture in drawn(bench("a", 4), bench("b", 2), comparison).values():
        with stable():
            text = svg(picture.draw(ADAPTING))
        root = ET.fromstring(text)  # noqa: S314 - our own drawing
        assert root.tag.endswith("svg")
        assert b"prefers-color-scheme: dark" in text
        assert INK.encode() in text
        assert b"<text" in text
    with stable():
        assert text == svg(picture.draw(ADAPTING))
        light, dark = png(picture.draw(LIGHT)), png(picture.draw(DARK))
    assert light[:8] == dark[:8] == PNG
    assert light != dark


@pytest.mark.parametrize(("low", "high"), [(0.99, 1.01), (0.53, 1.25), (0.3, 2.0), (0.001, 0.5)])
def test_a_forest_of_any_width_has_numbers_on_its_axis(low: float, high: float) -> None:
    comparison = json.loads(GOLDEN.read_text())
    pair = comparison["pairs"][0] | {"low": low, "high": high, "ratio": (low * high) ** 0.5}
    figure = drawn(comparison | {"pairs": [pair]})["sample-small-smoke-forest"].draw(LIGHT)
    svg(figure)
    axes = figure.axes[0]
    assert axes.get_xlabel() == (
        "total: first / second, with its 95 % interval\n"
        "left of 1, the first is better; grey: differences below 3 %"
    )
    left, right = axes.get_xlim()
    inside = [tick for tick in axes.get_xticks() if left <= tick <= right]
    assert len(inside) >= 4
    assert left <= low
    assert right >= high


def test_the_command_writes_pictures_and_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "a.json", tmp_path / "new" / "plots"
    source.write_text(json.dumps(bench("a")))
    assert main(["plot", str(source), "--out", str(out)]) == 0
    files = sorted(path.name for path in out.iterdir())
    assert files == sorted(
        f"sample-small-smoke-{kind}{suffix}"
        for kind in ("latency", "throughput")
        for suffix in (".svg", ".png", "-dark.png", ".csv")
    )
    assert sorted(Path(line).name for line in capsys.readouterr().out.split()) == files
    with (out / "sample-small-smoke-throughput.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[:2] == [
        ["result", "start_ms", "end_ms", "committed", "per_second"],
        ["a", "0.0", "2.0", "10", "5000.0"],
    ]


def test_the_command_names_the_versions_that_it_keeps_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / f"{version}.json" for version in (3, 4)]
    for path in paths:
        path.write_text(json.dumps(bench("a") | {"benchmark_version": int(path.stem)}))
    assert main(["plot", *map(str, paths), "--out", str(tmp_path / "plots")]) == 0
    assert "versions 3, 4 of the benchmark sample" in capsys.readouterr().err
    assert main(["plot", str(paths[0]), "--out", str(tmp_path / "plots")]) == 0
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot read the file (No such file or directory)"),
        ("hello", "not valid JSON"),
        ("{}", "not a result of bench or compare"),
        (json.dumps(bench("a") | {"scale": "huge"}), "writes ('huge' is not one of"),
        (json.dumps(bench("a", 4, unmeasured())), "contain nothing to draw"),
    ],
)
def test_files_that_cannot_be_drawn(
    content: str | None, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.json"
    if content is not None:
        source.write_text(content)
    assert main(["plot", str(source), "--out", str(tmp_path)]) == 2
    assert words in capsys.readouterr().err
