"""Computes the entries of a board (a ranking of libraries) and their rank intervals. This file uses no database.

A session is one repetition of a run. Every session measures the submitted library (candidate) and a baseline (control).
The *ratio* of a session is candidate / control. A user's runs of one binary under one configuration are pooled into one
entry. So submitting the same file again adds sessions to the entry, and a lucky run cannot replace an unlucky one.

Each pair of entries is compared by an exact Mann-Whitney test on the logarithms of the ratios. The test is unpaired,
because two entries never have a session in common. It is two-sided, counts differences of up to 3 % (the margin) as
none, and is Holm-corrected over all pairs of the board. At first, the rank interval of every entry contains all ranks
of the board. For each pair that the test tells apart, the interval of the better entry then loses its last rank, and
that of the worse entry its first rank.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING

from results.stats.family import MARGIN, SIGNIFICANCE, Rank, holm, ranks
from results.stats.rank_sum import smaller_p
from results.summary import median_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Only this many of an entry's newest sessions count, because computing the test's exact distribution takes longer for
# larger samples. For 60 against 60 sessions the computation takes 0.1 s, once per process.
MAX_POOLED_SESSIONS = 60


@dataclass(frozen=True, slots=True)
class Candidate:
    """One eligible run of a user."""

    run_id: int
    user_id: int
    blob_sha256: str
    configuration: str
    ratios: tuple[float, ...]
    provisional: bool = False  # the smallest scale (smoke), or too few sessions
    reference: bool = False  # submitted by the organisers: the limit per user does not apply


@dataclass(frozen=True, slots=True)
class Entry:
    """One user's eligible runs of one binary under one configuration, merged.

    `score` is the median of `ratios`; `low` and `high` are the bounds of the median's confidence interval.
    """

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
    """Merge the runs of each user, binary and configuration into one entry, with the ratios of the newest sessions.

    An entry links to its newest run. An entry is provisional if one of its runs is provisional. Runs without ratios are
    left out.
    """
    groups: dict[tuple[int, str, str], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.ratios:
            key = (candidate.user_id, candidate.blob_sha256, candidate.configuration)
            groups[key].append(candidate)
    return [_pooled(group) for group in groups.values()]


def _pooled(group: list[Candidate]) -> Entry:
    """Return the entry that merges these runs, which all have the same user, binary and configuration."""
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
    """Return the entries by score, best first. Among equal scores, the entry with the older run comes first."""
    sign = 1.0 if lower_is_better else -1.0
    return sorted(entries, key=lambda entry: (sign * entry.score, entry.run_id))


def choose(candidates: Iterable[Candidate], *, per_user: int, lower_is_better: bool) -> list[Entry]:
    """Return a board's entries, best first: all reference entries, and those of each user's best `per_user` binaries.

    The entries of one binary under several configurations are *variants*. They count as one in the limit per user, so
    a user can compare all configurations of a structure. The limit does not count reference entries, which the
    organisers submit for comparison.
    """
    taken: dict[int, set[str]] = defaultdict(set)
    chosen = []
    for entry in best_first(merge(candidates), lower_is_better=lower_is_better):
        binaries = taken[entry.user_id]
        if not entry.reference and entry.blob_sha256 not in binaries:
            if len(binaries) == per_user:
                continue
            binaries.add(entry.blob_sha256)
        chosen.append(entry)
    return chosen


def beyond_limit(entries: Iterable[Entry], per_user: int) -> set[str]:
    """Return the digests of one user's binaries beyond the limit per user. `entries` are the user's, best first."""
    counted = dict.fromkeys(entry.blob_sha256 for entry in entries if not entry.reference)
    return set(list(counted)[per_user:])


def rank(samples: Sequence[Sequence[float]], *, lower_is_better: bool) -> list[Rank]:
    """Return the rank interval of each sample.

    A sample contains the ratios of one entry. The samples must be in the order of their scores, best first.
    """
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
    """Test the hypothesis that two samples are equal within the margin.

    Returns the two-sided p-value, and whether the first sample is the smaller one.
    """
    first_smaller = smaller_p(first, second, MARGIN)
    second_smaller = smaller_p(second, first, MARGIN)
    return min(1.0, 2 * min(first_smaller, second_smaller)), first_smaller < second_smaller
