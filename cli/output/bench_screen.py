"""Prints what `keydrome bench` found: on one screen, or with --details with every number.

If the library passed, the screen has its most important numbers, and below them the sentences of bench_text.py, which
stay visible when the text scrolls. If not, the screen has the findings, what the library printed, and what to do next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.output import check_text, table
from cli.output.bench_text import closing
from cli.output.paragraph import COLUMNS_MAX, paragraph
from results.counts import counted
from results.look_ahead import PAIRS_MIN, Audit, pairs_of, summarise_audit
from results.summary import RANKED_SESSIONS_MIN, Summary, final_scan_note
from runner.execute import session_output
from runner.machine import machine_facts
from runner.manifest import Kind
from runner.series import why_machine_too_busy
from runner.terms import JailLevel, Verdict
from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from cli.output.bench_text import Outcome
    from runner.contract import Session

LOG_LINES = 20
# On one screen, a finding, the other findings and the output of the library have at most this many lines.
_SCREEN = check_text.Limits(proof=10, others=3, warnings=2, rest="--details shows more")
_DETAILS = check_text.Limits(rest="--json FILE keeps all")
_SCREEN_LOG_LINES = 5
_RATIOS_MAX = 11


def show(out: Console, outcome: Outcome) -> None:
    """Print one screen: at most 24 lines if the library passed, and at most 40 if not."""
    result, summary = outcome.result, outcome.summary
    check_text.show_findings(out, result.findings, _SCREEN)
    if result.verdict is not Verdict.PASSED:
        _show_output(out, outcome, _SCREEN_LOG_LINES)
    elif _has_times(outcome):
        # On a narrow terminal, the sentences take more lines.
        is_wide = out.width >= COLUMNS_MAX
        benchmark = outcome.request.benchmark
        for line in table.main_numbers(benchmark, result.sessions, summary, phases=is_wide):
            out.print(line, markup=False, soft_wrap=True)
        if note := final_scan_note(summary):
            _say(out, "", note)
        for heading, text in _ratios(outcome):
            _say(out, heading, text)
    _show_warnings(out, outcome)
    _show_closing(out, outcome, is_detailed=False)


def show_details(out: Console, outcome: Outcome) -> None:
    """Print every number: all metrics, latencies, sessions, and facts about library and machine."""
    request, result, summary = outcome.request, outcome.result, outcome.summary
    if _has_times(outcome):
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
    check_text.show_findings(out, result.findings, _DETAILS)
    if result.verdict is not Verdict.PASSED:
        _show_output(out, outcome, LOG_LINES)
    for line in _facts(outcome):
        out.print(line, markup=False, soft_wrap=True)
    if request.audited_seeds:
        out.print(
            _audit_line(summarise_audit(pairs_of(result.sessions)), result.verdict), soft_wrap=True
        )
    _show_warnings(out, outcome)
    _show_closing(out, outcome, is_detailed=True)


def _has_times(outcome: Outcome) -> bool:
    # If the library refused its configuration, it has no times; the last line says why.
    ran = bool(outcome.result.sessions) and outcome.result.verdict is not Verdict.UNSUPPORTED
    return ran and outcome.request.benchmark.kind is Kind.PERFORMANCE


def _show_output(out: Console, outcome: Outcome, count: int) -> None:
    if outcome.result.sessions:
        output = printable(session_output(outcome.result.sessions[-1])).splitlines()
        for line in output[-count:]:
            out.print(line, markup=False, soft_wrap=True)


def _ratios(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yield the score, and the ratio of each session that counts."""
    summary, sessions = outcome.summary, outcome.result.sessions
    if summary.ratio is not None and outcome.result.verdict is Verdict.PASSED:
        yield "score", _ratio_line(summary).removeprefix(f"{summary.metric}, ")
        shown = ", ".join(f"{ratio:.3f}" for ratio in summary.ratios[:_RATIOS_MAX])
        more = ", ..." if len(summary.ratios) > _RATIOS_MAX else ""
        again = f"--seed {sessions[0].seed} plays the same operations again"
        noisy = _noisy_sessions(sessions, len(outcome.request.seeds))
        yield "each", f"per session: {shown}{more} ({again}){noisy}"


