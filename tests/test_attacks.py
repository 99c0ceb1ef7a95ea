"""Tests the libraries of tests/faulty/attacks, which cheat to be faster: which are refused, and which pass.

An audit plays a session again in verified mode, in which a process outside the jail makes the calls and records the
results. The time that an attack saves depends on the machine. So no test checks this time;
tools/reports/attack_gain.py measures it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.input.values import seed_series
from cli.local_jail import prepared
from runner.execute import run_file
from runner.manifest import load_benchmarks
from runner.request import Request
from runner.terms import JailLevel, Scale, Severity, Verdict
from tests.binaries import built_settings, library

if TYPE_CHECKING:
    from runner.series import SeriesResult

SIZES = {"threads": 1, "records": 20_000, "lookups_per_thread": 5_000}
# Enough lookups that the player receives the operations of a phase in several pieces.
SEVERAL_PIECES = {**SIZES, "lookups_per_thread": 50_000}


def play(
    name: str,
    *,
    instance: str = "hits",
    audited: bool = False,
    sizes: dict[str, int] | None = None,
) -> SeriesResult:
    settings = built_settings()
    seeds = seed_series(None, 1)
    request = Request(
        benchmark=load_benchmarks(settings.root)["lookups"],
        instance=instance,
        scale=Scale.SMOKE,
        overrides=sizes or SIZES,
        seeds=seeds,
        plain=False,
        require=JailLevel.FULL,
        control=audited,
        audited_seeds=seeds if audited else (),
    )
    with prepared(library(settings, "faulty", name)) as (place, folder, file):
        return run_file(file, request, place, folder, lambda _progress: True)[0]


@pytest.mark.parametrize(
    "name",
    [
        "skips_unmarked",
        "skips_by_address",
        "skips_by_rhythm",
        "skips_new_keys",
        "forgets_texts",
    ],
)
def test_a_library_that_does_not_do_the_work_is_found_out(name: str) -> None:
    result = play(name)
    assert result.verdict is Verdict.FAILED, result.reason
    found = {f.name for f in result.findings if f.severity is Severity.REQUIRED}
    assert "impossible_record" in found


def test_a_library_that_asks_for_pieces_itself_is_found_out() -> None:
    """A piece that arrives early replaces operations while the player reads them. So the player may also crash, or make
    calls that take too long."""
    result = play("asks_for_pieces", sizes=SEVERAL_PIECES)
    if result.verdict in {Verdict.CRASHED, Verdict.TIMED_OUT}:
        return
    assert result.verdict is Verdict.FAILED, result.reason
    found = {f.name for f in result.findings if f.severity is Severity.REQUIRED}
    assert found & {"protocol_violation", "outcome_mismatch"}, found


def test_several_pieces_are_no_fault() -> None:
    result = play("array_tree", sizes=SEVERAL_PIECES)
    assert (result.verdict, result.reason) == (Verdict.PASSED, "")


def test_a_library_that_writes_words_itself_must_find_the_records() -> None:
    """The player, which calls the library, reports each result in a word of 8 bytes. This library writes the words
    itself. The words are correct, although its records are empty."""
    result = play("forges_words", audited=True, sizes=SEVERAL_PIECES)
    (session,) = result.sessions
    assert session.candidate.verdict is Verdict.PASSED, session.candidate.reason


@pytest.mark.parametrize("name", ["array_tree", "looks_ahead", "honest"])
def test_right_libraries_pass_with_hidden_keys(name: str) -> None:
    """The keys of `serial` are hidden until the lookup before has its answer, in both modes of the audit."""
    result = play(name, instance="serial", audited=True, sizes=SEVERAL_PIECES)
    assert (result.verdict, result.reason) == (Verdict.PASSED, "")


@pytest.mark.parametrize("name", ["skips_unmarked", "skips_new_keys", "forgets_texts"])
def test_a_library_with_wrong_answers_to_hidden_keys_is_found_out(name: str) -> None:
    """The wrong answers make later keys wrong. The result names the first wrong answers, and no other fault."""
    result = play(name, instance="serial")
    assert result.verdict is Verdict.FAILED, result.reason
    found = {f.name for f in result.findings if f.severity is Severity.REQUIRED}
    assert "impossible_record" in found
    assert not found & {"outcome_mismatch", "forged_log", "protocol_violation"}, found


@pytest.mark.parametrize("name", ["array_tree", "looks_ahead", "honest"])
def test_an_audit_plays_right_libraries_in_both_modes(name: str) -> None:
    """The test does not compare the times of both modes, because the machine may be busy."""
    result = play(name, audited=True)
    assert (result.verdict, result.reason) == (Verdict.PASSED, "")
    (session,) = result.sessions
    pair = session.audit
    assert pair is not None
    assert session.control is not None
    assert pair.candidate_timed_ns == session.candidate.metrics["ns_per_call"]
    assert pair.control_timed_ns == session.control.metrics["ns_per_call"]
    assert pair.candidate_verified_ns not in {0, pair.candidate_timed_ns}
