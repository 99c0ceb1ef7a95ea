"""Groups neighbouring entries of a board (a ranking of libraries) whose order the measurements do not show.

Also forecasts how many further sessions of two entries would show which entry is better.
This file uses no database. A session is one repetition of a run. rank_intervals.py computes the rank intervals, and
describes the test of a pair of entries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING

from leaderboard.ranking.rank_intervals import MAX_POOLED_SESSIONS
from results.stats.family import MARGIN, SIGNIFICANCE
from results.stats.rank_sum import share_smaller

if TYPE_CHECKING:
    from collections.abc import Sequence

# The probability that the forecast number of sessions tells the two entries apart.
POWER = 0.8
# With fewer sessions than this, the estimate of how often one entry is better is too uncertain for a forecast.
LEAST_SESSIONS = 5


@dataclass(frozen=True, slots=True)
class Forecast:
    """About `more` further sessions of each would probably tell the entries with indices `first` and `second` apart."""

    first: int
    second: int
    more: int


def tied_groups(intervals: Sequence[tuple[int, int]]) -> list[range]:
    """Return groups of neighbouring entries. `intervals` has the rank interval of each entry, best first.

    A group ends where every entry so far is told apart from every later entry. Within a larger group, the measurements
    may tell some pairs apart; the rank intervals show which ranks remain possible.
    """
    ends = [
        place
        for place in range(1, len(intervals))
        if all(high <= place for _, high in intervals[:place])
        and all(low > place for low, _ in intervals[place:])
    ]
    return [range(begin, end) for begin, end in pairwise([0, *ends, len(intervals)])]


def forecast(samples: Sequence[Sequence[float]], group: range) -> Forecast | None:
    """Return the pair of the group that the fewest further sessions would tell apart, and how many these are.

    `samples` has the ratios of all entries of the board. Returns None if there are too few sessions for a forecast, or
    if even MAX_POOLED_SESSIONS sessions, the most that count, would probably not suffice.
    """
    family = max(len(samples) * (len(samples) - 1) // 2, 1)
    logs = {index: [math.log(ratio) for ratio in samples[index]] for index in group}
    found = []
    for first, second in combinations(group, 2):
        have = min(len(logs[first]), len(logs[second]))
        if have < LEAST_SESSIONS:
            continue
        wanted = sessions_wanted(logs[first], logs[second], family)
        if have < wanted <= MAX_POOLED_SESSIONS:
            found.append(Forecast(first, second, wanted - have))
    return min(found, key=lambda pair: (pair.more, pair.first, pair.second), default=None)


def sessions_wanted(first: Sequence[float], second: Sequence[float], family: int) -> int:
    """Return how many sessions of each would tell two samples of logarithms apart with probability POWER.

    The function uses the formula of Noether (1987) for the rank-sum test with samples of equal size. The formula needs
    only one number. Pair each value of one sample with each value of the other: the number is the share of pairs in
    which the better sample has the better value. `family` is the number of pairs of entries on the board. The
    significance level is the one that the first step of Holm's procedure uses.
    """
    share = max(share_smaller(first, second, MARGIN), share_smaller(second, first, MARGIN))
    level = SIGNIFICANCE / (2 * family)
    spread = NormalDist().inv_cdf(1 - level) + NormalDist().inv_cdf(POWER)
    # `evidence` is at least half the share of one pair of values, so that the formula does not divide by 0.
    evidence = max(share - 0.5, 0.5 / (len(first) * len(second)))
    return math.ceil(spread**2 / (6 * evidence**2))
