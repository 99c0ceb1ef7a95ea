"""Tests of the sentences at the end of `keydrome bench`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from cli.output.bench_text import (
    CONTROL,
    Noise,
    Subject,
    closing,
    noise_text,
    right,
    slowest_transactions,
    speed,
)
from results.metrics import with_metric
from results.summary import summarise
from runner.contract import Session
from runner.manifest import load_benchmarks
from runner.report import Finding
from runner.request import Request
from runner.series import SeriesResult
from runner.terms import JailLevel, Scale, Severity, Verdict
from runner.tests import samples
from runner.tests.samples import latency

if TYPE_CHECKING:
    from runner.settings import Settings

MINE = Subject("mine.so under the configuration rw", "./mine.so --config rw")
ONE = "one session is too few to show a difference, but --sessions 6 probably can"
THREE = "3 sessions are too few to show a difference, but --sessions 6 probably can"
MIXED = "which disagree on the better library"
QUIET = Noise(load=0.1, steal_percent=0.0, neighbours=0)


@pytest.fixture
def request_of(settings: Settings) -> Request:
    benchmark = load_benchmarks(settings.root)["sigmod2009"]
    return Request(
        benchmark=benchmark,
        instance="preliminary1",
        scale=Scale.SMOKE,
        overrides={},
        seeds=("00000000000000aa",),
        plain=False,
        require=JailLevel.FULL,
        control=True,
    )


def sessions(*times_ms: tuple[float, float], metric: str = "total_ms") -> tuple[Session, ...]:
    """Return one session for each pair of results of candidate and control."""
    found = []
    for ours, theirs in times_ms:
        reports = [replace(samples.report(), metrics={metric: ms}) for ms in (ours, theirs)]
        found.append(Session("0" * 16, True, reports[0], reports[1]))
    return tuple(found)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (
            [(10.0, 18.0)],
            f"about 1.8 times as fast as {CONTROL} in one session: time 10.0 ms against 18.0 ms; {ONE}",
        ),
        (
            [(64.9, 31.5), (60.0, 31.0), (70.0, 32.0)],
            f"takes about 2.1 times as long as {CONTROL} in all 3 sessions: time 64.9 ms against 31.5 ms; {THREE}",
        ),
        (
            [(64.9, 31.5), (60.0, 30.0), (20.0, 40.0)],
            (
                f"takes about 2.0 times as long as {CONTROL} in the median of 3 sessions, {MIXED} (2 to 1): "
                "time 60.0 ms against 31.5 ms"
            ),
        ),
        (
            # The medians of the times, 24 and 25 ms, contradict the median of the ratios, so they are left out.
            [(24.0, 20.0), (36.0, 30.0), (20.0, 25.0)],
            f"takes about 1.2 times as long as {CONTROL} in the median of 3 sessions, {MIXED} (2 to 1); 3 sessions",
        ),
        (
            [(10.0, 10.2), (10.0, 9.8)],
            f"about as fast as {CONTROL} in the median of 2 sessions, {MIXED} (1 to 1)",
        ),
        (
            [(10.0, 10.2), (10.0, 9.8)],
            "; 2 sessions are too few to show a difference, and they scatter too much to say how many would",
        ),
        (
            [(10.0, 20.0)] * 6 + [(20.0, 10.0)] * 6,
            "; 12 sessions do not show a difference, and 200 sessions probably do not show one either",
        ),
        (
            [(10.0, 20.0)] * 5 + [(20.0, 10.0)] * 2,
            "; 7 sessions do not show a difference, but --sessions ",
        ),
    ],
)
def test_how_fast(times: list[tuple[float, float]], words: str, request_of: Request) -> None:
    metric = request_of.benchmark.metric
    assert metric is not None
    assert words in speed(summarise(sessions(*times), "total_ms"), metric, request_of)


@pytest.mark.parametrize("count", [6, 11])
def test_enough_sessions_show_the_difference(count: int, request_of: Request) -> None:
    metric = request_of.benchmark.metric
    assert metric is not None
    text = speed(summarise(sessions(*[(10.0, 18.0)] * count), "total_ms"), metric, request_of)
    assert text == (
        f"1.8 times as fast as {CONTROL} in all {count} sessions: time 10.0 ms against 18.0 ms; a 95 % interval shows "
        "the difference"
    )


def test_another_metric_names_what_is_better(request_of: Request) -> None:
    benchmark = with_metric(request_of.benchmark, "throughput_tps")
    metric = benchmark.metric
    assert metric is not None
    found = sessions((200.0, 100.0), metric="throughput_tps")
    text = speed(summarise(found, metric.name), metric, replace(request_of, benchmark=benchmark))
    assert "2.00 times the result of the control" in text
    assert "more is better: transactions per second 200.0 against 100.0" in text


def test_passed_says_what_was_not_judged(request_of: Request) -> None:
    assert "Isolation of transactions is not judged here" in right(request_of, Verdict.PASSED)
    recorded = right(replace(request_of, record=True), Verdict.PASSED)
    assert "its transactions were isolated" in recorded
    assert "right, but --plain checks only" in right(
        replace(request_of, plain=True), Verdict.PASSED
    )
    assert "the results do not count" in right(request_of, Verdict.CRASHED)
    assert (
        "unknown whether the library's results are right, because the library was refused"
        in right(request_of, Verdict.REFUSED)
    )


def test_noise_in_words() -> None:
    same = sessions((10.0, 10.0), (10.0, 10.5))
    assert noise_text(QUIET, same, "total_ms").startswith("quiet machine: load 0.1 per CPU")
    for noise in (
        replace(QUIET, load=0.6),
        replace(QUIET, steal_percent=0.2),
        replace(QUIET, neighbours=1),
    ):
        assert noise_text(noise, same, "total_ms").startswith("noisy machine")
    text = noise_text(QUIET, sessions((10.0, 10.0), (10.0, 12.0)), "total_ms")
    assert text.startswith("noisy machine")
    assert "the control's sessions differ by a factor of up to 1.20" in text
    assert "1 other Keydrome run at the same time" in noise_text(
        replace(QUIET, neighbours=1), same, "total_ms"
    )


def test_a_failed_library_is_sent_to_check(request_of: Request) -> None:
    found = sessions((10.0, 18.0))
    result = SeriesResult(Verdict.FAILED, "why", sessions=found)
    lines = dict(closing(MINE, request_of, result, summarise(found, "total_ms"), QUIET))
    assert lines["ran"].startswith(
        "mine.so under the configuration rw on sigmod2009/preliminary1 version "
    )
    assert "`keydrome check ./mine.so --config rw --witness DIR`" in lines["next"]
    assert "speed" not in lines
    three = replace(request_of, seeds=("0" * 16,) * 3)
    lines = dict(closing(MINE, three, result, summarise(found, "total_ms"), QUIET))
    assert lines["right"].endswith("did not pass; 1 of 3 sessions was played")
    result = replace(result, verdict=Verdict.PASSED)
    lines = dict(closing(MINE, request_of, result, summarise(found, "total_ms"), QUIET))
    assert lines["next"] == (
        "run `keydrome check ./mine.so --config rw` to judge isolation; "
        "use --sessions 11 or more for a result to report"
    )


def test_a_slow_library_learns_how_to_find_its_slow_functions(request_of: Request) -> None:
    for ours, is_slow in ((18.0, True), (14.0, False), (5.0, False)):
        found = sessions((ours, 10.0))
        result = SeriesResult(Verdict.PASSED, "", sessions=found)
        lines = dict(closing(MINE, request_of, result, summarise(found, "total_ms"), QUIET))
        assert ("slow" in lines) == is_slow
        undecided = sessions((ours, 10.0), (ours, 10.0), (9.0, 10.0))
        result = SeriesResult(Verdict.PASSED, "", sessions=undecided)
        assert "slow" not in dict(
            closing(MINE, request_of, result, summarise(undecided, "total_ms"), QUIET)
        )
        if is_slow:
            assert lines["slow"].startswith("`keydrome debug ./mine.so --config rw --benchmark ")
            assert "--seed 0000000000000000 --tool perf`" in lines["slow"]


def test_a_slow_library_learns_which_transactions_are_slow() -> None:
    (session,) = sessions((18.0, 10.0))
    assert slowest_transactions(session) == ""
    assert session.control is not None
    ours = (latency("read", (1000, 90)), latency("update", (1000, 9), (101_000, 1)))
    theirs = (latency("read", (1000, 90)), latency("update", (1000, 10)))
    both = replace(
        session,
        candidate=replace(session.candidate, latency=ours),
        control=replace(session.control, latency=theirs),
    )
    assert slowest_transactions(both) == (
        "100 % of the additional time, compared with the control, is in transactions of the class update "
        "(mean 11.0 us, control 1.0 us). "
    )
    assert slowest_transactions(replace(both, control=None)) == ""


def test_a_run_that_could_not_be_carried_out_does_not_blame_the_library(
    request_of: Request,
) -> None:
    found = sessions((10.0, 18.0))
    result = SeriesResult(Verdict.INFRASTRUCTURE, "it needs 12 GiB, 8 GiB are free", sessions=found)
    lines = dict(closing(MINE, request_of, result, summarise(found, "total_ms"), QUIET))
    assert (
        lines["right"]
        == "it is unknown whether the library's results are right, because the run did not finish"
    )
    assert "next" not in lines


def test_a_refused_library_is_not_sent_to_check(request_of: Request) -> None:
    """The output does not advise to run `keydrome check`, which would refuse the file too."""
    result = SeriesResult(Verdict.REFUSED, "the file is not an ELF file", sessions=())
    lines = dict(closing(MINE, request_of, result, summarise((), "total_ms"), QUIET))
    assert (
        lines["right"]
        == "it is unknown whether the library's results are right, because the library was refused"
    )
    assert "next" not in lines


def test_a_rejected_configuration_is_not_sent_to_check(request_of: Request) -> None:
    """The output does not advise to run `keydrome check`, because the library would reject the configuration again."""
    result = SeriesResult(Verdict.UNSUPPORTED, "unknown field", sessions=sessions((10.0, 18.0)))
    lines = dict(closing(MINE, request_of, result, summarise((), "total_ms"), QUIET))
    assert (
        lines["right"]
        == "it is unknown whether the library's results are right, because the library refused its configuration"
    )
    assert not lines.keys() & {"noise", "next"}


def test_a_configuration_that_does_not_suit_leads_to_others(request_of: Request) -> None:
    reason = (
        "the library refused its configuration: "
        'configuration.concurrency: "gap_2pl" scans the structure, but the structure hash has no'
    )
    result = SeriesResult(Verdict.UNSUPPORTED, reason, sessions=sessions((10.0, 18.0)))
    lines = dict(closing(MINE, request_of, result, summarise((), "total_ms"), QUIET))
    assert lines["next"].startswith("--config exclusive suits every structure. The other ")
    assert "with concurrency and lock: bare (none, none), gap (gap_2pl, rw), " in lines["next"]


def test_after_a_busy_machine_other_programs_should_end(request_of: Request) -> None:
    reason = "Other programs used 9.0 s of 10.0 s, so the machine was too busy to judge the library"
    result = SeriesResult(Verdict.INFRASTRUCTURE, reason, sessions=sessions((10.0, 18.0)))
    lines = dict(closing(MINE, request_of, result, summarise((), "total_ms"), QUIET))
    assert lines["next"].startswith("end other programs or give the run more processors")


def test_a_configuration_without_isolation_is_not_sent_to_check(request_of: Request) -> None:
    """The output does not advise to run `keydrome check`, which refuses configurations without isolation."""
    request = replace(request_of, configuration={"name": "bare", "concurrency": "none"})
    found = sessions((10.0, 18.0))
    result = SeriesResult(Verdict.FAILED, "why", sessions=found)
    lines = dict(closing(MINE, request, result, summarise(found, "total_ms"), QUIET))
    assert "next" not in lines
    result = replace(result, verdict=Verdict.PASSED)
    lines = dict(closing(MINE, request, result, summarise(found, "total_ms"), QUIET))
    assert lines["next"] == "use --sessions 11 or more for a result to report"
    assert "check" not in lines["right"].replace("checked", "")


def test_a_crash_is_sent_to_the_debugger(request_of: Request) -> None:
    (session,) = sessions((10.0, 18.0))
    died = replace(session, candidate=replace(session.candidate, verdict=Verdict.CRASHED))
    result = SeriesResult(Verdict.CRASHED, "why", sessions=(died,))
    request = replace(request_of, overrides={"threads": 4})
    lines = dict(closing(MINE, request, result, summarise((died,), "total_ms"), QUIET))
    assert lines["next"] == (
        f"`keydrome debug ./mine.so --config rw --benchmark {died.candidate.benchmark} "
        f"--instance {died.candidate.instance} --scale smoke --seed 0000000000000000 -p threads=4 --tool stack` "
        "plays the crash in gdb, without a jail (docs/how-to/debug-a-library.md)"
    )


def test_a_crash_names_the_sanitizer_with_its_own_session(request_of: Request) -> None:
    (session,) = sessions((10.0, 18.0))
    died = replace(session, candidate=replace(session.candidate, verdict=Verdict.CRASHED))
    played = (
        f"--benchmark {died.candidate.benchmark} --instance {died.candidate.instance} --scale smoke "
        "--seed 0000000000000000 -p threads=4"
    )
    running = "thread {}: insertRecord(1) (operation 7) was running when the process ended\n"
    request = replace(request_of, overrides={"threads": 4})
    for threads, found in ((1, {"memory": "asan"}), (2, {"race": "tsan", "memory": "asan"})):
        detail = "ended by SIGSEGV\n" + "".join(map(running.format, range(threads)))
        crash = Finding("sigmod2009", "crashed", Severity.REQUIRED, detail)
        result = SeriesResult(Verdict.CRASHED, "why", (crash,), (died,))
        lines = dict(closing(MINE, request, result, summarise((died,), "total_ms"), QUIET))
        assert lines.keys() & {"race", "memory"} == found.keys()
        for heading, sanitizer in found.items():
            assert f"`keydrome debug ./mine-{sanitizer}.so --config rw {played}`" in lines[heading]
        assert "unknown, because the stack overflowed" in lines["crash"]


def test_a_library_that_still_advanced_is_sent_to_the_profiler(request_of: Request) -> None:
    (session,) = sessions((10.0, 18.0))
    slow = Finding("sample", "too_slow", Severity.REQUIRED, "at this rate the phase takes 14 s")
    report = replace(session.candidate, verdict=Verdict.TIMED_OUT, findings=(slow,))
    found = (replace(session, candidate=report),)
    result = SeriesResult(Verdict.TIMED_OUT, "why", (slow,), found)
    lines = dict(closing(MINE, request_of, result, summarise(found, "total_ms"), QUIET))
    assert "--seed 0000000000000000 --tool perf` plays the slow session" in lines["next"]


def test_a_library_that_runs_out_of_time_is_sent_to_the_debugger(request_of: Request) -> None:
    (session,) = sessions((10.0, 18.0))
    slow = replace(session, candidate=replace(session.candidate, verdict=Verdict.TIMED_OUT))
    result = SeriesResult(Verdict.TIMED_OUT, "why", sessions=(slow,))
    lines = dict(closing(MINE, request_of, result, summarise((slow,), "total_ms"), QUIET))
    assert "--seed 0000000000000000 --tool gdb` plays the session without a jail" in lines["next"]
    assert "Ctrl-C" in lines["next"]
