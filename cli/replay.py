"""Implements `keydrome replay`: checks a bundle that a site made of a run, plays the run again and compares.

A bundle is a signed file with the results of a run. The same seeds give the same operations, so the verdict must be the
same. The times depend on the machine, so the command compares ratios instead: the time of the library divided by the
time of the control library, a fixed library that runs in the same sessions.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cli.input.libraries import find_configuration, find_runnable, is_trusted
from cli.input.values import UsageError
from cli.local_jail import check_rights, prepared
from cli.output.files import stream_for_people, write_json
from cli.output.progress import announce, shown_progress
from results.bundle import BYTES_MAX, Bundle, BundleError, read_bundle
from results.counts import counted
from results.summary import Summary, summarise
from runner.execute import run_file
from runner.machine import machine_facts
from runner.manifest import find_benchmark, load_benchmarks
from runner.request import Request
from runner.settings import load_settings
from runner.strict import ObjectReader, StrictError
from runner.terms import JailLevel, Scale, Verdict
from runner.text import display_name, printable

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from results.summary import Interval
    from runner.settings import Settings

REPLAY_SCHEMA = "keydrome.replay.v1"
_GIVE_A_BUNDLE = "give a bundle, which the page of a run on a site offers for download"


@dataclass(frozen=True, slots=True)
class Original:
    """What a bundle says about its run. The ratio and its interval are None if the run has no control library.

    `instance` is a named set of parameters of the benchmark. The values in `parameters` replace parameters of this set.
    Bundles of older sites have no `parameters`.
    """

    run: str
    benchmark: str
    benchmark_version: int
    instance: str
    parameters: dict[str, int]
    scale: Scale
    verified: bool
    configuration: str
    sha256: str
    seeds: tuple[str, ...]
    verdict: Verdict
    ratio: float | None
    low: float | None
    high: float | None
    machine_class: str

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Original:
        """Return what run.json says. Raises StrictError if a field is missing or has the wrong form."""
        reader = ObjectReader(value, "run.json")
        request = ObjectReader(reader.mapping("request"), "run.json: request")
        library = ObjectReader(reader.mapping("library"), "run.json: library")
        result = ObjectReader(reader.mapping("result"), "run.json: result")
        machine = ObjectReader(reader.mapping("machine"), "run.json: machine")
        return cls(
            run=reader.text("run"),
            benchmark=request.text("benchmark"),
            benchmark_version=request.integer("benchmark_version"),
            instance=request.text("instance"),
            parameters=request.integers("parameters", required=False),
            scale=request.word("scale", Scale),
            verified=request.boolean("verified"),
            configuration=library.text("configuration"),
            sha256=library.text("sha256"),
            seeds=reader.texts("seeds"),
            verdict=result.word("verdict", Verdict),
            ratio=result.optional_number("score"),
            low=result.optional_number("score_low"),
            high=result.optional_number("score_high"),
            machine_class=machine.optional_text("class") or "unknown",
        )


def run(options: argparse.Namespace) -> int:
    """Return 0 if the replay confirms the run (compare()), 1 if not, 2 if the run could not be played."""
    settings = load_settings()
    announce(f"reading {display_name(options.bundle.name)}")
    bundle = _read(options.bundle, options.key)
    try:
        original = Original.from_json(bundle.run)
    except StrictError as error:
        raise UsageError(
            f"{error}: if the bundle was made before the run had ended, download it again; otherwise use the version "
            "of Keydrome that made the bundle"
        ) from error
    library = find_runnable(options.library, settings).path
    request = _request(library, JailLevel(options.require), original, bundle, settings)
    check_rights(request.require)
    with prepared(library) as (slot_settings, folder, file):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        if digest != original.sha256:
            raise UsageError(
                f"{display_name(library.name)}: not the library of the run: the SHA-256 of this file is {digest}; give "
                f"the file whose SHA-256 is {original.sha256}"
            )
        with shown_progress(f"{original.benchmark}/{original.instance}") as heartbeat:
            result, _facts = run_file(file, request, slot_settings, folder, heartbeat)
    metric = request.benchmark.metric
    summary = summarise(result.sessions, metric.name if metric else None)
    comparison = compare(original, result.verdict, summary)
    out = stream_for_people(options.json)
    for line in (*_origin(original, bundle, known_key=options.key is not None), *comparison.lines):
        print(printable(line), file=out)
    if options.json is not None:
        write_json(options.json, _json(original, bundle, result.verdict, summary, comparison))
    if result.verdict is Verdict.INFRASTRUCTURE:
        return 2
    return 0 if comparison.confirmed else 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a replay says: whether it confirms the run, and the sentences that say so."""

    confirmed: bool
    lines: tuple[str, ...]


