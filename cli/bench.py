"""Implements `keydrome bench`: judges and times one library on this machine.

The site's workers, which are the processes that run uploaded libraries, judge and time in the same way.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass, replace
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
from cli.output.bench_text import Noise, Subject, closing, described
from cli.output.files import stream_for_people, write_json
from cli.output.progress import announce, shown_progress
from results.counts import counted
from results.look_ahead import (
    PAIRS_MIN,
    Audit,
    look_ahead_finding,
    pairs_of,
    summarise_audit,
)
from results.metrics import with_metric
from results.result_files import BENCH_SCHEMA
from results.summary import RANKED_SESSIONS_MIN, Summary, session_ratio, summarise
from runner.execute import Inspected, run_inspected, session_output
from runner.inspection.library import inspect_library
from runner.machine import facts_of_sessions, machine_facts
from runner.manifest import Kind
from runner.series import why_machine_too_busy
from runner.settings import load_settings
from runner.terms import JailLevel, Verdict
from runner.text import display_name, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path

    from runner.request import Request
    from runner.series import SeriesResult
    from runner.settings import Settings

LOCAL_LOG_LINES = 20
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
        print(f"{first} on {described(request)}, {count}", file=people, flush=True)
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
    subject = Subject(name, as_given(options.library, options.config))
    _show(_Outcome(subject, request, library, result, summary, noise), people)
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
        raise UsageError("--history writes the histories of recorded runs only: give --record too")
    if options.audit and (options.no_control or benchmark.kind is not Kind.PERFORMANCE):
        raise UsageError(
            "--audit compares the library with the control library: choose a timed benchmark, without --no-control"
        )
    if options.audit and "threads" not in benchmark.parameters:
        raise UsageError(
            f"--audit needs the number of threads, but {benchmark.name} has no parameter threads: choose another "
            "benchmark"
        )
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
            "--at-capacity needs a benchmark with arrival rates; use, for example, "
            f"--benchmark {DEFAULT_OPEN_LOOP}"
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
    with shown_progress("capacity") as heartbeat:
        result = run_inspected(inspected, saturated, settings, work, heartbeat)
    if result.verdict is not Verdict.PASSED:
        verdict = result.verdict.value.replace("_", " ")
        raise UsageError(
            f"cannot measure the capacity: the library's verdict is {verdict}: {result.reason}"
        )
    delivered = result.sessions[0].candidate.metrics["delivered_max_per_s"]
    sys.stderr.write(
        f"measured capacity of the library: {delivered:,.0f} transactions/s; the run uses this number\n"
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


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Everything that the command prints."""

    subject: Subject
    request: Request
    library: dict[str, Any]
    result: SeriesResult
    summary: Summary
    noise: Noise


def _show(outcome: _Outcome, stream: TextIO) -> None:
    from cli.output import check_text, table  # noqa: PLC0415 - rich is slow to import; errors are printed without it

    out = table.console(stream)
    request, result, summary = outcome.request, outcome.result, outcome.summary
    # If the library rejected its configuration, it has no times; the last line says why.
    has_times = result.sessions and result.verdict is not Verdict.UNSUPPORTED
    if has_times and request.benchmark.kind is Kind.PERFORMANCE:
        requested = len(request.seeds)
        table.show_sessions(out, result.sessions, summary.metric or "total_ms", requested)
        if result.verdict is Verdict.PASSED:
            table.show_numbers(out, request.benchmark, result.sessions, summary)
            table.show_latency(out, result.sessions)
            table.show_curve(out, result.sessions)
    if request.counters and result.sessions and "cycles_per_call" not in summary.medians:
        out.print(
            "counters: none, because this machine cannot count cycles, cache misses or branch misses; virtual machines "
            "often cannot"
        )
    check_text.show_findings(out, result.findings)
    if result.verdict is not Verdict.PASSED and result.sessions:
        for line in printable(session_output(result.sessions[-1])).splitlines()[-LOCAL_LOG_LINES:]:
            out.print(line, markup=False, soft_wrap=True)
    for line in _facts(outcome):
        out.print(line, markup=False, soft_wrap=True)
    if summary.metric and (busy := why_machine_too_busy(result.sessions, summary.metric)):
        out.print(f"warning: {busy}", style="yellow", markup=False, soft_wrap=True)
    if request.audited_seeds:
        out.print(_audit_line(summarise_audit(pairs_of(result.sessions))), soft_wrap=True)
    for heading, text in closing(outcome.subject, request, result, summary, outcome.noise):
        out.print(f"{heading + ':':7}{text}", markup=False, soft_wrap=True)
    checked = "this run's own checks" if request.benchmark.kind is Kind.PERFORMANCE else "the suite"
    subject = f"{outcome.library['file']}, {checked}"
    # The findings already give the reason.
    reason = "" if result.findings else result.reason
    table.show_verdict(out, subject, result.verdict, reason)


def _facts(outcome: _Outcome) -> Iterator[str]:
    request, facts = outcome.request, outcome.library["facts"]
    for used in (request.keys, request.trace):
        if used is not None:
            yield used.text()
    size = f"{facts['size_bytes']:,} bytes"
    yield f"library: {facts['kind']}, {size}, sha256 {outcome.library['sha256']}"
    yield f"machine: {machine_facts()['class']}; jail: {outcome.result.jail_level or 'not used'}"
    if outcome.summary.ratio is not None and outcome.result.verdict is Verdict.PASSED:
        yield _ratio_line(outcome.summary)


def _audit_line(audit: Audit) -> str:
    if not audit.pairs and not audit.pairs_left_out:
        return (
            "audit: no session was played in both timed and verified mode, because sessions failed or have too many "
            "calls: if none failed, choose a smaller --scale"
        )
    if not audit.pairs:
        return (
            "audit: not comparable: each thread needs two CPUs that no other process uses: lower --threads, or stop "
            "other programs"
        )
    text = (
        f"audit: verified mode adds {audit.candidate_added_ns:,.0f} ns per call to the library, "
        f"{audit.control_added_ns:,.0f} ns per call to the control; the difference is {audit.excess_ns:+,.0f} ns, "
        f"{audit.share:+.0%} of the {audit.candidate_timed_ns:,.0f} ns of a call in timed mode"
    )
    if not audit.is_decided:
        return f"{text} - undecided: fewer than {PAIRS_MIN} audited sessions: raise --sessions"
    if audit.looks_ahead:
        return f"{text} - look_ahead: the library may read its next calls"
    return f"{text} - no sign that the library reads its next calls"


def _ratio_line(summary: Summary) -> str:
    interval = summary.interval
    text = f"{summary.metric}, candidate / control: {summary.ratio:.3f}"
    if interval is not None and summary.sessions > 1:
        text += (
            f" [{interval.low:.3f}, {interval.high:.3f}] ({100 * interval.coverage:.0f} % interval)"
        )
    return text + (
        f" - provisional: fewer than {RANKED_SESSIONS_MIN} sessions" if summary.provisional else ""
    )
