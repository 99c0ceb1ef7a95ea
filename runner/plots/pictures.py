"""Which pictures a set of results gives, each with its numbers as a table. Pure: JSON values in, pictures out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from runner.curves import latency_curve, throughput_rows
from runner.plots.compared import draw_forest, draw_values
from runner.plots.lines import LatencyPanel, SweepLine, draw_latency, draw_sweep, draw_throughput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.figure import Figure

    from runner.plots.style import Look

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
SWEPT_METRIC = "throughput_tps"


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing and the table with its numbers."""

    name: str
    draw: Callable[[Look], Figure]
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class _Result:
    """One bench result: what it is called beside the others, and the session nearest its median."""

    name: str
    bench: dict[str, Any]
    typical: dict[str, Any]  # report.v1


def pictures(results: Sequence[dict[str, Any]]) -> Iterator[Picture]:
    """Give the pictures of bench and compare results; results of one instance at one scale share theirs."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    numbers: dict[str, int] = defaultdict(int)
    for result in results:
        place = f"{result['benchmark']}-{result['instance']}-{result['scale']}"
        if result["schema"] == "keydrome.bench.v1":
            groups[place].append(result)
        else:
            numbers[place] += 1
            number = "" if numbers[place] == 1 else f"-{numbers[place]}"
            yield from _of_comparison(f"{place}{number}", result)
    for place, group in groups.items():
        yield from _of_group(place, group)


def _of_comparison(place: str, result: dict[str, Any]) -> Iterator[Picture]:
    pairs = result["pairs"]
    if pairs:
        yield Picture(
            f"{place}-forest",
            partial(draw_forest, pairs, result["rules"]["margin_ratio"]),
            _PAIR_COLUMNS,
            tuple(tuple(pair[column] for column in _PAIR_COLUMNS) for pair in pairs),
        )
    ranked = [library for library in result["libraries"] if library["rank"]]
    ranked.sort(key=lambda library: library["rank"]["position"])
    if ranked:
        metric = result["metric"]
        yield Picture(
            f"{place}-values",
            partial(draw_values, ranked, f"{metric['name'].removesuffix('_ms')}, {metric['unit']}"),
            ("library", "number", metric["name"]),
            tuple(
                (library["name"], number, value)
                for library in ranked
                for number, value in enumerate(library["values"], start=1)
            ),
        )


def _of_group(place: str, group: list[dict[str, Any]]) -> Iterator[Picture]:
    varied = _varied(group)
    found = [
        _Result(_name(bench, varied), bench, typical)
        for bench in group
        if (typical := _typical(bench)) is not None
    ]
    yield from _latency(place, found)
    yield from _throughput(place, found)
    if len(varied) == 1:
        yield from _sweep(place, varied[0], found)


def _varied(group: list[dict[str, Any]]) -> list[str]:
    """Return the parameters in which the results differ."""
    names = group[0]["parameters"]
    return [n for n in names if len({bench["parameters"].get(n) for bench in group}) > 1]


def library_name(bench: dict[str, Any]) -> str:
    """Return the library of a bench result, with its configuration."""
    stem = bench["library"]["file"].removesuffix(".so")
    configuration = bench["configuration"]
    return f"{stem}:{configuration.get('name', 'configured')}" if configuration else stem


def _name(bench: dict[str, Any], varied: list[str]) -> str:
    settings = [f"{name}={bench['parameters'][name]}" for name in varied]
    return ", ".join([library_name(bench), *settings])


def _typical(bench: dict[str, Any]) -> dict[str, Any] | None:
    """Return the report of the session whose total time is nearest the median, None when no session has one."""
    timed = [
        session["candidate"]
        for session in bench["sessions"]
        if not session["void"] and session["metrics"].get("total_ms")
    ]
    if not timed:
        return None
    middle = median(report["metrics"]["total_ms"] for report in timed)
    nearest: dict[str, Any] = min(
        timed, key=lambda report: abs(report["metrics"]["total_ms"] - middle)
    )
    return nearest


def _latency(place: str, found: list[_Result]) -> Iterator[Picture]:
    lines: dict[str, list[tuple[str, dict[str, Any]]]] = defaultdict(list)
    for result in found:
        for entry in result.typical.get("latency", []):
            lines[entry["class"]].append((result.name, entry))
    lines = {
        kind: several for kind, several in lines.items() if any(e["buckets"] for _, e in several)
    }
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
        if entry["buckets"]
        for slower, bound_us in latency_curve(entry)
    )
    draw = partial(draw_latency, panels)
    yield Picture(f"{place}-latency", draw, _LATENCY_COLUMNS, tuple(rows))


def _throughput(place: str, found: list[_Result]) -> Iterator[Picture]:
    curves = [(r.name, r.typical["throughput"]) for r in found if "throughput" in r.typical]
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


def _sweep(place: str, parameter: str, found: list[_Result]) -> Iterator[Picture]:
    """Draw how throughput follows the one parameter in which the results differ."""
    points: dict[str, list[tuple[float, float, float, float]]] = defaultdict(list)
    for result in found:
        metrics = [s["metrics"] for s in result.bench["sessions"] if not s["void"]]
        values = [m[SWEPT_METRIC] for m in metrics if SWEPT_METRIC in m]
        if values:
            where = float(result.bench["parameters"][parameter])
            points[library_name(result.bench)].append(
                (where, median(values), min(values), max(values))
            )
    lines = [SweepLine(name, tuple(sorted(found))) for name, found in points.items()]
    if not lines:
        return
    draw = partial(draw_sweep, lines, parameter, "transactions per second")
    rows = tuple((line.name, *point) for line in lines for point in line.points)
    columns = ("library", parameter, SWEPT_METRIC, "lowest", "highest")
    yield Picture(f"{place}-by-{parameter}", draw, columns, rows)
