"""Tests the rule by which the kill matrix counts a mutant (a library with one deliberate fault) as found.

The kill matrix is a report: it says which correctness benchmarks find which mutants. A mutant counts as found if the
benchmarks find it with at least 19 of 20 seeds, each time with an expected finding and within the mutant's time limit.
"""

from __future__ import annotations

import pytest

from runner.terms import Scale
from tools.reports.kill_matrix import (
    MEASURED_MIN_S,
    Kills,
    found_in_time,
    is_found,
    only_elsewhere,
)

MUTANT = {"number": 1, "names": ["phantom"], "limit_s": 30}


def gate(found: int, missed: int = 0, late: int = 0) -> Kills:
    """Return invented results of one mutant in the gate, i.e. in all correctness benchmarks.

    The gate found the mutant in time with `found` seeds, found it too late with `late` seeds, and did not find it with
    `missed` seeds.
    """
    results = [["isolation", 1.0]] * found + [["", 90.0]] * missed + [["isolation", 31.0]] * late
    return Kills(gate={str(seed): result for seed, result in enumerate(results)})


@pytest.mark.parametrize(
    ("kills", "found"),
    [
        (gate(20), True),
        (gate(19, missed=1), True),
        (gate(19, late=1), True),
        (gate(18, missed=2), False),
        (gate(18, missed=1, late=1), False),
        (gate(18, late=2), False),
        (gate(1), True),
        (gate(4, missed=1), False),
        (gate(4, late=1), False),
    ],
)
def test_a_mutant_must_be_found_by_19_of_20_seeds_within_its_limit(
    kills: Kills, *, found: bool
) -> None:
    assert is_found(MUTANT, kills) == found


def test_a_limit_below_the_time_of_a_session_is_taken_for_that_time() -> None:
    kills = Kills(
        gate={"1": ["isolation", MEASURED_MIN_S], "2": ["isolation", MEASURED_MIN_S + 0.1]}
    )
    assert found_in_time({"limit_s": 1}, kills) == 1
    assert found_in_time({"limit_s": 0}, kills) == 2  # no limit


def test_without_the_gate_only_expected_names_count() -> None:
    cells = {"unit": {"1": ["lost_update"], "2": []}, "isolation large": {"1": ["phantom"]}}
    assert is_found(MUTANT, Kills(cells=cells))
    assert not is_found({**MUTANT, "names": ["write_skew"]}, Kills(cells=cells))


def test_the_page_names_mutants_that_the_gate_itself_does_not_find() -> None:
    longer = {**MUTANT, "gate": {"parameters": {"only": 2, "transactions": 120_000}}}
    found = gate(20)
    assert only_elsewhere(longer, found, Scale.SMOKE)
    assert not only_elsewhere(MUTANT, found, Scale.SMOKE), "its run has the gate's parameters"
    # A column for a single kind of rounds (recorded phases) is no part of the gate; an instance of a suite is.
    one_kind = Kills(cells={"isolation mixed": {"1": ["phantom"]}}, gate=found.gate)
    assert only_elsewhere(longer, one_kind, Scale.SMOKE)
    instance = Kills(cells={"scenarios crowds": {"1": ["phantom"]}}, gate=found.gate)
    assert not only_elsewhere(longer, instance, Scale.SMOKE)
    other = Kills(gate={**found.gate, "20": ["phantom", 1.0]})
    assert not only_elsewhere(longer, other, Scale.SMOKE)
    recorded = {**MUTANT, "gate": {"benchmark": "tpcc", "instance": "mix", "record": True}}
    assert only_elsewhere(recorded, Kills(gate={"1": ["tpcc mix, recorded", 1.0]}), Scale.SMOKE)
