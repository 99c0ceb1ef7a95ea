"""Who leads, and how sure is it? Pure functions from session ratios to ranks.

A *ratio* is candidate / control of one session. All runs of one binary under one configuration are
pooled, so that sending the same file again adds sessions to its entry instead of buying another
lottery ticket.

Two entries never shared a session, so they are compared unpaired: an exact Mann-Whitney test on the
logarithms of the ratios, shifted by the margin of 3 %, two-sided, Holm-corrected over all pairs of
the board. Only where it rejects are two entries apart; otherwise their rank intervals overlap.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING

from runner.stats.family import MARGIN, SIGNIFICANCE, Rank, holm, ranks
from runner.stats.rank_sum import smaller_p
from runner.summary import median_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
    """Return the rank of each sample; samples are the entries' ratios, best score first."""
    logs = [[math.log(ratio) for ratio in sample] for sample in samples]
    if not lower_is_better:
        logs = [[-value for value in sample] for sample in logs]
    pairs = list(combinations(range(len(logs)), 2))
    tests = [_apart(logs[first], logs[second]) for first, second in pairs]
    adjusted = holm([p_value for p_value, _ in tests])
    sure = [
        (first, second) if first_leads else (second, first)
        for (first, second), (_, first_leads), p_value in zip(pairs, tests, adjusted, strict=True)
        if p_value <= SIGNIFICANCE
    ]
    return ranks(len(logs), sure)


def _apart(first: Sequence[float], second: Sequence[float]) -> tuple[float, bool]:
    """Return the two-sided p-value that the samples are within the margin, and whether the first is smaller."""
    first_smaller = smaller_p(first, second, MARGIN)
    second_smaller = smaller_p(second, first, MARGIN)
    return min(1.0, 2 * min(first_smaller, second_smaller)), first_smaller < second_smaller
