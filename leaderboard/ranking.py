"""Who leads, and how sure is it? Pure functions from session ratios to ranks.

A *ratio* is candidate / control of one session. All runs of one binary under one configuration are
pooled, so that sending the same file again adds sessions to its entry instead of buying another
lottery ticket.

Two entries never shared a session, so they are compared unpaired: an exact Mann-Whitney test on the
logarithms of the ratios, shifted by the margin of 3 %, two-sided, Holm-corrected over all pairs of
the board. Only where it rejects are two entries apart; otherwise their rank intervals overlap. The
null distribution of U is the list of Gaussian binomial coefficients, computed here in integers:
exact, and without the seconds that importing a statistics library would cost the process that
records results. Tests compare it with SciPy.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, combinations
from statistics import median
from typing import TYPE_CHECKING

from runner.summary import median_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MARGIN = math.log(1.03)
SIGNIFICANCE = 0.05
# The newest sessions of an entry that count: the exact distribution for 60 against 60 costs 0.1 s
# once per process.
MAX_POOLED_SESSIONS = 60


@dataclass(frozen=True, slots=True)
class Candidate:
    """One eligible run of a user."""

    run_id: int
    user_id: int
    blob_sha256: str
    configuration: str
    ratios: tuple[float, ...]
    provisional: bool = False
    reference: bool = False  # of the organisers: does not count against the limit per user


@dataclass(frozen=True, slots=True)
class Entry:
    """All eligible runs of one binary under one configuration of one user."""

    run_id: int
    user_id: int
    blob_sha256: str
    configuration: str
    ratios: tuple[float, ...]
    score: float
    low: float
    high: float
    provisional: bool
    reference: bool


@dataclass(frozen=True, slots=True)
class Rank:
    """A place on the board: `position` orders by score, [low, high] are the ranks that cannot be told apart."""

    position: int
    low: int
    high: int


def merge(candidates: Iterable[Candidate]) -> list[Entry]:
    """Pool the runs of each (user, binary, configuration); the newest sessions count.

    The entry links to its newest run and is provisional when any of its runs is. Runs without
    ratios are left out.
    """
    groups: dict[tuple[int, str, str], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.ratios:
            key = (candidate.user_id, candidate.blob_sha256, candidate.configuration)
            groups[key].append(candidate)
    return [_pooled(group) for group in groups.values()]


def _pooled(group: list[Candidate]) -> Entry:
    """Return the entry of runs of the same binary."""
    newest_first = sorted(group, key=lambda candidate: candidate.run_id, reverse=True)
    newest = newest_first[0]
    ratios = [ratio for candidate in newest_first for ratio in candidate.ratios]
    kept = tuple(ratios[:MAX_POOLED_SESSIONS])
    interval = median_interval(kept)
    return Entry(
        run_id=newest.run_id,
        user_id=newest.user_id,
        blob_sha256=newest.blob_sha256,
        configuration=newest.configuration,
        ratios=kept,
        score=median(kept),
        low=interval.low,
        high=interval.high,
        provisional=any(candidate.provisional for candidate in group),
        reference=newest.reference,
    )


def best_first(entries: Iterable[Entry], *, lower_is_better: bool) -> list[Entry]:
    """Return the entries by score; of equal scores the one whose run is older comes first."""
    sign = 1.0 if lower_is_better else -1.0
    return sorted(entries, key=lambda entry: (sign * entry.score, entry.run_id))


def choose(candidates: Iterable[Candidate], *, per_user: int, lower_is_better: bool) -> list[Entry]:
    """Return the entries that may stand on a board, best first: all references, `per_user` others of each user."""
    taken: dict[int, int] = defaultdict(int)
    chosen = []
    for entry in best_first(merge(candidates), lower_is_better=lower_is_better):
        if entry.reference:
            chosen.append(entry)
        elif taken[entry.user_id] < per_user:
            taken[entry.user_id] += 1
            chosen.append(entry)
    return chosen


def rank(samples: Sequence[Sequence[float]], *, lower_is_better: bool) -> list[Rank]:
    """Return the rank of each sample; samples are the entries' ratios, best score first.

    The interval of an entry starts after all entries that are surely better and ends before all
    that are surely worse; it always holds the entry's own position.
    """
    logs = [[math.log(ratio) for ratio in sample] for sample in samples]
    if not lower_is_better:
        logs = [[-value for value in sample] for sample in logs]
    pairs = list(combinations(range(len(logs)), 2))
    tests = [_apart(logs[first], logs[second]) for first, second in pairs]
    decided = _holm([p_value for p_value, _ in tests])
    better = [0] * len(logs)  # how many are surely better than this one
    worse = [0] * len(logs)
    for (first, second), (_, first_leads), sure in zip(pairs, tests, decided, strict=True):
        if sure:
            winner, loser = (first, second) if first_leads else (second, first)
            worse[winner] += 1
            better[loser] += 1
    return [
        Rank(
            position=place,
            low=min(place, 1 + better[place - 1]),
            high=max(place, len(logs) - worse[place - 1]),
        )
        for place in range(1, len(logs) + 1)
    ]


def _apart(first: Sequence[float], second: Sequence[float]) -> tuple[float, bool]:
    """Return the two-sided p-value that the samples are within the margin, and whether the first is smaller."""
    first_smaller = smaller_p(first, second)
    second_smaller = smaller_p(second, first)
    return min(1.0, 2 * min(first_smaller, second_smaller)), first_smaller < second_smaller


def smaller_p(first: Sequence[float], second: Sequence[float], margin: float = MARGIN) -> float:
    """Return the exact one-sided Mann-Whitney p-value for `first + margin` lying below `second`.

    Ties count half and are rounded against the claim, so the result is never too small.
    """
    doubled = sum(
        2 * (x + margin > y) + (x + margin == y) for x in first for y in second
    )  # twice the U statistic
    statistic = (doubled + 1) // 2
    cumulated = _cumulated_counts(len(first), len(second))
    return cumulated[statistic] / cumulated[-1]


@cache
def _cumulated_counts(first: int, second: int) -> tuple[int, ...]:
    """Return for each u how many of the orders of two samples have U <= u.

    The counts of U = u are the coefficients of the product of (1 - q^(first+i)) / (1 - q^i) for i = 1..second.
    """
    size = first * second + 1
    counts = [1] + [0] * (size - 1)
    for i in range(1, second + 1):
        step = first + i
        for degree in range(size - 1, step - 1, -1):
            counts[degree] -= counts[degree - step]
        for degree in range(i, size):
            counts[degree] += counts[degree - i]
    return tuple(accumulate(counts))


def _holm(p_values: Sequence[float]) -> list[bool]:
    """Return which hypotheses Holm's step-down procedure rejects at the family-wise level."""
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    rejected = [False] * len(p_values)
    for step, index in enumerate(order):
        if p_values[index] > SIGNIFICANCE / (len(p_values) - step):
            break
        rejected[index] = True
    return rejected
