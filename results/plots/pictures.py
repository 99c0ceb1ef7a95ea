"""Decides which plots can be drawn from results of `keydrome bench` and `keydrome compare`.

For each plot, the code returns a function that draws the plot later, and a table of its numbers. The code reads and
writes no files. An argument called `place` is the first part of a plot's file name. This part names the instance (the
benchmark and a named set of its parameters), and also the benchmark's version if the results come from several
versions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from results.curves import latency_curve, throughput_rows
from results.plots.compared import draw_forest, draw_values
from results.plots.lines import LatencyPanel, SweepLine, draw_latency, draw_sweep, draw_throughput
from results.result_files import (
    BENCH_SCHEMA,
    BenchResult,
    CompareResult,
    Instance,
    RankedLibrary,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.figure import Figure

    from results.plots.style import Look
    from runner.report import LatencyClass, Report

_LATENCY_COLUMNS = ("result", "transaction", "percentile", "latency_us")
_THROUGHPUT_COLUMNS = ("result", "start_ms", "end_ms", "committed", "per_second")
_PAIR_COLUMNS = (
    "first",
    "second",
    "ratio",
    "low",
    "high",
    "standing",
    "p_different",
    "p_apart",
    "p_equal",
)
# The plot of a sweep shows at most two parameters: one along the axis, the other as different lines.
_SWEPT_MAX = 2
_SERIES_NAME = re.compile(r"(.+)_([0-9]+)")


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot: its file name, the function that draws it, and the table of its numbers."""

    name: str
    draw: Callable[[Look], Figure]
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class ShownMetric:
    """A metric of reports, and the label of its axis, with the unit."""

    name: str
    label: str


THROUGHPUT = ShownMetric("throughput_tps", "transactions per second")


@dataclass(frozen=True, slots=True)
class _Result:
    """One bench result, its name in the plots, and the report of the session whose time is nearest to the median."""

    name: str
    bench: BenchResult
    typical: Report


def pictures(
    results: Sequence[dict[str, Any]], metric: ShownMetric | None = None
) -> Iterator[Picture]:
    """Yield the plots of the results. Bench results of the same instance at the same scale share their plots.

    If the names of instances differ only in a number at the end, their results also share the plot of a sweep, which
    shows throughput against a parameter (_series). Results of different versions of a benchmark never share a plot.

    With `metric`, yield only the plots of this metric: sweeps, the values of each session, and comparisons by it.
    """
    mixed = mixed_versions(results)
    groups: dict[str, list[BenchResult]] = defaultdict(list)
    series: dict[tuple[str, str], list[BenchResult]] = defaultdict(list)
    numbers: dict[str, int] = defaultdict(int)
    for result in results:
        if result.get("schema") == BENCH_SCHEMA:
            bench = BenchResult.from_json(result)
            version = f"-v{bench.version}" if bench.instance.benchmark in mixed else ""
            groups[f"{bench.instance}{version}"].append(bench)
            for parameter, name in _series(bench):
                series[parameter, f"{name}{version}"].append(bench)
        else:
            comparison = CompareResult.from_json(result)
            version = f"-v{comparison.version}" if comparison.instance.benchmark in mixed else ""
            place = f"{comparison.instance}{version}"
            numbers[place] += 1
            number = "" if numbers[place] == 1 else f"-{numbers[place]}"
            if metric is not None and metric.name != comparison.metric:
                continue
            title = _title(comparison.instance, comparison.version, [])
            for picture in _of_comparison(f"{place}{number}", comparison):
                yield _titled(title, picture)
    for place, group in groups.items():
        for picture in _of_group(place, group, metric):
            yield _titled(_title_of(group), picture)
    for (parameter, place), group in series.items():
        for picture in _of_series(parameter, place, group, metric):
            yield _titled(_title_of(group), picture)


def _title_of(group: list[BenchResult]) -> str:
    instances = sorted({bench.instance.instance for bench in group})
    shown = instances[0] if len(instances) == 1 else f"{instances[0]} and others"
    libraries = sorted({bench.library for bench in group})
    return _title(replace(group[0].instance, instance=shown), group[0].version, libraries)


