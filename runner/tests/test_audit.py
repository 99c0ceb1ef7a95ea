"""Tests of runner/audit.py: which sessions are played in timed and in verified mode, and how a failure ends a run.

A run has several sessions; a session plays one list of calls with the judged library and with the control library (a
fixed library, for comparison). In timed mode the library's own process makes the calls; in verified mode another
process makes them.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.audit import (
    AUDITED,
    NO_EFFECT,
    NOT_AUDITED,
    audited_seeds,
    count_cpus,
    has_two_cpus_per_thread,
    is_affordable,
    make_pair,
)
from runner.report import AuditPair
from runner.terms import Severity, Verdict
from runner.tests.samples import report
from runner.tests.test_series import REQUEST, SEEDS, series

if TYPE_CHECKING:
    from pathlib import Path

    from runner.report import Report
    from runner.settings import Settings

RUNS = [tuple(f"{number:08x}{place:08x}" for place in range(10)) for number in range(1000)]
AUDITED_REQUEST = replace(REQUEST, seeds=SEEDS[:3], audited_seeds=SEEDS[1:2])


def with_calls(calls: int, threads: int) -> Report:
    return replace(report(), metrics={"calls": float(calls)}, parameters={"threads": threads})


@pytest.mark.parametrize("one_in", [2, 10, 50])
def test_one_session_in_n_is_audited(one_in: int) -> None:
    chosen = [seed for seeds in RUNS for seed in audited_seeds(seeds, one_in)]
    expected = sum(map(len, RUNS)) / one_in
    assert abs(len(chosen) - expected) < 4 * expected**0.5, len(chosen)
    assert [audited_seeds(seeds, one_in) for seeds in RUNS] == [
        audited_seeds(seeds, one_in) for seeds in RUNS
    ]


def test_the_choice_depends_on_every_seed() -> None:
    """A person who knows one seed cannot compute whether its session is audited."""
    chosen = {bool(audited_seeds((RUNS[0][0], seeds[1]), 2)) for seeds in RUNS}
    assert chosen == {True, False}


@pytest.mark.parametrize(("one_in", "count"), [(0, 0), (-1, 0), (1, 10)])
def test_none_and_all(one_in: int, count: int) -> None:
    assert len(audited_seeds(RUNS[0], one_in)) == count


@pytest.mark.parametrize(
    ("cpus", "count"), [("0", 1), ("0-3", 4), ("0-1,4-5,9", 5), ("2,3", 2), ("", 0)]
)
def test_lists_of_cpus_are_counted(cpus: str, count: int) -> None:
    assert count_cpus(cpus) == count


def test_each_thread_needs_two_cpus(settings: Settings) -> None:
    four = replace(settings, cpus="0-1;4-7", slot=1)
    assert has_two_cpus_per_thread(with_calls(1, 2), four)
    assert not has_two_cpus_per_thread(with_calls(1, 3), four)
    assert not has_two_cpus_per_thread(with_calls(1, 2), replace(four, slot=0))
    own = len(os.sched_getaffinity(0))
    assert has_two_cpus_per_thread(with_calls(1, 1), settings) is (own >= 2)
    assert not has_two_cpus_per_thread(with_calls(1, own), settings)


@pytest.mark.parametrize(
    ("calls", "threads", "affordable"),
    [
        (0, 1, False),
        (60_000_000, 1, True),
        (60_000_001, 1, False),
        (2_000_000, 4, True),
        (2_000_001, 4, False),
    ],
)
def test_long_sessions_are_not_audited(
    settings: Settings, calls: int, threads: int, affordable: bool
) -> None:
    assert is_affordable(with_calls(calls, threads), replace(settings, cpus="0-3")) is affordable


def test_an_audited_session_has_a_pair_of_times(settings: Settings, tmp_path: Path) -> None:
    result, progress = series(settings, tmp_path, request=AUDITED_REQUEST)
    assert (result.verdict, result.findings) == (Verdict.PASSED, ())
    comparable = len(os.sched_getaffinity(0)) >= 2
    pair = AuditPair(5, 305, 10, 310, comparable=comparable)
    assert [session.audit for session in result.sessions] == [None, pair, None]
    assert not any(session.candidate.verified for session in result.sessions)
    audits = {p.role for p in progress if "audit" in p.role}
    assert audits == {"candidate, audit", "control, audit"}
    fractions = [p.fraction for p in progress]
    assert fractions == sorted(fractions)


@pytest.mark.parametrize("calls", [1000, 10**9])
def test_the_progress_counts_audits(settings: Settings, tmp_path: Path, calls: int) -> None:
    """Three sessions and three audits are twelve runs of a library. An audit that takes too long counts as done."""
    request = replace(REQUEST, seeds=SEEDS[:3], audited_seeds=SEEDS[:3])
    _, progress = series(settings, tmp_path, request=request, calls=calls)
    starts = [round(12 * p.fraction, 6) for p in progress if p.phase == "start"]
    assert starts == (list(range(12)) if calls == 1000 else [0, 1, 4, 5, 8, 9])
    assert max(p.fraction for p in progress) < 1


def test_a_verified_session_is_played_again_as_a_timed_one(
    settings: Settings, tmp_path: Path
) -> None:
    request = replace(AUDITED_REQUEST, verified=True)
    result, _ = series(settings, tmp_path, request=request)
    assert [session.candidate.verified for session in result.sessions] == [True] * 3
    pair = result.sessions[1].audit
    assert pair is not None
    assert (pair.candidate_added_ns, pair.control_added_ns) == (300, 300)


def test_without_the_control_nothing_is_audited(settings: Settings, tmp_path: Path) -> None:
    result, progress = series(settings, tmp_path, request=replace(AUDITED_REQUEST, control=False))
    assert [session.audit for session in result.sessions] == [None] * 3
    assert not any("audit" in p.role for p in progress)


@pytest.mark.parametrize("verdict", ["failed", "crashed", "timed_out", "out_of_memory"])
def test_a_failure_in_the_other_mode_fails_the_run(
    verdict: str, settings: Settings, tmp_path: Path
) -> None:
    result, _ = series(settings, tmp_path, request=AUDITED_REQUEST, audited=verdict)
    assert (result.verdict, result.reason) == (Verdict(verdict), f"{AUDITED}why")
    assert len(result.sessions) == 2
    required = [f.name for f in result.findings if f.severity is Severity.REQUIRED]
    assert required == (["n"] if verdict == "failed" else [])


def test_a_failure_of_the_machine_is_only_a_warning(settings: Settings, tmp_path: Path) -> None:
    result, _ = series(settings, tmp_path, request=AUDITED_REQUEST, audited="infrastructure")
    assert result.verdict is Verdict.PASSED
    assert [session.audit for session in result.sessions] == [None] * 3
    (finding,) = result.findings
    assert (finding.name, finding.severity) == ("not_audited", Severity.ADVISORY)
    fault = "the candidate library could not be judged: why"
    assert finding.detail == f"{NOT_AUDITED}: {fault}. {NO_EFFECT}"


@pytest.mark.parametrize(("added", "comparable"), [(3000.0, True), (3001.0, False)])
def test_a_pair_of_a_busy_machine_is_not_comparable(added: float, comparable: bool) -> None:
    def both(extra: float) -> tuple[Report, Report]:
        timed = replace(report(), metrics={"ns_per_call": 100.0})
        return timed, replace(timed, verified=True, metrics={"ns_per_call": 100.0 + extra})

    pair = make_pair(both(300.0), both(added), comparable=True)
    assert pair is not None
    assert pair.comparable is comparable
    assert make_pair((report(), report()), both(1.0), comparable=True) is None
