"""The lot: which runs have a recorded session, and with which seed."""

from __future__ import annotations

import pytest

from runner.lot import draw_seed

RUNS = [(f"{number:016x}", f"{number:016x}"[::-1]) for number in range(10_000)]


@pytest.mark.parametrize("one_in", [2, 10, 100])
def test_the_lot_falls_on_one_run_in_so_many(one_in: int) -> None:
    drawn = [seed for seeds in RUNS if (seed := draw_seed(seeds, one_in)) is not None]
    expected = len(RUNS) / one_in
    assert abs(len(drawn) - expected) < 4 * expected**0.5, len(drawn)
    assert len(set(drawn)) == len(drawn)
    assert all(len(seed) == 16 and int(seed, 16) >= 0 for seed in drawn)


def test_a_run_keeps_what_it_drew() -> None:
    assert [draw_seed(seeds, 10) for seeds in RUNS] == [draw_seed(seeds, 10) for seeds in RUNS]


def test_every_session_has_a_part_in_the_lot() -> None:
    """One published or guessed seed of several does not tell how the lot falls."""
    same_first = [("00000000000000aa", f"{number:016x}") for number in range(1000)]
    drawn = {draw_seed(seeds, 2) is not None for seeds in same_first}
    assert drawn == {True, False}


@pytest.mark.parametrize(("one_in", "falls"), [(0, False), (-1, False), (1, True)])
def test_none_and_all(one_in: int, falls: bool) -> None:
    assert all((draw_seed(seeds, one_in) is not None) is falls for seeds in RUNS[:100])
