"""Implements `keydrome plot`: draws the results of `keydrome bench` and `keydrome compare`, which time libraries.

Each plot is written as SVG, as PNG for light pages, and as PNG for dark pages. The numbers of the plot are written as
CSV.
"""

from __future__ import annotations

import csv
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cli.input.read_result import read_result
from cli.input.values import UsageError, output_folder
from cli.output.progress import announce
from results.counts import counted
from results.metrics import ranked_by
from results.result_files import BENCH_SCHEMA, BenchResult, CompareResult
from runner.manifest import load_benchmarks
from runner.settings import load_settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from results.plots.pictures import Picture


def run(options: argparse.Namespace) -> int:
    """Run the command; return 0 if a plot was drawn, 2 if the results contain nothing to draw."""
    output_folder(options.out, "--out")
    root = load_settings().root
    announce(f"reading {counted(len(options.reports), 'result')}")
    results = [read_result(path, root / "harness" / "schema") for path in options.reports]
    # Matplotlib is imported in two steps, because each takes seconds. A message before each step shows what happens.
    announce("loading matplotlib")
    import_module("matplotlib")
    announce("preparing the plots")
    from results.plots.pictures import (  # noqa: PLC0415 - matplotlib is slow to import
        ShownMetric,
        mixed_versions,
        pictures,
    )

    metric = None
    if options.metric is not None:
        _check_metric(options.metric, results)
        metric = ShownMetric(options.metric, _label(options.metric, results, root))
    for benchmark, versions in mixed_versions(results).items():
        print(
            f"keydrome: the results come from versions {', '.join(map(str, versions))} of the benchmark {benchmark}. "
            "These versions play different operations, so each version gets separate plots: to compare the results, "
            "repeat the runs that used older versions",
            file=sys.stderr,
        )
    drawn = 0
    for picture in pictures(results, metric):
        announce(f"drawing {picture.name}")
        for path in save(picture, options.out):
            print(path, flush=True)
        drawn += 1
    if not drawn:
        print(
            "keydrome: these results contain nothing to draw, because no session measured a time; "
            "give results of sessions that passed",
            file=sys.stderr,
        )
    return 0 if drawn else 2


def _check_metric(metric: str, results: list[dict[str, Any]]) -> None:
    """Print which comparisons use another metric, because they are not drawn. Raises UsageError if none can be drawn.

    A comparison has only the metric by which it was made; a result of bench has all metrics.
    """
    found = sorted({name for result in results for name in _metrics(result)})
    if metric not in found:
        has = (
            f"they have: {', '.join(found)}"
            if found
            else "they have no metric at all, because no session passed: give results of sessions that passed"
        )
        raise UsageError(f"--metric: the results have no metric {metric!r}; {has}")
    for instance, other in _compared_by_another(metric, results):
        print(
            f"keydrome: a comparison on {instance} is left out, because it compares by {other}: "
            f"repeat the comparison with --metric {metric}",
            file=sys.stderr,
        )


def _label(metric: str, results: list[dict[str, Any]], root: Path) -> str:
    """Return the label of a metric, with its unit. The benchmarks of the results may have metrics of their own."""
    benchmarks = load_benchmarks(root)
    names = {result["benchmark"] for result in results} & benchmarks.keys()
    own = [one for name in sorted(names) for one in benchmarks[name].own_metrics]
    return ranked_by(metric, own).heading


def _metrics(result: dict[str, Any]) -> Iterator[str]:
    if result["schema"] == BENCH_SCHEMA:
        for report in BenchResult.from_json(result).reports:
            yield from report.metrics
    else:
        yield CompareResult.from_json(result).metric


def _compared_by_another(metric: str, results: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield "benchmark/instance" and the metric of each comparison that was made by another metric."""
    for result in results:
        if result["schema"] != BENCH_SCHEMA:
            found = CompareResult.from_json(result)
            if found.metric != metric:
                yield f"{found.instance.benchmark}/{found.instance.instance}", found.metric


def save(picture: Picture, folder: Path) -> Iterator[Path]:
    """Write the files of a plot, and yield each path as soon as its file is written."""
    from results.plots.style import ADAPTING, DARK, LIGHT, png, stable, svg  # noqa: PLC0415 - slow

    stem = folder / picture.name
    drawings = ((".svg", svg, ADAPTING), (".png", png, LIGHT), ("-dark.png", png, DARK))
    for suffix, encode, style in drawings:
        path = stem.with_name(stem.name + suffix)
        with stable():
            content = encode(picture.draw(style))
        path.write_bytes(content)
        yield path
    table = stem.with_name(stem.name + ".csv")
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(picture.columns)
        writer.writerows(picture.rows)
    yield table