def _title(instance: Instance, version: int, libraries: list[str]) -> str:
    """Return the title of a plot. It names the library if there is only one; a legend names several libraries."""
    where = f"{instance.benchmark}/{instance.instance} version {version}, {instance.scale} scale"
    return f"{libraries[0]} on {where}" if len(libraries) == 1 else where


def _titled(title: str, picture: Picture) -> Picture:
    return replace(picture, draw=partial(_draw_titled, title, picture.draw))


def _draw_titled(title: str, draw: Callable[[Look], Figure], look: Look) -> Figure:
    figure = draw(look)
    # Matplotlib would read a dollar sign in the name of a library as the start of a formula.
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=look.ink, parse_math=False)
    return figure


def mixed_versions(results: Sequence[dict[str, Any]]) -> dict[str, list[int]]:
    """Return each benchmark whose results come from several versions, with these versions."""
    versions: dict[str, set[int]] = defaultdict(set)
    for result in results:
        versions[result["benchmark"]].add(result["benchmark_version"])
    return {name: sorted(found) for name, found in versions.items() if len(found) > 1}


def _of_comparison(place: str, result: CompareResult) -> Iterator[Picture]:
    if result.pairs:
        yield Picture(
            f"{place}-forest",
            partial(draw_forest, result),
            _PAIR_COLUMNS,
            tuple(tuple(pair.to_json()[name] for name in _PAIR_COLUMNS) for pair in result.pairs),
        )
    if result.libraries:
        label = f"{result.metric.removesuffix('_ms')}, {result.unit}"
        yield Picture(
            f"{place}-values",
            partial(draw_values, result.libraries, label),
            ("library", "number", result.metric),
            tuple(
                (library.name, number, value)
                for library in result.libraries
                for number, value in enumerate(library.values, start=1)
            ),
        )


def _of_group(
    place: str, group: list[BenchResult], metric: ShownMetric | None
) -> Iterator[Picture]:
    varied = _varied(group)
    if metric is not None:
        yield from _values(place, varied, group, metric)
        yield from _sweeps(place, varied, group, metric)
        return
    found = [
        _Result(_name(bench, varied), bench, typical)
        for bench in group
        if (typical := _typical(bench)) is not None
    ]
    yield from _latency(place, found)
    yield from _throughput(place, found)
    yield from _sweeps(place, varied, group, THROUGHPUT)


def _values(
    place: str, varied: list[str], group: list[BenchResult], metric: ShownMetric
) -> Iterator[Picture]:
    """Yield the plot of the values of a metric: one dot for each session that measured it."""
    measured = [(_name(bench, varied), _measured(bench, metric)) for bench in group]
    rows = tuple(
        (name, number, value)
        for name, values in measured
        for number, value in enumerate(values, start=1)
    )
    if rows:
        libraries = [
            RankedLibrary(name, position, values)
            for position, (name, values) in enumerate(measured, start=1)
            if values
        ]
        draw = partial(draw_values, libraries, metric.label)
        yield Picture(f"{place}-{metric.name}", draw, ("library", "number", metric.name), rows)


def _measured(bench: BenchResult, metric: ShownMetric) -> tuple[float, ...]:
    found = (report.metrics.get(metric.name) for report in bench.reports)
    return tuple(value for value in found if value is not None)


def _of_series(
    parameter: str, place: str, group: list[BenchResult], metric: ShownMetric | None
) -> Iterator[Picture]:
    """Yield the sweeps over a series of instances, such as inserts_0 to inserts_100 over insert_percent."""
    varied = _varied(group)
    if len({bench.instance for bench in group}) > 1 and parameter in varied:
        yield from _sweeps(place, varied, group, metric or THROUGHPUT)


def _series(bench: BenchResult) -> Iterator[tuple[str, str]]:
    """Yield each series to which the instance of a result belongs, as a parameter and the name of the series.

    A series contains the instances whose names differ only in a number at the end, such as inserts_0 and inserts_50.
    This number must be the value of a parameter. If a user changed the parameter, the result belongs to no series.
    """
    found = _SERIES_NAME.fullmatch(bench.instance.instance)
    if found is None:
        return
    for parameter, value in bench.parameters.items():
        if value == int(found[2]):
            yield parameter, str(replace(bench.instance, instance=f"{found[1]}_N"))


