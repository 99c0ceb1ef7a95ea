# Tests how runs of one binary are merged into entries of a board, and how the rank intervals of entries are computed. A
# rank interval, such as 2-4, contains the ranks that the measurements allow for an entry.

import math
import random
from statistics import median

from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.ranking.rank_intervals import (
    MAX_POOLED_SESSIONS,
    Candidate,
    choose,
    merge,
    rank,
)

RATIOS = st.lists(st.floats(0.01, 100), min_size=1, max_size=20).map(tuple)
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        run_id=st.integers(1, 10**6),
        user_id=st.integers(1, 4),
        blob_sha256=st.sampled_from("abcd"),
        configuration=st.sampled_from(["", "rw"]),
        ratios=RATIOS,
        provisional=st.booleans(),
    ),
    max_size=30,
    unique_by=lambda candidate: candidate.run_id,
)


def candidate(run_id: int, user: int, blob: str, *ratios: float) -> Candidate:
    return Candidate(run_id, user, blob, "", ratios)


def noisy(centre: float, count: int, seed: int) -> list[float]:
    generator = random.Random(seed)
    return [centre * math.exp(generator.gauss(0, 0.01)) for _ in range(count)]


@given(CANDIDATES)
def test_merging_pools_all_runs_of_a_binary(candidates: list[Candidate]) -> None:
    entries = merge(candidates)
    keys = [(e.user_id, e.blob_sha256, e.configuration) for e in entries]
    assert len(keys) == len(set(keys))
    assert set(keys) == {(c.user_id, c.blob_sha256, c.configuration) for c in candidates}
    for entry in entries:
        group = [
            c
            for c in candidates
            if (c.user_id, c.blob_sha256, c.configuration)
            == (entry.user_id, entry.blob_sha256, entry.configuration)
        ]
        assert entry.run_id == max(c.run_id for c in group)
        assert len(entry.ratios) == min(sum(len(c.ratios) for c in group), MAX_POOLED_SESSIONS)
        assert entry.low <= entry.score <= entry.high
        assert entry.score == median(entry.ratios)
        assert entry.provisional == any(c.provisional for c in group)


@given(CANDIDATES, st.booleans())
def test_no_user_has_more_entries_than_allowed_and_the_best_are_kept(
    candidates: list[Candidate], lower: bool
) -> None:
    chosen = choose(candidates, per_user=3, lower_is_better=lower)
    scores = [entry.score for entry in chosen]
    assert scores == sorted(scores, reverse=not lower)
    for user in {c.user_id for c in candidates}:
        own = [e for e in merge(candidates) if e.user_id == user]
        best = sorted(own, key=lambda e: (e.score if lower else -e.score, e.run_id))
        binaries = list(dict.fromkeys(e.blob_sha256 for e in best))[:3]
        assert [e for e in chosen if e.user_id == user] == [
            e for e in best if e.blob_sha256 in binaries
        ]


def test_the_configurations_of_a_binary_count_as_one_in_the_limit() -> None:
    variants = [
        Candidate(number, 1, "a", configuration, (1.0 + number,))
        for number, configuration in enumerate(("exclusive", "gap", "mvcc", "occ", "rw", "serial"))
    ]
    others = [candidate(10 + number, 1, blob, 20.0 + number) for number, blob in enumerate("bcd")]
    chosen = choose([*variants, *others], per_user=3, lower_is_better=True)
    assert [entry.blob_sha256 for entry in chosen] == ["a"] * 6 + ["b", "c"]


@given(st.lists(RATIOS, max_size=10), st.booleans())
def test_rank_intervals_hold_the_position(samples: list[tuple[float, ...]], lower: bool) -> None:
    ordered = sorted(samples, key=median, reverse=not lower)
    ranks = rank(ordered, lower_is_better=lower)
    assert [place.position for place in ranks] == list(range(1, len(samples) + 1))
    for place in ranks:
        assert 1 <= place.low <= place.position <= place.high <= len(samples)


def test_clearly_different_entries_get_ranks_of_their_own() -> None:
    samples = [noisy(centre, 15, seed) for seed, centre in enumerate((1.0, 1.2, 1.5))]
    ranks = rank(samples, lower_is_better=True)
    assert [(place.low, place.high) for place in ranks] == [(1, 1), (2, 2), (3, 3)]
    ranks = rank(samples[::-1], lower_is_better=False)
    assert [(place.low, place.high) for place in ranks] == [(1, 1), (2, 2), (3, 3)]


def test_equal_entries_share_their_ranks() -> None:
    samples = [noisy(1.0, 15, seed=1), noisy(1.001, 15, seed=2), noisy(2.0, 15, seed=3)]
    ranks = rank(samples, lower_is_better=True)
    assert [(place.low, place.high) for place in ranks] == [(1, 2), (1, 2), (3, 3)]


@given(st.integers(0, 2**32), st.integers(1, 4), st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_the_order_of_sessions_decides_nothing(
    seed: int, entries: int, chance: random.Random
) -> None:
    samples = [noisy(1 + 0.05 * number, 15, seed + number) for number in range(entries)]
    shuffled = [chance.sample(sample, len(sample)) for sample in samples]
    assert rank(shuffled, lower_is_better=True) == rank(samples, lower_is_better=True)


@given(st.integers(0, 2**32), st.integers(1, 4))
@settings(max_examples=20)
def test_an_obviously_slower_entry_is_last_and_takes_no_place(seed: int, entries: int) -> None:
    samples = [noisy(1 + 0.05 * number, 15, seed + number) for number in range(entries)]
    samples.sort(key=median)
    before = rank(samples, lower_is_better=True)
    *after, last = rank([*samples, noisy(50.0, 15, seed)], lower_is_better=True)
    assert (last.low, last.high) == (entries + 1, entries + 1)
    # More entries mean more pairs, which make the correction stricter. So intervals may become wider, but never
    # narrower. No entry is ranked after the slow one.
    for old, new in zip(before, after, strict=True):
        assert new.low <= old.low <= old.high <= new.high <= entries


def test_identical_samples_share_all_ranks() -> None:
    ranks = rank([noisy(1.0, 15, seed=1)] * 4, lower_is_better=True)
    assert {(place.low, place.high) for place in ranks} == {(1, 4)}


def test_three_sessions_are_never_enough_to_tell_entries_apart() -> None:
    ranks = rank([noisy(1.0, 3, seed=1), noisy(5.0, 3, seed=2)], lower_is_better=True)
    assert [(place.low, place.high) for place in ranks] == [(1, 2), (1, 2)]


def test_sending_the_same_file_again_buys_no_second_place() -> None:
    chosen = choose(
        [candidate(1, 1, "a", 1.0), candidate(2, 1, "a", 0.5), candidate(3, 2, "b", 0.9)],
        per_user=3,
        lower_is_better=True,
    )
    assert [(e.run_id, e.score) for e in chosen] == [(2, 0.75), (3, 0.9)]


def test_references_are_listed_besides_the_three_of_a_user() -> None:
    own = [candidate(number, 1, blob, 1.0 + number) for number, blob in enumerate("abcd")]
    references = [
        Candidate(10 + number, 1, blob, "", (0.5 + number,), reference=True)
        for number, blob in enumerate("wxyz")
    ]
    chosen = choose([*own, *references], per_user=3, lower_is_better=True)
    assert [entry.blob_sha256 for entry in chosen] == ["w", "a", "x", "b", "y", "c", "z"]
