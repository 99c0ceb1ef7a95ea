# Tests how neighbouring entries of a board are grouped if the measurements do not show their order. Also tests the
# forecast of how many further sessions (repetitions of a run) would show which of two entries is better.

import math
import random

from leaderboard.ranking.rank_groups import (
    LEAST_SESSIONS,
    POWER,
    forecast,
    sessions_wanted,
    tied_groups,
)
from leaderboard.ranking.rank_intervals import MAX_POOLED_SESSIONS, rank


def noisy(centre: float, count: int, seed: int, noise: float = 0.03) -> list[float]:
    generator = random.Random(seed)
    return [centre * math.exp(generator.gauss(0, noise)) for _ in range(count)]


def test_groups_end_where_all_are_told_apart() -> None:
    assert tied_groups([]) == [range(0)]
    assert tied_groups([(1, 1)]) == [range(1)]
    assert tied_groups([(1, 2), (1, 2), (3, 3)]) == [range(2), range(2, 3)]
    # The first entry differs from the third, but neither differs from the second: all three form one group.
    assert tied_groups([(1, 2), (1, 3), (2, 3), (4, 4)]) == [range(3), range(3, 4)]
    # The best three entries of a board with at least five. Entries that are not listed may have the ranks 3 to 5.
    assert tied_groups([(1, 1), (2, 4), (2, 5)]) == [range(1), range(1, 3)]


def test_the_forecast_names_the_pair_that_is_nearest_to_a_decision() -> None:
    samples = [noisy(0.30, 8, 1), noisy(0.305, 8, 2), noisy(0.325, 8, 3)]
    found = forecast(samples, range(3))
    assert found is not None
    assert (found.first, found.second) == (0, 2)
    first, _, last = ([math.log(ratio) for ratio in sample] for sample in samples)
    assert found.more == sessions_wanted(first, last, 3) - 8
    assert forecast(samples, range(2)) is None  # they differ by less than the margin, 3 %
    assert forecast(samples, range(1)) is None


def test_there_is_no_forecast_from_few_sessions_or_beyond_those_that_count() -> None:
    few = LEAST_SESSIONS - 1
    assert forecast([noisy(0.3, few, 1), noisy(0.34, few, 2)], range(2)) is None
    assert forecast([noisy(0.3, 9, 1), noisy(0.3, 9, 2)], range(2)) is None
    nearly = [noisy(0.3, MAX_POOLED_SESSIONS, 1), noisy(0.31, MAX_POOLED_SESSIONS, 2)]
    assert forecast(nearly, range(2)) is None


def test_an_entry_whose_ratios_are_not_kept_has_no_forecast() -> None:
    assert forecast([[], [], [1.0] * 9], range(3)) is None


def test_the_forecast_number_of_sessions_usually_suffices_and_half_of_it_does_not() -> None:
    """Draw entries whose centres differ by 6 %, twice the margin, with 4 % noise, and count the decisions."""
    first = [math.log(ratio) for ratio in noisy(0.30, 400, 1, 0.04)]
    second = [math.log(ratio) for ratio in noisy(0.318, 400, 2, 0.04)]
    wanted = sessions_wanted(first, second, 1)
    assert told_apart(wanted) >= POWER
    assert told_apart(wanted // 2) < POWER - 0.1


def told_apart(sessions: int, trials: int = 200) -> float:
    """Return the share of trials in which the better of two entries gets the first rank alone."""
    alone = 0
    for trial in range(trials):
        samples = [
            noisy(0.30, sessions, 1000 + trial, 0.04),
            noisy(0.318, sessions, 9000 + trial, 0.04),
        ]
        alone += rank(samples, lower_is_better=True)[0].high == 1
    return alone / trials