def compare(original: Original, verdict: Verdict, summary: Summary) -> Comparison:
    """Compare the run of a bundle with its replay.

    The replay confirms the run if the verdicts are equal and the ratios do not contradict each other. They contradict
    each other only if the machines are of the same class and the intervals of the ratios do not overlap.
    """
    same_verdict = verdict is original.verdict
    lines = [f"verdict: {_words(original.verdict)} in the bundle, {_words(verdict)} in the replay"]
    here = machine_facts()["class"]
    same_class = here == original.machine_class
    overlapping = _overlap(original, summary.interval)
    if original.ratio is not None and summary.ratio is not None:
        lines.append(
            f"ratio to the control library: {_ratio(original.ratio, _bounds(original))} in the bundle, "
            f"{_ratio(summary.ratio, _bounds(summary.interval))} in the replay"
        )
        if not same_class:
            lines.append(
                f"machine: in the bundle, {original.machine_class}; in the replay, {here}. The ratios are not "
                "compared, because ratios of different machine classes may differ"
            )
        elif overlapping is None:
            lines.append(
                "too few sessions for intervals (at least two), so the ratios cannot be compared"
            )
        else:
            lines.append(
                f"the intervals of the two ratios {'overlap' if overlapping else 'do not overlap'}"
            )
    why_not = "" if same_verdict else "the verdicts differ"
    if same_verdict and same_class and overlapping is False:
        why_not = "the intervals of the two ratios do not overlap, although the machines are of the same class"
    if why_not:
        lines.append(f"the replay does not confirm the run, because {why_not}")
    elif original.ratio is None or (same_class and overlapping):
        lines.append("the replay confirms the run")
    else:
        lines.append("the replay confirms the verdict of the run, but says nothing about its ratio")
    return Comparison(not why_not, tuple(lines))


def _overlap(original: Original, interval: Interval | None) -> bool | None:
    """Return whether two intervals have a common point; None if one of them does not exist."""
    before, after = _bounds(original), _bounds(interval)
    if before is None or after is None:
        return None
    return before[0] <= after[1] and after[0] <= before[1]


def _bounds(interval: Original | Interval | None) -> tuple[float, float] | None:
    """Return the ends of an interval, or None if there is none. One session gives equal ends, which are no interval."""
    if interval is None or interval.low is None or interval.high is None:
        return None
    return (interval.low, interval.high) if interval.low < interval.high else None


def _ratio(ratio: float, bounds: tuple[float, float] | None) -> str:
    return f"{ratio:.3f}" if bounds is None else f"{ratio:.3f} [{bounds[0]:.3f}, {bounds[1]:.3f}]"


def _words(verdict: Verdict) -> str:
    return verdict.value.replace("_", " ")


def _read(path: Path, key: str | None) -> Bundle:
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot read the file ({error.strerror}): {_GIVE_A_BUNDLE}"
        ) from error
    try:
        return read_bundle(data, key)
    except BundleError as error:
        raise UsageError(f"{display_name(path.name)}: {error}") from error


def _request(
    library: Path, require: JailLevel, original: Original, bundle: Bundle, settings: Settings
) -> Request:
    benchmark = find_benchmark(load_benchmarks(settings.root), original.benchmark)
    if benchmark.version != original.benchmark_version:
        raise UsageError(
            f"the run used version {original.benchmark_version} of the benchmark {benchmark.name}, but this clone has "
            f"version {benchmark.version}: use the version of Keydrome that made the bundle ({_made_by(bundle)})"
        )
    if not original.seeds:
        raise UsageError(
            "the bundle has no seeds: only the owner of the run and organisers get a bundle with seeds. Log in as the "
            "owner or as an organiser, and download the bundle again"
        )
    return Request(
        benchmark=benchmark,
        instance=original.instance,
        scale=original.scale,
        overrides=original.parameters,
        seeds=original.seeds,
        plain=False,
        require=require,
        control=True,
        configuration=find_configuration(original.configuration or None, settings),
        trusted=is_trusted(library, settings),
        verified=original.verified,
    )


def _origin(original: Original, bundle: Bundle, *, known_key: bool) -> list[str]:
    configured = (
        f" with the configuration {original.configuration}" if original.configuration else ""
    )
    signed = (
        "the key that you gave"
        if known_key
        else f"{bundle.public_key}, a key that was not checked (give --key)"
    )
    played = f"{original.benchmark}/{original.instance} version {original.benchmark_version}, {original.scale.value}"
    sessions = counted(len(original.seeds), "session")
    return [
        f"bundle of {original.run}: {played} scale, {sessions}{configured}",
        f"made with {_made_by(bundle)}; signed with {signed}",
    ]


def _made_by(bundle: Bundle) -> str:
    software = bundle.software
    return f"Keydrome {software.get('keydrome', 'unknown')}, commit {software.get('commit', 'unknown')}"


def _json(
    original: Original, bundle: Bundle, verdict: Verdict, summary: Summary, comparison: Comparison
) -> dict[str, Any]:
    """Return the result as JSON."""
    return {
        "schema": REPLAY_SCHEMA,
        "run": original.run,
        "public_key": bundle.public_key,
        "software": dict(bundle.software),
        "original": {
            "verdict": original.verdict.value,
            "ratio": original.ratio,
            "low": original.low,
            "high": original.high,
            "machine_class": original.machine_class,
        },
        "replay": {
            "verdict": verdict.value,
            "summary": summary.to_json(),
            "machine_class": machine_facts()["class"],
        },
        "confirmed": comparison.confirmed,
    }
