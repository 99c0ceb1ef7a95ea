"""Runs the papers' experiments: `python -m tools.reports.papers --write`, as root, writes docs/reference/papers.md.

A session is one library at one point of an experiment with one seed. Every repetition runs the sessions of all
libraries and points with the same seed, in random order, each in a fresh jail (sandbox). Each value is divided by a
reference value of the same repetition; experiments.toml names the reference. The page shows the median, lowest and
highest of these ratios. With --state the program stores its results, and continues after an interruption.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from typing import TYPE_CHECKING

from runner.manifest import load_benchmarks
from runner.output_file import output_path, write_file
from runner.terms import Scale
from tools.reports import gate_run
from tools.reports.gate_run import ROOT, GateRun
from tools.reports.made import made_line
from tools.reports.papers import page
from tools.reports.papers.experiments import Experiment, Library, Point, load

if TYPE_CHECKING:
    from pathlib import Path

REPETITIONS = 3
# The results. A key is EXPERIMENT/REPETITION/LIBRARY/POINT, one string, because JSON has no other keys.
Numbers = dict[str, float]


def main() -> int:
    """Run every session whose result is not in the state, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only",
        metavar="ID",
        action="append",
        help="only this experiment; give the option once for each",
    )
    parser.add_argument(
        "--repetitions",
        type=int,
        default=REPETITIONS,
        help=f"how often to measure each point; default: {REPETITIONS}",
    )
    parser.add_argument(
        "--scale",
        type=Scale,
        choices=list(Scale),
        default=Scale.LAPTOP,
        help="size of the sessions; default: laptop",
    )
    parser.add_argument(
        "--state",
        type=output_path,
        help="JSON file that keeps the results, so that a later start continues from them",
    )
    parser.add_argument("--write", action="store_true", help=f"write {page.PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    experiments = [one for one in load() if not options.only or one.id in options.only]
    if not experiments:
        parser.error(
            f"--only: no experiment has the ID {' or '.join(options.only)}; "
            f"the IDs are {', '.join(one.id for one in load())}"
        )
    numbers: Numbers = {}
    if options.state is not None and options.state.is_file():
        numbers = json.loads(options.state.read_text())
    for experiment in experiments:
        for repetition in range(options.repetitions):
            _play(experiment, repetition, options.scale, numbers, options.state)
    sys.stdout.write("\n")
    shown = [page.Shown(one, _series(one, numbers, options.repetitions)) for one in experiments]
    text = page.text(shown, options.scale, options.repetitions, made_line())
    if options.write:
        page.write(shown, text)
    else:
        sys.stdout.write(text)
    return 0


def _play(
    experiment: Experiment, repetition: int, scale: Scale, numbers: Numbers, state: Path | None
) -> None:
    turns = [(library, point) for library in experiment.libraries for point in experiment.points]
    random.Random(repetition).shuffle(turns)  # noqa: S311 - an order, not a secret
    for number, (library, point) in enumerate(turns, start=1):
        key = _key(experiment, repetition, library.name, point)
        if key in numbers:
            continue
        done = f"{experiment.id}, repetition {repetition + 1}: session {number} of {len(turns)}"
        sys.stdout.write(f"\r{done}, {library.name} at {point.label}".ljust(79))
        sys.stdout.flush()
        numbers[key] = _number(experiment, library, point, scale, repetition)
        if state is not None:
            write_file(state, json.dumps(numbers, indent=1))


def _number(
    experiment: Experiment, library: Library, point: Point, scale: Scale, repetition: int
) -> float:
    result = gate_run.run(
        GateRun(
            library=library.file,
            suite=load_benchmarks(ROOT)[experiment.benchmark],
            instance=point.instance,
            scale=scale,
            seed=f"{repetition + 1:016x}",
            overrides=point.parameters,
            configuration=library.configuration,
            plain=True,
        )
    )
    metrics = result.sessions[0].candidate.metrics if result.sessions else {}
    if experiment.metric not in metrics:
        why = (
            f"{result.reason}; correct the library, or leave it out of experiments.toml"
            if result.reason
            else f"the benchmark {experiment.benchmark} has no such metric; correct the metric in experiments.toml"
        )
        raise SystemExit(
            f"{experiment.id}, {library.name} at the point {point.label}: the session gave no {experiment.metric}: "
            f"{why}"
        )
    return float(metrics[experiment.metric])


def _series(experiment: Experiment, numbers: Numbers, repetitions: int) -> page.Series:
    """Return, for each library and point, the ratio of its value to the reference value, in each repetition."""
    base = experiment.base
    found: dict[str, list[list[float]]] = {}
    for library in experiment.libraries:
        if library.name == base.library and base.point is None:
            continue  # every ratio of the reference library to itself is 1
        found[library.name] = []
        for point in experiment.points:
            under = point if base.point is None else experiment.points[base.point]
            found[library.name].append(
                [
                    numbers[_key(experiment, repetition, library.name, point)]
                    / numbers[_key(experiment, repetition, base.library or library.name, under)]
                    for repetition in range(repetitions)
                ]
            )
    return found


def _key(experiment: Experiment, repetition: int, library: str, point: Point) -> str:
    return f"{experiment.id}/{repetition}/{library}/{point.label}"


if __name__ == "__main__":
    raise SystemExit(main())
