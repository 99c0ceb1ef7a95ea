"""Says in sentences what `keydrome bench` found: what ran, how fast, whether it was right, how noisy, and what to do.

The candidate is the library that is judged. The control is a fixed library, which is timed in the same sessions. An
instance is a named set of parameters of a benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cli.input.libraries import isolates
from cli.output.build_text import is_cpp
from cli.output.busy_text import what_to_end
from cli.output.configuration_text import what_to_choose
from cli.output.crash_text import calls_inside, crashes, find_damage, find_race, is_race, meaning
from cli.output.debug_text import how_to_debug, how_to_profile, keydrome_command, session_options
from results.metrics import ranked_by
from results.summary import (
    CONFIDENCE,
    RANKED_SESSIONS_MIN,
    SESSIONS_MAX,
    control_number,
    sessions_to_differ,
)
from runner.manifest import Direction, Kind
from runner.terms import Verdict
from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from results.summary import Summary
    from runner.contract import Session
    from runner.manifest import Metric
    from runner.report import LatencyClass
    from runner.request import Request
    from runner.series import SeriesResult

CONTROL = "the control (global_lock, an ordered set with one lock)"
_LOAD_MAX = 0.5  # load per CPU, as in cli/machine_noise.py
_STEAL_PERCENT_MAX = 0.1
_CHANGE_MAX = 1.1
_TIME = "total_ms"
_NOT_JUDGED = {
    Verdict.INFRASTRUCTURE: "the run did not finish",
    Verdict.REFUSED: "the library was refused",
    Verdict.UNSUPPORTED: "the library refused its configuration",
}
_SLOW = 1.5  # from this ratio on, the output says how to find the slow functions
_SAME = 1.05  # a ratio closer to 1 than this is shown as "about as fast", without a number


@dataclass(frozen=True, slots=True)
class Noise:
    """What disturbed the sessions.

    - `load`: the load average per CPU before the run.
    - `steal_percent`: the share of time that other virtual machines took.
    - `neighbours`: the number of other Keydrome processes that ran libraries in the meantime.
    """

    load: float
    steal_percent: float
    neighbours: int


@dataclass(frozen=True, slots=True)
class Subject:
    """The library: its `name` with its configuration, and how it was `given` on the command line.

    `needed` has the names of the shared objects that it needs.
    """

    name: str
    given: str
    needed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that the command prints. `library` has the file's name, its SHA-256 and its facts."""

    subject: Subject
    request: Request
    library: dict[str, Any]
    result: SeriesResult
    summary: Summary
    noise: Noise


def closing(
    subject: Subject, request: Request, result: SeriesResult, summary: Summary, noise: Noise
) -> Iterator[tuple[str, str]]:
    """Yield the sentences at the end of the output, each with its heading."""
    benchmark = request.benchmark
    yield "ran", f"{subject.name} on {described(request)}"
    metric = benchmark.metric
    # A wrong library may be fast because it is wrong, so its speed is not stated.
    if summary.ratio is not None and metric is not None and result.verdict is Verdict.PASSED:
        yield "speed", speed(summary, metric, request)
    played, wanted = len(result.sessions), len(request.seeds)
    was = "was" if played == 1 else "were"
    rest = f"; {played} of {wanted} sessions {was} played" if 0 < played < wanted else ""
    # A library that refuses its configuration plays no session, although one was begun.
    rest = "" if result.verdict is Verdict.UNSUPPORTED else rest
    yield "right", right(request, result.verdict) + rest
    has_times = result.sessions and result.verdict is not Verdict.UNSUPPORTED
    if has_times and benchmark.kind is Kind.PERFORMANCE:
        yield "noise", noise_text(noise, result.sessions, summary.metric or _TIME)
    # If the sessions disagree, the machine was probably busy.
    is_slow = (summary.ratio or 0) >= _SLOW and min(summary.ratios, default=0) > 1
    if is_slow and metric is not None and metric.name == _TIME and result.verdict is Verdict.PASSED:
        first = result.sessions[0]
        how = how_to_profile(subject.given, first.candidate, first.seed, request.overrides, "first")
        yield "slow", slowest_transactions(first) + how
    yield from _crash(subject, request, result)
    next_command = what_next(subject.given, request, result, summary)
    if advice := next_command or what_to_choose(result.reason) or what_to_end(result.reason):
        yield "next", advice


