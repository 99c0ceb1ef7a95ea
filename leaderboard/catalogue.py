"""Lists the benchmarks, instances and configurations that a submission can name, read from the manifests on disk.

An instance is a benchmark with a value for every parameter. A scale is the size of an instance: smoke, laptop or paper.
A configuration says how Keydrome adds transactions and locks to a bare structure, i.e. a library without them. Each
process reads the manifests only once. Reading once is enough: a new benchmark version comes with new binaries, and
every update restarts all processes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings

from leaderboard.boards import all_boards, boards_for, main_boards
from runner.catalogue import configuration_names, isolating_configurations, load_configuration
from runner.manifest import Benchmark, Instance, Kind, RequestError, find_benchmark, load_benchmarks
from runner.settings import load_settings
from runner.terms import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_BY_SIZE = (Scale.SMOKE, Scale.LAPTOP, Scale.PAPER)


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """A benchmark instance, written `benchmark/instance` in forms and on the command line."""

    benchmark: str
    instance: str

    def __str__(self) -> str:
        return f"{self.benchmark}/{self.instance}"


@dataclass(frozen=True, slots=True)
class Choice:
    """A benchmark instance in the upload form. `group` is the benchmark's title; the other texts are the instance's."""

    target: Target
    group: str
    title: str
    description: str


@lru_cache(maxsize=4)
def _load(_root: str) -> dict[str, Benchmark]:
    """Read the benchmarks of the repository that KEYDROME_ROOT names; by default, of this repository.

    The argument is the value of KEYDROME_ROOT, so that the cache keeps the benchmarks of different repositories apart.
    """
    return load_benchmarks(load_settings().root)


def benchmarks() -> dict[str, Benchmark]:
    """Return every benchmark by name. Only the first call reads files, because this function is called very often."""
    return _load(os.environ.get("KEYDROME_ROOT", ""))


def current_version(benchmark: str) -> int | None:
    """Return the newest version of a benchmark, or None if no benchmark has this name."""
    found = benchmarks().get(benchmark)
    return found.version if found else None


def parse_target(text: str) -> Target:
    """Return the target that `benchmark/instance` names.

    Raises RequestError, which lists the known names, if there is no such target.
    """
    name, _, instance = text.partition("/")
    benchmark = find_benchmark(benchmarks(), name)
    return Target(benchmark.name, benchmark.instance(instance).name)


def full_title(benchmark: Benchmark, instance: Instance) -> str:
    """Return a title that contains the titles of both the benchmark and the instance."""
    if instance.title.startswith(benchmark.title):
        return instance.title
    return f"{benchmark.title}: {instance.title}"


def title_of(benchmark: str, instance: str) -> str:
    """Return the title of a benchmark instance: that of its board, or else its own title.

    If the instance no longer exists, return its name. A contest's hidden instance gets the benchmark's title and a
    number. Its own title (HiddenInstance.title) is in the database, which this function does not read.
    """
    boards = boards_for(benchmark, instance)
    found = benchmarks().get(benchmark)
    if found is not None and instance.startswith("hidden_"):
        return f"{found.title}: {instance.replace('_', ' instance ')} of a contest"
    if boards:
        return boards[0].title
    if found is None or instance not in found.instances:
        return f"{benchmark} {instance}"
    return full_title(found, found.instances[instance])


def choices() -> list[Choice]:
    """Return the timed benchmark instances that a contestant can choose.

    The list has no gates (required correctness tests), because every submission runs all gates anyway.
    """
    return [
        Choice(
            target=Target(benchmark.name, instance.name),
            group=benchmark.title,
            title=instance.title,
            description=instance.description,
        )
        for benchmark in benchmarks().values()
        if benchmark.kind is Kind.PERFORMANCE
        for instance in benchmark.instances.values()
    ]


def main_targets() -> list[Target]:
    """Return the targets that the main boards (those of a contest) rank, in the order of choices()."""
    main = {(board.benchmark, board.instance) for board in main_boards()}
    return [c.target for c in choices() if (c.target.benchmark, c.target.instance) in main]


def gate_targets() -> list[Target]:
    """Return every instance of every gate. A gate is a benchmark that a board requires a library to pass."""
    names = sorted({gate for board in all_boards() for gate in board.gates})
    return [
        Target(name, instance)
        for name in names
        for instance in find_benchmark(benchmarks(), name).instances
    ]


def board_scale(target: Target) -> str:
    """Return the first scale of the board that ranks this target, or paper if no board does."""
    boards = boards_for(target.benchmark, target.instance)
    return boards[0].scales[0] if boards else Scale.PAPER.value


def scales() -> list[str]:
    """Return the names of all scales, the smallest first."""
    return [scale.value for scale in _BY_SIZE]


def gate_scales(gate: Target, timed_scale: str) -> list[str]:
    """Return the scales at which a passed gate counts for a timed run at `timed_scale`.

    These are `timed_scale` and all larger scales. A gate that does not have `timed_scale` runs at its own largest scale
    instead (run_scale), so a pass at that scale counts, too.
    """
    least = _BY_SIZE.index(Scale(run_scale(gate, timed_scale)))
    return [scale.value for scale in _BY_SIZE[least:]]


def planned_scales(targets: Sequence[Target], wanted: str) -> list[tuple[Target, str]]:
    """Return each target that a submission to `targets` runs, with its scale; the gates come first.

    If `wanted` is empty, each timed target runs at the scale of its board, and the gates run at the largest of these
    scales. Without timed targets, the gates run at paper scale. Raises RequestError in the same cases as run_scale.
    """
    gates = gate_targets()
    timed = [
        (target, run_scale(target, wanted or board_scale(target)))
        for target in dict.fromkeys(targets)
        if target not in gates
    ]
    scales = [Scale(scale) for _, scale in timed] or [Scale.PAPER]
    largest = wanted or max(scales, key=_BY_SIZE.index).value
    return [*((gate, run_scale(gate, largest)) for gate in gates), *timed]


def run_scale(target: Target, wanted: str) -> str:
    """Return the scale at which a target runs. This is `wanted`, except for a gate that does not have this scale.

    Such a gate runs at its largest scale. Raises RequestError if no scale has the name `wanted`, or if a timed
    benchmark instance does not have this scale.
    """
    benchmark = find_benchmark(benchmarks(), target.benchmark)
    scales = benchmark.instance(target.instance).scales
    try:
        scale = Scale(wanted)
    except ValueError as error:
        known = ", ".join(Scale)
        message = f"unknown scale {wanted!r}: choose one of {known}"
        raise RequestError(message) from error
    if scale not in scales and benchmark.kind is Kind.CORRECTNESS:
        return max(scales, key=_BY_SIZE.index).value
    benchmark.resolve(target.instance, scale, {})
    return scale.value


def upload_bytes_max() -> int:
    """Return the size of the largest library that the site accepts, in bytes.

    The upload form and the inspection of a file each have a limit.
    """
    form_limit: int = settings.KEYDROME_UPLOAD_BYTES
    return min(form_limit, load_settings().library_bytes_max)


def configurations() -> list[str]:
    """Return the names of the runtime configurations under which a bare structure can run."""
    return configuration_names(load_settings())


def isolating() -> list[str]:
    """Return the names of the configurations that isolate transactions, so that a library can pass the gates."""
    return isolating_configurations(load_settings())


def configuration_fields(name: str) -> dict[str, Any]:
    """Return the fields of a runtime configuration; none if the configuration no longer exists."""
    settings = load_settings()
    return load_configuration(settings, name) if name in configuration_names(settings) else {}
