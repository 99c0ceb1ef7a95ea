"""What can be asked for: benchmarks, instances and configurations, as the manifests on disk say.

Read once per process: a new benchmark version comes with new binaries, and processes are restarted
for those.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

from leaderboard.boards import all_boards, main_boards
from runner.catalogue import configuration_names
from runner.contract import Scale
from runner.manifest import Benchmark, Instance, Kind, RequestError, find_benchmark, load_benchmarks
from runner.settings import load_settings

_BY_SIZE = (Scale.SMOKE, Scale.LAPTOP, Scale.PAPER)


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """A benchmark instance; written `benchmark/instance` in forms and on the command line."""

    benchmark: str
    instance: str

    def __str__(self) -> str:
        return f"{self.benchmark}/{self.instance}"


@dataclass(frozen=True, slots=True)
class Choice:
    """A target as the upload form offers it, under its benchmark's title."""

    target: Target
    group: str
    title: str


@lru_cache(maxsize=4)
def _load(_root: str) -> dict[str, Benchmark]:
    """Return the benchmarks of the repository that KEYDROME_ROOT names, or of this one."""
    return load_benchmarks(load_settings().root)


def benchmarks() -> dict[str, Benchmark]:
    """Return every benchmark by name. Asked many times in a refresh of the boards, so no file is touched."""
    return _load(os.environ.get("KEYDROME_ROOT", ""))


def current_version(benchmark: str) -> int | None:
    """Return the newest version of a benchmark, or None when there is no such benchmark."""
    found = benchmarks().get(benchmark)
    return found.version if found else None


def parse_target(text: str) -> Target:
    """Return the target that `benchmark/instance` names. Raises RequestError saying what there is."""
    name, _, instance = text.partition("/")
    benchmark = find_benchmark(benchmarks(), name)
    return Target(benchmark.name, benchmark.instance(instance).name)


def full_title(benchmark: Benchmark, instance: Instance) -> str:
    """Return how an instance is called where its benchmark is not named beside it."""
    if instance.title.startswith(benchmark.title):
        return instance.title
    return f"{benchmark.title}: {instance.title}"


def choices() -> list[Choice]:
    """Return the performance targets that a contestant may choose from; gates are always added."""
    return [
        Choice(
            target=Target(benchmark.name, instance.name),
            group=benchmark.title,
            title=instance.title,
        )
        for benchmark in benchmarks().values()
        if benchmark.kind is Kind.PERFORMANCE
        for instance in benchmark.instances.values()
    ]


def main_targets() -> list[Target]:
    """Return the choices that a main board ranks, in their order."""
    main = {(board.benchmark, board.instance) for board in main_boards()}
    return [c.target for c in choices() if (c.target.benchmark, c.target.instance) in main]


def gate_targets() -> list[Target]:
    """Return every instance of every benchmark that some board demands as a gate."""
    names = sorted({gate for board in all_boards() for gate in board.gates})
    return [
        Target(name, instance)
        for name in names
        for instance in find_benchmark(benchmarks(), name).instances
    ]


def run_scale(target: Target, wanted: str) -> str:
    """Return the scale a target runs at: the wanted one; for a gate without it, its largest.

    Raises RequestError when a performance target lacks the wanted scale.
    """
    benchmark = find_benchmark(benchmarks(), target.benchmark)
    scales = benchmark.instance(target.instance).scales
    try:
        scale = Scale(wanted)
    except ValueError as error:
        known = ", ".join(Scale)
        message = f"there is no scale {wanted!r}; there are: {known}"
        raise RequestError(message) from error
    if scale not in scales and benchmark.kind is Kind.CORRECTNESS:
        return max(scales, key=_BY_SIZE.index).value
    benchmark.resolve(target.instance, scale, {})
    return scale.value


def configurations() -> list[str]:
    """Return the names of the runtime configurations that a bare structure can be run under."""
    return configuration_names(load_settings())