def _varied(group: list[BenchResult]) -> list[str]:
    """Return the parameters that differ between the results."""
    names = group[0].parameters
    return [n for n in names if len({bench.parameters.get(n) for bench in group}) > 1]


def _name(bench: BenchResult, varied: list[str]) -> str:
    return ", ".join([bench.library, *(f"{name}={bench.parameters[name]}" for name in varied)])


def _typical(bench: BenchResult) -> Report | None:
    """Return the report with the total time nearest to the median, or None if no session has a time."""
    timed = [report for report in bench.reports if report.metrics.get("total_ms")]
    if not timed:
        return None
    middle = median(report.metrics["total_ms"] for report in timed)
    return min(timed, key=lambda report: abs(report.metrics["total_ms"] - middle))


def _latency(place: str, found: list[_Result]) -> Iterator[Picture]:
    lines: dict[str, list[tuple[str, LatencyClass]]] = defaultdict(list)
    for result in found:
        for entry in result.typical.latency:
            lines[entry.transaction_class].append((result.name, entry))
    lines = {kind: several for kind, several in lines.items() if any(e.buckets for _, e in several)}
    if not lines:
        return
    if len(found) == 1:
        panels = [LatencyPanel("", tuple((kind, one[0][1]) for kind, one in lines.items()))]
    else:
        panels = [LatencyPanel(kind, tuple(several)) for kind, several in lines.items()]
    rows = (
        (name, kind, round(100 * (1 - slower), 4), bound_us)
        for kind, several in lines.items()
        for name, entry in several
        if entry.buckets
        for slower, bound_us in latency_curve(entry)
    )
    draw = partial(draw_latency, panels)
    yield Picture(f"{place}-latency", draw, _LATENCY_COLUMNS, tuple(rows))


def _throughput(place: str, found: list[_Result]) -> Iterator[Picture]:
    curves = [(r.name, curve) for r in found if (curve := r.typical.throughput) is not None]
    if not curves:
        return
    rows = (
        (name, row.start_ms, row.end_ms, row.committed, row.per_second)
        for name, throughput in curves
        for row in throughput_rows(throughput)
    )
    shown = curves if len(found) > 1 else [("", curves[0][1])]
    draw = partial(draw_throughput, shown)
    yield Picture(f"{place}-throughput", draw, _THROUGHPUT_COLUMNS, tuple(rows))


def _sweeps(
    place: str, varied: list[str], group: list[BenchResult], metric: ShownMetric
) -> Iterator[Picture]:
    """Yield the plots of the metric against the one or two parameters that differ between the results."""
    if len(varied) > _SWEPT_MAX:
        return
    for parameter in varied:
        others = [name for name in varied if name != parameter]
        yield from _sweep(place, parameter, others, group, metric)


def _sweep(
    place: str, parameter: str, others: list[str], group: list[BenchResult], metric: ShownMetric
) -> Iterator[Picture]:
    """Yield the plot of the metric against a parameter, with a line for each library and each value of `others`."""
    points: dict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
    for bench in group:
        if values := _measured(bench, metric):
            where = float(bench.parameters[parameter])
            point = (where, median(values), min(values), max(values))
            points[_name(bench, others)].append(point)
    lines = [SweepLine(name, tuple(sorted(found))) for name, found in points.items()]
    if others:  # leave out lines with a single point, which show no change
        lines = [line for line in lines if len({where for where, *_ in line.points}) > 1]
    if not lines:
        return
    draw = partial(draw_sweep, lines, parameter, metric.label)
    rows = tuple((line.name, *point) for line in lines for point in line.points)
    columns = ("library", parameter, metric.name, "lowest", "highest")
    shown = "" if metric is THROUGHPUT else f"{metric.name}-"
    yield Picture(f"{place}-{shown}by-{parameter}", draw, columns, rows)
