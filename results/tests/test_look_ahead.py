"""Tests of results/look_ahead.py with invented times: honest libraries, libraries that look ahead, too few pairs.

A library looks ahead if it reads its next calls in its caller's memory. It can do so in timed mode, but not in verified
mode, which adds some time to each call. A pair contains the times of one session in both modes.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.look_ahead import (
    EXCESS_NS_MIN,
    PAIRS_MIN,
    SHARE_MIN,
    look_ahead_finding,
    summarise_audit,
)
from runner.report import AuditPair
from runner.strict import StrictError
from runner.terms import Severity

TIMES = st.floats(min_value=1.0, max_value=1e6)
NOISE = st.floats(min_value=0.9, max_value=1.09)


def pair(timed: float, added: float, *, control_added: float = 300.0) -> AuditPair:
    return AuditPair(timed, timed + added, 200.0, 200.0 + control_added, comparable=True)


@given(st.lists(st.tuples(TIMES, NOISE), min_size=1, max_size=20))
def test_verified_mode_that_adds_the_same_time_is_no_finding(
    values: list[tuple[float, float]],
) -> None:
    """The noise is 9 % of 300 ns, which is less than the smallest excess that counts."""
    audit = summarise_audit(pair(timed, 300.0 * noise) for timed, noise in values)
    assert not audit.looks_ahead
    assert look_ahead_finding("lookups", audit) is None


@given(st.lists(st.tuples(TIMES, NOISE), min_size=PAIRS_MIN, max_size=20))
def test_an_eightfold_speed_up_is_found(values: list[tuple[float, float]]) -> None:
    """In timed mode the library answers 8 lookups at once. In verified mode each takes its full time plus 60 ns."""
    audit = summarise_audit(pair(timed, 300.0 * noise + 7 * timed + 60) for timed, noise in values)
    found = look_ahead_finding("lookups", audit)
    assert found is not None
    assert (found.suite, found.name, found.severity) == (
        "lookups",
        "look_ahead",
        Severity.ADVISORY,
    )


@pytest.mark.parametrize("count", range(PAIRS_MIN))
def test_few_pairs_are_no_finding(count: int) -> None:
    audit = summarise_audit([pair(100.0, 5000.0)] * count)
    assert (audit.pairs, audit.is_decided, audit.looks_ahead) == (count, False, False)


@pytest.mark.parametrize(
    ("timed", "excess", "found"),
    [
        (40.0, EXCESS_NS_MIN, False),
        (40.0, EXCESS_NS_MIN + 1, True),
        (1000.0, 1000 * SHARE_MIN, False),
        (1000.0, 1000 * SHARE_MIN + 1, True),
        (1000.0, -5000.0, False),
    ],
)
def test_both_limits_must_be_exceeded(timed: float, excess: float, found: bool) -> None:
    audit = summarise_audit([pair(timed, 300.0 + excess)] * PAIRS_MIN)
    assert audit.excess_ns == pytest.approx(excess)
    assert audit.share == pytest.approx(excess / timed)
    assert audit.looks_ahead is found


@given(st.permutations([0.0] + [9e5] * 4))
def test_of_five_pairs_all_must_agree(excess: list[float]) -> None:
    """The interval of the median of five values is their whole range."""
    assert not summarise_audit(pair(100.0, 300.0 + ns) for ns in excess).looks_ahead


@given(st.permutations([0.0] * 2 + [9e5] * 9))
def test_of_many_pairs_most_must_agree(excess: list[float]) -> None:
    assert not summarise_audit(pair(100.0, 300.0 + 9e5 - ns) for ns in excess).looks_ahead
    assert not summarise_audit(pair(100.0, 300.0 + ns) for ns in excess).looks_ahead
    assert summarise_audit(pair(100.0, 300.0 + ns) for ns in [*excess, 9e5, 9e5]).looks_ahead


def test_pairs_of_a_machine_with_too_few_cpus_do_not_count() -> None:
    shown = [pair(100.0, 9000.0)] * (PAIRS_MIN - 1)
    hidden = [replace(p, comparable=False) for p in shown]
    audit = summarise_audit(shown + hidden)
    assert (audit.pairs, audit.pairs_left_out, audit.looks_ahead) == (4, 4, False)
    assert summarise_audit(hidden).pairs == 0
    assert summarise_audit([]).to_json()["look_ahead"] is False


def test_a_pair_survives_its_json_form() -> None:
    value = pair(100.0, 300.0).to_json()
    assert AuditPair.from_json(value) == pair(100.0, 300.0)
    with pytest.raises(StrictError):
        AuditPair.from_json({**value, "extra": 1})
