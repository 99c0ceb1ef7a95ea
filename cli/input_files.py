"""Inspects the files of the user that `bench` and `compare` read: keys (--keys) and a recorded trace (--trace)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.inspection.key_file import KeyFile, inspect_keys, instance_for
from runner.inspection.trace_file import (
    TRACE_BENCHMARK,
    TraceFile,
    check_plays_trace,
    inspect_trace,
)
from runner.manifest import find_benchmark, load_benchmarks

if TYPE_CHECKING:
    import argparse

    from runner.manifest import Benchmark
    from runner.settings import Settings

DEFAULT_BENCHMARK = "sigmod2009"


@dataclass(frozen=True, slots=True)
class InputFiles:
    """The inspected files, and the instance that uses them."""

    instance: str
    keys: KeyFile | None
    trace: TraceFile | None


def chosen_benchmark(options: argparse.Namespace, settings: Settings) -> Benchmark:
    """Return the benchmark that --benchmark names, or else the default."""
    default = DEFAULT_BENCHMARK if options.trace is None else TRACE_BENCHMARK
    return find_benchmark(load_benchmarks(settings.root), options.benchmark or default)


def inspect_files(
    options: argparse.Namespace, benchmark: Benchmark, settings: Settings
) -> InputFiles:
    """Return the files that the options name. Raises RequestError if one is wrong, or if the instance cannot use it."""
    keys = inspect_keys(options.keys, settings) if options.keys is not None else None
    instance = instance_for(benchmark, options.instance, keys)
    trace = inspect_trace(options.trace, settings) if options.trace is not None else None
    check_plays_trace(benchmark, instance, trace)
    return InputFiles(instance, keys, trace)
