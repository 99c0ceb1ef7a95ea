"""Reads from experiments.toml the experiments of published papers that are repeated here, and checks each entry.

The page papers.md shows our results next to the results that the papers print.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = Path(__file__).with_name("experiments.toml")
NULL = "NULL"


@dataclass(frozen=True, slots=True)
class Library:
    """A library, or a data structure with a configuration, which says how Keydrome's runtime adds transactions to it.

    `file` is a path below the build's lib/.
    """

    name: str
    file: str
    configuration: str | None


@dataclass(frozen=True, slots=True)
class Point:
    """A position on the horizontal axis of an experiment's chart: a benchmark's instance and its parameters."""

    label: str
    instance: str
    parameters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Base:
    """The result by which a number is divided. None stands for the library, or the point, of this number itself."""

    library: str | None
    point: int | None


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment of a paper, its printed results, and the sessions that repeat it here.

    A number that the paper does not print is NaN.
    """

    id: str
    title: str
    source: str
    says: str
    here: str
    benchmark: str
    metric: str
    measured: str
    axis: str
    logarithmic: bool
    base: Base
    libraries: tuple[Library, ...]
    points: tuple[Point, ...]
    printed: Mapping[str, tuple[float, ...]]


def load(file: Path = FILE) -> list[Experiment]:
    """Read the file; raise ValueError or KeyError if an entry contradicts itself."""
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    libraries = {
        name: Library(name, entry["file"], entry.get("configuration"))
        for name, entry in data["libraries"].items()
    }
    return [_experiment(entry, libraries) for entry in data["experiment"]]


def _experiment(entry: dict[str, Any], libraries: Mapping[str, Library]) -> Experiment:
    common = entry.get("parameters", {})
    points = tuple(
        Point(one["label"], one["instance"], common | one.get("parameters", {}))
        for one in entry["points"]
    )
    times = entry.get("printed_times")
    printed = _in_multiples_of_null(times) if times else entry.get("printed", {})
    for name, values in printed.items():
        if len(values) != len(points):
            message = (
                f"experiments.toml: in {entry['id']}, the series {name!r} has {len(values)} numbers, but the "
                f"experiment has {len(points)} points; write nan for a missing number"
            )
            raise ValueError(message)
    words = {key: " ".join(entry[key].split()) for key in ("title", "source", "says", "here")}
    base = Base(entry["base"].get("library"), entry["base"].get("point"))
    if base.library is not None and base.library not in entry["libraries"]:
        message = (
            f"experiments.toml: the base of {entry['id']} is {base.library!r}, but its `libraries` do not "
            f"contain this name; add {base.library!r} to `libraries`"
        )
        raise ValueError(message)
    return Experiment(
        id=entry["id"],
        benchmark=entry["benchmark"],
        metric=entry["metric"],
        measured=entry["measured"],
        axis=entry["axis"],
        logarithmic=entry.get("logarithmic", False),
        base=base,
        libraries=tuple(libraries[name] for name in entry["libraries"]),
        points=points,
        printed={name: tuple(values) for name, values in printed.items()},
        **words,
    )


def _in_multiples_of_null(times: Mapping[str, list[float]]) -> dict[str, tuple[float, ...]]:
    """Return the fastest, median and slowest entry at each point, divided by the time of NULL at that point.

    The times come from a thesis, one of the sources in experiments.toml. NULL is a library of the thesis that does
    nothing.
    """
    entries = [values for name, values in times.items() if name != NULL]
    lines: dict[str, list[float]] = {"fastest": [], "middle": [], "slowest": []}
    for at, null in enumerate(times[NULL]):
        known = [values[at] / null for values in entries if not math.isnan(values[at])]
        lines["fastest"].append(min(known))
        lines["middle"].append(median(known))
        lines["slowest"].append(max(known))
    return {f"thesis: {name} entry": tuple(values) for name, values in lines.items()}
