"""Turns the options that choose what is played into a Request, for `keydrome bench`, `compare` and `debug`.

Inspects the files that the options name: keys (--keys), and a recorded trace, a file of calls (--trace).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.input.values import parse_parameters
from runner.inspection.key_file import inspect_keys, instance_for
from runner.inspection.trace_file import (
    TRACE_BENCHMARK,
    check_plays_trace,
    inspect_trace,
)
from runner.manifest import find_benchmark, load_benchmarks
from runner.request import Request
from runner.terms import Scale

if TYPE_CHECKING:
    import argparse

    from runner.manifest import Benchmark
    from runner.settings import Settings
    from runner.terms import JailLevel

DEFAULT_BENCHMARK = "sigmod2009"


def chosen_benchmark(options: argparse.Namespace, settings: Settings) -> Benchmark:
    """Return the benchmark that --benchmark names, or else the default."""
    default = DEFAULT_BENCHMARK if options.trace is None else TRACE_BENCHMARK
    return find_benchmark(load_benchmarks(settings.root), options.benchmark or default)


def request_of(
    options: argparse.Namespace,
    benchmark: Benchmark,
    settings: Settings,
    *,
    seeds: tuple[str, ...],
    require: JailLevel,
    control: bool,
) -> Request:
    """Return the request that these options describe. Options that only one command has are left to the caller.

    Raises RequestError if a file is wrong, or if the instance (a named set of parameters of the benchmark) cannot use
    it.
    """
    keys = inspect_keys(options.keys, settings) if options.keys is not None else None
    instance = instance_for(benchmark, options.instance, keys)
    trace = inspect_trace(options.trace, settings) if options.trace is not None else None
    check_plays_trace(benchmark, instance, trace)
    return Request(
        benchmark=benchmark,
        instance=instance,
        scale=Scale(options.scale),
        overrides=parse_parameters(options.parameter, options.threads),
        seeds=seeds,
        plain=options.plain,
        require=require,
        control=control,
        keys=keys,
        trace=trace,
    )
