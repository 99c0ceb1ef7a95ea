"""`keydrome bench`: judge and time a library here and now, as a worker would."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runner.cli_common import (
    UsageError,
    check_rights,
    find_configuration,
    history_folder,
    is_trusted,
    parse_parameters,
    prepared,
    seed_series,
    write_json,
)
from runner.cli_progress import shown_progress
from runner.contract import JailLevel, Scale, Verdict
from runner.execute import run_file, session_output
from runner.machine import machine_facts
from runner.manifest import Kind, find_benchmark, load_benchmarks
from runner.order import Order
from runner.settings import load_settings
from runner.summary import Summary, session_ratio, summarise
from runner.text import display_name, printable

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from runner.series import SeriesResult
    from runner.settings import Settings

DEFAULT_BENCHMARK = "sigmod2009"
BENCH_SCHEMA = "keydrome.bench.v1"
LOCAL_LOG_LINES = 20
# Of --at-capacity: the parameter, the steps of a sweep, how many sweeps are tried, each with higher rates, and which
# share of the highest rate means that the library could have done more.
CAPACITY = "capacity_per_s"
DEFAULT_OPEN_LOOP = "open_loop"
CAPACITY_STEPS = 7
CAPACITY_SWEEPS = 3
SATURATED = 0.9
_LIBRARY_FAULTS = {Verdict.FAILED, Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY}


def run(options: argparse.Namespace) -> int:
    """Run the command; 0 passed, 1 the library failed, 2 it could not be judged."""
    order = _order(options, load_settings())
    name = display_name(options.library.name)
    check_rights(order.require)
    with prepared(options.library) as (settings, folder, file):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        if options.at_capacity:
            order = at_capacity(file, order, settings, folder)
        with shown_progress(f"{order.benchmark.name}/{order.instance}") as beat:
            result, facts = run_file(file, order, settings, folder, beat)
    metric = order.benchmark.metric
    summary = summarise(result.sessions, metric.name if metric else None)
    library = {"file": name, "sha256": digest, "facts": facts.to_json()}
    if options.json is not None:
        write_json(options.json, bench_json(order, library, result, summary))
    _show(order, library, result, summary)
    if result.verdict is Verdict.PASSED:
        return 0
    return 1 if result.verdict in _LIBRARY_FAULTS else 2


def _order(options: argparse.Namespace, settings: Settings) -> Order:
    benchmark = find_benchmark(load_benchmarks(settings.root), options.benchmark)
    if options.history is not None and not options.record and benchmark.kind is Kind.PERFORMANCE:
        raise UsageError("nothing is recorded that --history could keep: give --record too")
    return Order(
        benchmark=benchmark,
        instance=options.instance or next(iter(benchmark.instances)),
        scale=Scale(options.scale),
        overrides=parse_parameters(options.parameter, options.threads),
        seeds=seed_series(options.seed, options.sessions),
        plain=options.plain,
        record=options.record,
        require=JailLevel(options.require),
        control=not options.no_control,
        configuration=find_configuration(options.config, settings),
        trusted=is_trusted(options.library, settings),
        histories=history_folder(options.history, "--history", everything=options.all_histories),
        all_histories=options.all_histories,
        counters=options.counters,
        verified=options.verified,
    )


def at_capacity(file: Path, order: Order, settings: Settings, folder: Path) -> Order:
    """Return the order with arrivals as shares of what the library delivers at most; a session or more finds that out.

    Raises UsageError for a benchmark without arrivals, and when the library fails or cannot be brought to its limit.
    """
    known = order.benchmark.resolve(order.instance, order.scale, order.overrides)
    if CAPACITY not in known:
        raise UsageError(f"--at-capacity is for benchmarks with arrivals: {DEFAULT_OPEN_LOOP}")
    first = known["rate_first_per_s"]
    for attempt in range(CAPACITY_SWEEPS):
        overrides = {**order.overrides, CAPACITY: 0, "rate_first_per_s": first}
        sweep = replace(order, overrides=overrides, seeds=order.seeds[:1], control=False)
        work = folder / f"capacity-{attempt}"
        work.mkdir(mode=0o700)
        with shown_progress("capacity") as beat:
            result, _ = run_file(file, sweep, settings, work, beat)
        if result.verdict is not Verdict.PASSED:
            raise UsageError(f"the capacity cannot be measured: {result.verdict}: {result.reason}")
        delivered: float = result.sessions[0].candidate["metrics"]["delivered_max_per_s"]
        most = first * (known["rate_growth_percent"] / 100) ** (CAPACITY_STEPS - 1)
        if delivered < SATURATED * most:
            sys.stderr.write(f"capacity: {delivered:,.0f} transactions/s\n")
            return replace(order, overrides={**order.overrides, CAPACITY: round(delivered)})
        first *= 8
    raise UsageError(
        f"the library delivers {delivered:,.0f} transactions/s and is not at its limit: "
        "give a higher -p rate_first_per_s=N"
    )


def bench_json(
    order: Order, library: dict[str, Any], result: SeriesResult, summary: Summary
) -> dict[str, Any]:
    """Return the result for scripts (harness/schema/bench.v1.schema.json)."""
    metric = summary.metric
    return {
        "schema": BENCH_SCHEMA,
        "verdict": result.verdict.value,
        "reason": result.reason,
        "benchmark": order.benchmark.name,
        "benchmark_version": order.benchmark.version,
        "instance": order.instance,
        "scale": order.scale.value,
        "parameters": order.benchmark.resolve(order.instance, order.scale, order.overrides),
        "plain": order.plain,
        "record": order.record,
        "verified": order.verified,
        "configuration": order.configuration,
        "library": library,
        "findings": [finding.to_json() for finding in result.findings],
        "sessions": [
            {
                "seed": session.seed,
                "candidate_first": session.candidate_first,
                "void": session.void,
                "metrics": session.candidate["metrics"],
                "control_metrics": session.control["metrics"] if session.control else None,
                "ratio": session_ratio(session, metric) if metric else None,
                "candidate": session.candidate,
                "control": session.control,
                "control_after": session.control_after,
            }
            for session in result.sessions
        ],
        "summary": summary.to_json(),
        "jail_level": result.jail_level,
        "machine": machine_facts(),
    }


def _show(order: Order, library: dict[str, Any], result: SeriesResult, summary: Summary) -> None:
    from runner import cli_table  # noqa: PLC0415 - rich is slow to import, and errors come first

    out = cli_table.console()
    benchmark = order.benchmark
    subject = (
        f"{library['file']} on {benchmark.name}/{order.instance} version {benchmark.version}, "
    )
    subject += f"{order.scale.value} scale" + (", plain" if order.plain else "")
    subject += ", recorded" if order.record else ""
    subject += ", verified" if order.verified else ""
    if result.sessions:
        cli_table.show_sessions(out, result.sessions, summary.metric or "total_ms")
        cli_table.show_numbers(out, benchmark, result.sessions, summary)
        cli_table.show_latency(out, result.sessions)
    if order.counters and result.sessions and "cycles_per_call" not in summary.medians:
        out.print("counters: this machine counts no cycles, cache or branch misses")
    cli_table.show_findings(out, result.findings)
    if result.verdict is not Verdict.PASSED and result.sessions:
        for line in printable(session_output(result.sessions[-1])).splitlines()[-LOCAL_LOG_LINES:]:
            out.print(line, markup=False, soft_wrap=True)
    facts = library["facts"]
    size = f"{facts['size_bytes']:,} bytes"
    machine = machine_facts()["class"]
    out.print(f"library: {facts['kind']}, {size}, sha256 {library['sha256']}", soft_wrap=True)
    out.print(f"machine: {machine}; jail: {result.jail_level or 'not used'}", soft_wrap=True)
    if summary.ratio is not None:
        out.print(_ratio_line(summary), soft_wrap=True)
    cli_table.show_verdict(out, subject, result.verdict, result.reason)


def _ratio_line(summary: Summary) -> str:
    interval = summary.interval
    text = f"{summary.metric}, candidate / control: {summary.ratio:.3f}"
    if interval is not None and summary.sessions > 1:
        text += (
            f" [{interval.low:.3f}, {interval.high:.3f}] ({100 * interval.coverage:.0f} % interval)"
        )
    return text + (" - provisional: fewer than 11 sessions" if summary.provisional else "")
