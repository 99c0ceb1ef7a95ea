"""Implements `keydrome bench`: judges and times one library on this machine.

The site's workers, which are the processes that run uploaded libraries, judge and time in the same way.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

from cli.input.libraries import (
    Named,
    as_given,
    chosen_configuration,
    configured,
    find_runnable,
    is_trusted,
    title,
)
from cli.input.request import chosen_benchmark, request_of
from cli.input.values import UsageError, history_folder, seed_series
from cli.local_jail import check_rights, prepared
from cli.neighbours import Neighbours
from cli.output.bench_text import Noise, Outcome, Subject, described
from cli.output.files import stream_for_people, terminal_width, write_json
from cli.output.paragraph import paragraph
from cli.output.progress import announce, shown_progress
from results.counts import counted
from results.look_ahead import look_ahead_finding, pairs_of, summarise_audit
from results.metrics import with_metric
from results.result_files import BENCH_SCHEMA
from results.summary import Summary, session_ratio, summarise
from runner.execute import Inspected, run_inspected
from runner.inspection.library import inspect_library
from runner.machine import facts_of_sessions
from runner.manifest import Kind
from runner.settings import load_settings
from runner.terms import JailLevel, Verdict
from runner.text import display_name

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from runner.manifest import Benchmark
    from runner.request import Request
    from runner.series import SeriesResult
    from runner.settings import Settings

# CAPACITY is the name of a parameter: the throughput to which a benchmark's arrival rates are relative. The option
# --at-capacity first measures the library's highest throughput, with the parameter set to SATURATING_PER_S transactions
# per second. At this rate, the next transaction of a thread has always arrived already. The parameter is then set to
# the result.
CAPACITY = "capacity_per_s"
DEFAULT_OPEN_LOOP = "open_loop"
SATURATING_PER_S = 100_000_000
_LIBRARY_FAULTS = {Verdict.FAILED, Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY}


def run(options: argparse.Namespace) -> int:
    """Run the command; return 0 if the library passed, 1 if it failed, 2 if it could not be judged."""
    here = load_settings()
    named = find_runnable(options.library, here)
    request = _request(options, named, here)
    check_rights(request.require)
    people = stream_for_people(options.json)
    announce(f"reading {display_name(named.path.name)}")
    load = os.getloadavg()[0] / len(os.sched_getaffinity(0))
    with prepared(named.path) as (settings, folder, file):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        facts = inspect_library(file, settings, trusted=request.trusted)
        is_default = request.configuration is None
        request = replace(request, configuration=configured(facts, request.configuration, settings))
        file_name = display_name(named.path.name)
        name = title(file_name, request.configuration, is_default=False)
        first = title(file_name, request.configuration, is_default=is_default)
        count = counted(len(request.seeds), "session")
        begins = paragraph("", f"{first} on {described(request)}, {count}", terminal_width(people))
        print("\n".join(begins), file=people, flush=True)
        neighbours = Neighbours(settings.slot)
        inspected = Inspected(file, facts)
        if options.at_capacity:
            request = at_capacity(inspected, request, settings, folder)
        with shown_progress(f"{request.benchmark.name}/{request.instance}") as heartbeat:
            watched = neighbours.watched(heartbeat)
            result = run_inspected(inspected, request, settings, folder, watched)
        neighbours.look()
    result = with_look_ahead(request, result)
    metric = request.benchmark.metric
    summary = summarise(result.sessions, metric.name if metric else None)
    library = {
        "file": file_name,
        "sha256": digest,
        "facts": facts.to_json(),
    }
    steal = float(facts_of_sessions(result.sessions).get("steal_percent", 0.0))
    noise = Noise(load, steal, len(neighbours.seen))
    subject = Subject(name, as_given(options.library, options.config), facts.needed)
    _show(Outcome(subject, request, library, result, summary, noise), people, options)
    if options.json is not None:
        write_json(options.json, bench_json(request, library, result, summary))
    if result.verdict is Verdict.PASSED:
        return 0
    return 1 if result.verdict in _LIBRARY_FAULTS else 2


def _request(options: argparse.Namespace, named: Named, settings: Settings) -> Request:
    benchmark = chosen_benchmark(options, settings)
    if options.metric is not None:
        benchmark = with_metric(benchmark, options.metric)
    if options.history is not None and not options.record and benchmark.kind is Kind.PERFORMANCE:
        raise UsageError(
            "--history needs recorded sessions, and the sessions of this run are not recorded: add --record"
        )
    if options.audit:
        _check_audit(benchmark, with_control=not options.no_control)
    seeds = seed_series(options.seed, options.sessions)
    request = request_of(
        options,
        benchmark,
        settings,
        seeds=seeds,
        require=JailLevel(options.require),
        control=not options.no_control,
    )
    return replace(
        request,
        record=options.record,
        configuration=chosen_configuration(named, options.config, settings),
        trusted=is_trusted(named.path, settings),
        histories=history_folder(options.history, "--history", everything=options.all_histories),
        all_histories=options.all_histories,
        counters=options.counters,
        memory_bytes=options.memory,
        verified=options.verified,
        audited_seeds=seeds if options.audit else (),
    )


def _check_audit(benchmark: Benchmark, *, with_control: bool) -> None:
    """Raise UsageError if no session of the benchmark can be audited."""
    if not with_control:
        raise UsageError(
            "--audit compares the library with the control library, which --no-control leaves out: give only one of "
            "the two options"
        )
    if benchmark.kind is not Kind.PERFORMANCE:
        raise UsageError(
            f"--audit compares times, but the benchmark {benchmark.name} measures none: choose a timed benchmark, "
            "such as --benchmark ycsb"
        )
    if "threads" not in benchmark.parameters:
        raise UsageError(
            f"--audit needs a benchmark with the parameter threads, which {benchmark.name} does not have: choose "
            "another benchmark, such as --benchmark ycsb"
        )


def with_look_ahead(request: Request, result: SeriesResult) -> SeriesResult:
    """Return the result, and add the finding `look_ahead` if the library seems to read its next calls.

    In verified mode another process makes the calls, so the library cannot read them. The finding is added if this mode
    slows the library's calls down far more than the calls of the control, a fixed library (results/look_ahead.py).
    """
    audit = summarise_audit(pairs_of(result.sessions))
    finding = look_ahead_finding(request.benchmark.name, audit)
    return result if finding is None else replace(result, findings=(*result.findings, finding))


def at_capacity(
    inspected: Inspected, request: Request, settings: Settings, folder: Path
) -> Request:
    """Measure the library's highest throughput, and return the request with arrival rates relative to this throughput.

    Raises UsageError if the benchmark has no arrival rates or the library fails.
    """
    known = request.benchmark.resolve(request.instance, request.scale, request.overrides)
    if CAPACITY not in known:
        raise UsageError(
            f"--at-capacity needs a benchmark with arrival rates, which {request.benchmark.name} does not have: use, "
            f"for example, --benchmark {DEFAULT_OPEN_LOOP}"
        )
    saturated = replace(
        request,
        overrides={**request.overrides, CAPACITY: SATURATING_PER_S},
        seeds=request.seeds[:1],
        control=False,
        audited_seeds=(),
    )
    work = folder / "capacity"
    work.mkdir(mode=0o700)
    with shown_progress("measuring the capacity") as heartbeat:
        result = run_inspected(inspected, saturated, settings, work, heartbeat)
    if result.verdict is not Verdict.PASSED:
        raise UsageError(
            "--at-capacity could not measure the capacity of the library, because the library "
            f"{result.verdict.predicate}: {result.reason}. Run without --at-capacity to see all findings"
        )
    delivered = result.sessions[0].candidate.metrics["delivered_max_per_s"]
    sys.stderr.write(
        f"measured capacity of the library: {delivered:,.0f} transactions per second; the arrival rates of the run are "
        "fractions of this capacity\n"
    )
    return replace(request, overrides={**request.overrides, CAPACITY: round(delivered)})


def bench_json(
    request: Request, library: dict[str, Any], result: SeriesResult, summary: Summary
) -> dict[str, Any]:
    """Return the result as JSON (harness/schema/bench.v1.schema.json)."""
    metric = summary.metric
    return {
        "schema": BENCH_SCHEMA,
        "verdict": result.verdict.value,
        "reason": result.reason,
        "benchmark": request.benchmark.name,
        "benchmark_version": request.benchmark.version,
        "instance": request.instance,
        "scale": request.scale.value,
        "parameters": request.benchmark.resolve(request.instance, request.scale, request.overrides),
        **{used.option: used.to_json() for used in request.user_files},
        "plain": request.plain,
        "record": request.record,
        "verified": request.verified,
        "configuration": request.configuration,
        "library": library,
        "findings": [finding.to_json() for finding in result.findings],
        "sessions": [
            {
                "seed": session.seed,
                "candidate_first": session.candidate_first,
                "void": session.discarded,
                "metrics": session.candidate.metrics,
                "control_metrics": session.control.metrics if session.control else None,
                "ratio": session_ratio(session, metric) if metric else None,
                "candidate": session.candidate.to_json(),
                "control": session.control and session.control.to_json(),
                "control_after": session.control_after and session.control_after.to_json(),
                "audit": session.audit and session.audit.to_json(),
            }
            for session in result.sessions
        ],
        "summary": summary.to_json(),
        "audit": summarise_audit(pairs_of(result.sessions)).to_json(),
        "jail_level": result.jail_level,
        "machine": facts_of_sessions(result.sessions),
    }


def _show(outcome: Outcome, stream: TextIO, options: argparse.Namespace) -> None:
    from cli.output import bench_screen, table  # noqa: PLC0415 - rich is slow to import; errors are printed without it

    out = table.console(stream)
    if options.details or options.counters or options.audit:
        bench_screen.show_details(out, outcome)
    else:
        bench_screen.show(out, outcome)