def _crash(subject: Subject, request: Request, result: SeriesResult) -> Iterator[tuple[str, str]]:
    crash = next((one for one in result.findings if crashes(one) and calls_inside(one)), None)
    if crash is None:
        return
    # Only a structure has a configuration.
    is_structure = request.configuration is not None
    yield "crash", " ".join(meaning(crash, subject.given, is_structure=is_structure))
    played = next(one for one in result.sessions if one.candidate.verdict is Verdict.CRASHED)
    session = session_options(played.candidate, played.seed, request.overrides)
    if is_race(crash) and not is_structure:
        yield "race", find_race(subject.given, session, cpp=is_cpp(subject.needed))
    yield "memory", find_damage(subject.given, session, cpp=is_cpp(subject.needed))


def slowest_transactions(session: Session) -> str:
    """Return which class of transactions takes the most time beyond that of the control, or an empty text.

    Without a control, or with one class alone, there is nothing to say.
    """
    if session.control is None:
        return ""
    theirs = {one.transaction_class: _mean_us(one) for one in session.control.latency}
    extra = {
        one.transaction_class: one.count * (_mean_us(one) - theirs[one.transaction_class])
        for one in session.candidate.latency
        if one.count and theirs.get(one.transaction_class)
    }
    slower = {name: us for name, us in extra.items() if us > 0}
    if len(extra) <= 1 or not slower:
        return ""
    name = max(slower, key=lambda one: slower[one])
    ours = next(one for one in session.candidate.latency if one.transaction_class == name)
    return (
        f"{100 * slower[name] / sum(slower.values()):.0f} % of the additional time, compared with the control, is in "
        f"transactions of the class {printable(name)} (mean {_mean_us(ours):,.1f} us, control {theirs[name]:,.1f} us). "
    )


def _mean_us(latency: LatencyClass) -> float:
    """Return an estimate that is above the mean: each latency counts as the upper bound of its bucket."""
    total = sum(count for _, count in latency.buckets)
    return sum(bound * count for bound, count in latency.buckets) / total / 1000 if total else 0.0


def described(request: Request) -> str:
    """Return benchmark, instance, version and scale, and which of --plain, --record and --verified are given."""
    benchmark = request.benchmark
    text = f"{benchmark.name}/{request.instance} version {benchmark.version}, {request.scale.value} scale"
    options = {"plain": request.plain, "recorded": request.record, "verified": request.verified}
    return ", ".join([text, *(word for word, on in options.items() if on)])


def speed(summary: Summary, metric: Metric, request: Request) -> str:
    """Return how fast the candidate was relative to the control, and how certain that is."""
    shown = ranked_by(metric.name, request.benchmark.own_metrics)
    ours, theirs = (
        medians.get(metric.name) for medians in (summary.medians, summary.control_medians)
    )
    text = f"{_compared(summary, metric)}{_in_sessions(summary)}"
    if metric.name != _TIME:
        text += f", {'less' if metric.direction is Direction.LOWER else 'more'} is better"
    # The ratio is the median of the sessions' ratios. The two medians can contradict it, and are then left out.
    if ours is not None and theirs is not None and (ours > theirs) == ((summary.ratio or 1.0) > 1):
        unit = f" {shown.unit}" if shown.unit else ""
        text += f": {shown.label} {shown.text(ours)}{unit} against {shown.text(theirs)}{unit}"
    return text + _certainty(summary)


def _compared(summary: Summary, metric: Metric) -> str:
    ratio = summary.ratio or 1.0
    about = "" if _is_shown(summary) else "about "
    if metric.name != _TIME:
        return f"{about}{ratio:.2f} times the result of {CONTROL}"
    if 1 / _SAME < ratio < _SAME:
        return f"about as fast as {CONTROL}"
    if ratio <= 1:
        return f"{about}{1 / ratio:.1f} times as fast as {CONTROL}"
    return f"takes {about}{ratio:.1f} times as long as {CONTROL}"


def _is_shown(summary: Summary) -> bool:
    """Return whether the sessions show that the candidate differs from the control."""
    interval = summary.interval
    return (
        interval is not None
        and interval.coverage >= CONFIDENCE
        and not interval.low <= 1 <= interval.high
    )


def _in_sessions(summary: Summary) -> str:
    """Return in how many sessions the ratio was on the same side of 1 as its median."""
    ratios, ratio = summary.ratios, summary.ratio or 1.0
    if len(ratios) == 1:
        return " in one session"
    others = sum((one < 1) != (ratio < 1) for one in ratios)
    if others == 0:
        return f" in all {len(ratios)} sessions"
    votes = f"{len(ratios) - others} to {others}"
    return (
        f" in the median of {len(ratios)} sessions, which disagree on the better library ({votes})"
    )