def _noisy_sessions(sessions: tuple[Session, ...], requested: int) -> str:
    """Return how many sessions do not count, and why there may be more valid sessions than were requested.

    Later sessions show how much noise is usual on the machine, so a session can count after it was repeated.
    """
    discarded = sum(bool(session.discarded) for session in sessions)
    text = ""
    if discarded:
        text += (
            f"; {counted(discarded, 'more session was', 'more sessions were')} too noisy to count"
        )
    extra = len(sessions) - discarded - requested
    if extra > 0:
        kept = (
            "a session that looked noisy was repeated, but later sessions were as noisy, so it counts"
            if extra == 1
            else f"{extra} sessions that looked noisy were repeated, but later sessions were as noisy, so they count"
        )
        text += f"; {counted(extra, 'session', 'sessions')} more than requested: {kept}, too"
    return text


def _show_warnings(out: Console, outcome: Outcome) -> None:
    result, summary = outcome.result, outcome.summary
    if summary.metric and (busy := why_machine_too_busy(result.sessions, summary.metric)):
        for line in paragraph("", f"warning: {busy}", out.width):
            out.print(line, style="yellow", markup=False, soft_wrap=True)


def _show_closing(out: Console, outcome: Outcome, *, is_detailed: bool) -> None:
    request, result = outcome.request, outcome.result
    sentences = closing(outcome.subject, request, result, outcome.summary, outcome.noise)
    for heading, text in sentences:
        _say(out, heading, text)
    if not is_detailed:
        for line in _left_out(outcome):
            _say(out, "more", line)
    checked = "this run's own checks" if request.benchmark.kind is Kind.PERFORMANCE else "the suite"
    # The findings already give the reason.
    reason = "" if result.findings else result.reason
    table.show_verdict(out, f"{outcome.library['file']}, {checked}", result.verdict, reason)


def _left_out(outcome: Outcome) -> Iterator[str]:
    """Yield lines about the user's keys or trace, a weak jail, and where to find what the screen leaves out."""
    for used in (outcome.request.keys, outcome.request.trace):
        if used is not None:
            yield used.text()
    level = outcome.result.jail_level
    if level and level != JailLevel.FULL.value:  # empty: no session was played
        yield (
            f"jail: {level}: the library could use more of this machine than in a full jail; "
            "`build/release/bin/jail --check` says what is missing"
        )
    if _has_times(outcome):
        yield "--details prints every number, the latencies and the sessions; --json FILE keeps them"


def _say(out: Console, heading: str, text: str) -> None:
    for line in paragraph(heading, text, out.width):
        out.print(line, markup=False, soft_wrap=True)


def _facts(outcome: Outcome) -> Iterator[str]:
    request, facts = outcome.request, outcome.library["facts"]
    for used in (request.keys, request.trace):
        if used is not None:
            yield used.text()
    size = f"{facts['size_bytes']:,} bytes"
    yield f"library: {facts['kind']}, {size}, sha256 {outcome.library['sha256']}"
    yield f"machine: {machine_facts()['class']}; jail: {outcome.result.jail_level or 'not used'}"
    if outcome.summary.ratio is not None and outcome.result.verdict is Verdict.PASSED:
        yield _ratio_line(outcome.summary)


def _audit_line(audit: Audit, verdict: Verdict) -> str:
    if not audit.pairs and not audit.pairs_left_out:
        if verdict is not Verdict.PASSED:
            return "audit: nothing was compared, because a session did not pass: correct the library first"
        return (
            "audit: nothing was compared, because every session makes too many calls to be played in verified mode: "
            "choose a smaller --scale"
        )
    if not audit.pairs:
        return (
            "audit: timed and verified mode cannot be compared, because each thread needs two CPUs that no other "
            "process uses: lower --threads, or stop other programs"
        )
    text = (
        f"audit: verified mode, which hides the next calls, adds {audit.candidate_added_ns:,.0f} ns to each call to "
        f"the library, and {audit.control_added_ns:,.0f} ns to each call to the control library; the difference is "
        f"{audit.excess_ns:+,.0f} ns, "
        f"{audit.share:+.0%} of the library's {audit.candidate_timed_ns:,.0f} ns per call in timed mode"
    )
    if not audit.is_decided:
        return (
            f"{text} - undecided: {counted(audit.pairs, 'session')} audited, but at least {PAIRS_MIN} are needed: "
            "raise --sessions"
        )
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
