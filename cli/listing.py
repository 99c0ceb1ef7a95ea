"""Implements `keydrome list`: prints the benchmarks, libraries, structures and configurations of this clone.

A structure is a data structure without transactions. A configuration says how Keydrome's runtime adds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.catalogue import (
    Reference,
    configuration_names,
    load_configuration,
    reference_libraries,
    structures,
)
from runner.manifest import load_benchmarks
from runner.settings import load_settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from runner.manifest import Benchmark


def run(_options: argparse.Namespace) -> int:
    """Run the command; always returns 0."""
    settings = load_settings()
    print("Benchmarks")
    for benchmark in load_benchmarks(settings.root).values():
        _print_benchmark(benchmark)
    print("Reference libraries")
    _print_references(reference_libraries(settings))
    print("Structures")
    _print_references(structures(settings))
    print("Configurations (for structures: --config NAME)")
    for name in configuration_names(settings):
        title = load_configuration(settings, name).get("title", "")
        print(f"  {name}: {title}" if title else f"  {name}")
    return 0


def _print_benchmark(benchmark: Benchmark) -> None:
    print(
        f"  {benchmark.name} version {benchmark.version} ({benchmark.kind.value}): {benchmark.title}"
    )
    for instance in benchmark.instances.values():
        scales = ", ".join(scale.value for scale in instance.scales)
        keys = f"; --keys {instance.keys}" if instance.keys else ""
        trace = "; --trace" if instance.trace else ""
        print(f"    {instance.name} ({scales}{keys}{trace}): {instance.title}")
    for parameter in benchmark.parameters.values():
        bounds = f"{parameter.minimum}..{parameter.maximum} {parameter.unit}"
        print(f"    -p {parameter.name}={bounds}: {parameter.description}")


def _print_references(references: Iterable[Reference]) -> None:
    for reference in references:
        built = reference.path if reference.path.is_file() else f"{reference.path}, not built"
        print(f"  {reference.name}: {reference.description} ({built})")