def _certainty(summary: Summary) -> str:
    """Return whether the sessions show a difference. If they do not, say also about how many sessions would."""
    interval, count = summary.interval, len(summary.ratios)
    if interval is None:
        return ""
    if _is_shown(summary):
        return f"; a {CONFIDENCE:.0%} interval shows the difference".replace("%", " %")
    few = "one session is" if count == 1 else f"{count} sessions are"
    few += " too few to show a difference"
    if interval.coverage >= CONFIDENCE:
        few = f"{count} sessions do not show a difference"
    needed = sessions_to_differ(summary.ratios)
    if needed is None and summary.provisional:
        # One outlier among so few sessions can make the estimate arbitrarily large.
        return (
            f"; {few}, and they scatter too much to say how many would "
            f"(try --sessions {RANKED_SESSIONS_MIN})"
        )
    if needed is None:
        return f"; {few}, and {SESSIONS_MAX} sessions probably do not show one either"
    return f"; {few}, but --sessions {needed} probably can"


def right(request: Request, verdict: Verdict) -> str:
    """Return whether the results of this run were right, and what this run does not judge."""
    if verdict in _NOT_JUDGED:
        return (
            f"it is unknown whether the library's results are right, because {_NOT_JUDGED[verdict]}"
        )
    if verdict is not Verdict.PASSED:
        return "the results do not count, because the library did not pass"
    if request.benchmark.kind is Kind.CORRECTNESS:
        return (
            f"the suite {request.benchmark.name} found no fault; `keydrome check` runs all suites"
        )
    if request.plain:
        return (
            "every checked result of this run was right, but --plain checks only the results of the workload's own "
            "calls"
        )
    if request.record:
        return "every checked result of this run was right, and its transactions were isolated"
    isolation = (
        "Isolation of transactions is not judged here: `keydrome check` does that"
        if isolates(request.configuration)
        else "Isolation of transactions was not judged, because the configuration does not isolate them"
    )
    return f"every checked result of this run was right. {isolation}"


def noise_text(noise: Noise, sessions: tuple[Session, ...], metric: str) -> str:
    """Return how noisy the machine was, in words, with the numbers."""
    change = control_change(sessions, metric)
    is_noisy = (
        noise.load > _LOAD_MAX
        or noise.steal_percent > _STEAL_PERCENT_MAX
        or (change or 1.0) > _CHANGE_MAX
        or noise.neighbours > 0
    )
    facts = [f"load {noise.load:.1f} per CPU before the run"]
    if noise.steal_percent > _STEAL_PERCENT_MAX:
        facts.append(f"other virtual machines took {noise.steal_percent:.1f} % of the CPU time")
    if change is not None:
        facts.append(f"the control's sessions differ by a factor of up to {change:.2f}")
    if noise.neighbours:
        facts.append(
            f"{noise.neighbours} other Keydrome run{'s' if noise.neighbours > 1 else ''} at the same time"
        )
    return f"{'noisy' if is_noisy else 'quiet'} machine: {'; '.join(facts)}"


def control_change(sessions: tuple[Session, ...], metric: str) -> float | None:
    """Return the control's largest result divided by its smallest, or None if there are fewer than two results."""
    counted = (session for session in sessions if not session.discarded)
    values = [value for one in counted if (value := control_number(one, metric))]
    return max(values) / min(values) if len(values) > 1 else None


def what_next(given: str, request: Request, result: SeriesResult, summary: Summary) -> str:
    """Return the command that tells more about the library `given`, or an empty string."""
    for session in result.sessions:
        if debugging := how_to_debug(given, session.candidate, session.seed, request.overrides):
            return debugging
    # If the file or configuration was refused, or the run failed, the reason says what to do; no other command helps.
    if request.benchmark.kind is Kind.CORRECTNESS or result.verdict in _NOT_JUDGED:
        return ""
    reporting = f"use --sessions {RANKED_SESSIONS_MIN} or more for a result to report"
    is_short = summary.provisional and summary.ratio is not None
    # `keydrome check` refuses a configuration that isolates no transactions.
    if not isolates(request.configuration):
        return reporting if is_short and result.verdict is Verdict.PASSED else ""
    check = f"{keydrome_command()} check {given}"
    if result.verdict is not Verdict.PASSED:
        return f"`{check} --witness DIR` shows the few calls that go wrong"
    if is_short:
        return f"run `{check}` to judge isolation; {reporting}"
    return f"run `{check}` to judge isolation"
