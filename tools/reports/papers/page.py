"""Writes docs/reference/papers.md and its pictures, which show our results next to those that the papers print."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from results.plots.style import ADAPTING, line_style, new_figure, stable, svg
from tools.reports.gate_run import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from results.plots.style import Look
    from runner.terms import Scale
    from tools.reports.papers.experiments import Experiment

PAGE = ROOT / "docs" / "reference" / "papers.md"
PICTURES = PAGE.with_name("papers")
Series = dict[str, list[list[float]]]  # library -> point -> repetition


@dataclass(frozen=True, slots=True)
class Shown:
    """An experiment with our results."""

    experiment: Experiment
    series: Series


def text(shown: Sequence[Shown], scale: Scale, repetitions: int, made: str) -> str:
    """Return the page."""
    lines = [
        "# The papers' experiments, played here",
        "",
        f"Written by `python -m tools.reports.papers --write` at {scale.value} scale; do not edit. {made}",
        "This page repeats experiments of papers and compares our results with the printed ones. In the pictures,",
        "solid points are our results, hollow points are the paper's. Machines, structures and languages differ, so",
        "every value is divided by a reference value. Only the shapes of the curves can be compared. A name such as",
        "*btree, rw* is a data structure and its configuration, i.e. the locks or versions that isolate transactions.",
        f"Our points are medians of {repetitions} repetitions, with the lowest and highest value. Each repetition",
        "plays all points in another random order.",
        "Results that a paper shows only as a drawing are described in words.",
    ]
    for one in shown:
        experiment = one.experiment
        lines += [
            "",
            f"## {experiment.title}",
            "",
            f"{experiment.source}. {experiment.says}",
            "",
            f"Here: {experiment.here}",
            "",
            f"![{experiment.title}: {experiment.measured}, by {experiment.axis}](papers/{experiment.id}.svg)",
            "",
            *_table(one),
        ]
    return "\n".join(lines) + "\n"


def write(shown: Sequence[Shown], page: str) -> None:
    """Write the page and one picture for each experiment."""
    PICTURES.mkdir(exist_ok=True)
    PAGE.write_text(page, encoding="utf-8")
    with stable():
        for one in shown:
            (PICTURES / f"{one.experiment.id}.svg").write_bytes(svg(draw(one, ADAPTING)))


def draw(one: Shown, look: Look) -> Figure:
    """Draw the points of an experiment at equal distances."""
    experiment = one.experiment
    figure, (axes,) = new_figure(look, size=(7.2, 3.8))
    places = range(len(experiment.points))
    lines = len(one.series) + len(experiment.printed)
    apart = [0.06 * (number - (lines - 1) / 2) for number in range(lines)]
    for number, (name, points) in enumerate(one.series.items()):
        middle = [median(values) for values in points]
        axes.errorbar(
            [place + apart[number] for place in places],
            middle,
            yerr=(
                [m - min(values) for m, values in zip(middle, points, strict=True)],
                [max(values) - m for m, values in zip(middle, points, strict=True)],
            ),
            marker="o",
            markersize=5,
            capsize=3,
            elinewidth=0.8,
            label=name,
            **line_style(number),
        )
    for number, (name, values) in enumerate(experiment.printed.items(), start=len(one.series)):
        known = [place for place in places if not math.isnan(values[place])]
        axes.plot(
            [place + apart[number] for place in known],
            [values[place] for place in known],
            marker="s",
            markersize=6,
            markerfacecolor="none",
            label=name,
            **line_style(number) | {"linewidth": 0.8},
        )
    axes.set_xticks(places, [point.label for point in experiment.points])
    axes.set_xlabel(experiment.axis)
    axes.set_ylabel(experiment.measured)
    if experiment.logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,g}")
    figure.legend(
        loc="outside lower center", ncols=3, frameon=False, labelcolor=look.ink, fontsize=9
    )
    return figure


def _table(one: Shown) -> list[str]:
    experiment = one.experiment
    names = [*one.series, *experiment.printed]
    lines = [
        f"| {experiment.axis} | {' | '.join(names)} |",
        "|---" * (len(names) + 1) + "|",
    ]
    for place, point in enumerate(experiment.points):
        ours = [_measured(points[place]) for points in one.series.values()]
        printed = [_printed(values[place]) for values in experiment.printed.values()]
        lines.append(f"| {point.label} | {' | '.join([*ours, *printed])} |")
    return lines


def _measured(values: Sequence[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def _printed(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"
