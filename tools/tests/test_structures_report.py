"""Tests of tools/reports/structures.py, which compares our data structures with containers from packages (the peers).

The page shows ratios to the peers, goals that are met or missed, and what a structure does not offer.
"""

from __future__ import annotations

from tools.reports.structure_goals import GOALS, Figure, Goal
from tools.reports.structures import (
    MANY,
    ON_HUGE_PAGES,
    ORDERED_PEER,
    UNORDERED_PEER,
    Run,
    libraries,
    page,
    ratio,
)


def subject(ns: float, *, peer: bool = False, ordered: bool = True) -> dict[str, object]:
    """Return the results of a structure or peer whose operations take `ns` in the median of three rounds."""
    loops = ["insert", "lookup", "chained", "zipf", "lookup_threads", "lookup_threads_1"]
    loops += ["scan"] if ordered else []
    times = {loop: [ns, ns * 3, ns / 2] for loop in loops}
    return {**times, "peer": peer, "ordered": ordered, "resident_bytes_per_key": ns / 10}


RUN = Run(
    keys="int",
    count=1_000_000,
    subjects={
        ORDERED_PEER: subject(300, peer=True),
        UNORDERED_PEER: subject(400, peer=True, ordered=False),
        "btree": subject(200),
        "hash": subject(80, ordered=False),
    },
    load=5.4,
)


def test_a_ratio_is_the_median_over_the_rounds() -> None:
    slow, fast = {"lookup": [10.0, 90.0, 40.0]}, {"chained": [5.0, 10.0, 10.0]}
    assert ratio(slow, "lookup", fast, "chained") == 4.0
    assert ratio(slow, "lookup", fast, "batch") is None
    assert ratio(None, "lookup", fast, "chained") is None


def test_the_order_decides_the_peer() -> None:
    assert RUN.figure("btree", Figure.LOOKUP) == 1.5
    assert RUN.figure("hash", Figure.LOOKUP) == 5.0
    assert RUN.figure("btree", Figure.MEMORY) == 20 / 30
    assert RUN.figure("hash", Figure.BYTES) == 8
    assert RUN.figure("btree", Figure.SCALING) == 1.0


def test_huge_pages_are_compared_with_small_ones() -> None:
    batches = {"batch": [30.0, 40.0, 60.0]}
    huge = {"batch": [20.0, 20.0, 40.0]}
    subjects = {"btree": {**subject(200), **batches}, "art": {**subject(200), **batches}}
    subjects[ON_HUGE_PAGES.format("btree")] = {**subject(200), **huge}
    run = Run(keys="int", count=10_000_000, subjects=subjects, load=1.0)
    assert run.figure("btree", Figure.HUGE_PAGES) == 1.5
    assert run.figure("art", Figure.HUGE_PAGES) is None


def test_with_many_keys_only_structures_with_goals_are_measured() -> None:
    few, many = libraries("int", 1_000_000), libraries("int", MANY)
    assert set(many) < set(few)
    assert {name.rpartition("/")[2] for name in libraries("ycsb", MANY)} == {"art.so", "btree.so"}


def test_the_page_says_which_goals_are_missed() -> None:
    text = page([RUN], rounds=3)
    assert "| btree | int, 1,000,000 | insert | >= 1.4 | 1.50 | met |" in text
    assert "| btree | int, 1,000,000 | lookup | >= 2 | 1.50 | *missed* |" in text
    assert "| btree | int, 1,000,000 | bytes per key / the peer's | <= 1 | 0.67 | met |" in text
    assert "| hash | int, 1,000,000 | lookup | >= 4 | 5.00 | met |" in text
    # The structures of this run have no updates by several threads.
    mixed = "lookups and updates of 2 threads / 1 thread"
    assert f"| hash | int, 1,000,000 | {mixed} | >= 1.7 | not offered | *missed* |" in text
    assert "| art |" not in text


def test_the_tables_have_dashes_for_calls_that_a_structure_does_not_offer() -> None:
    rows = page([RUN], rounds=3).splitlines()
    assert "Load average: 5.4." in rows
    hashed = next(row for row in rows if row.startswith("| **hash** |"))
    assert hashed == "| **hash** | 5.00 | 5.00 | 5.00 | - | 5.00 | - | 5.00 | 8.0 |"


def test_goals_depend_on_the_number_of_keys() -> None:
    goal = Goal("btree", Figure.LOOKUP, 2.3, count_min=10_000_000)
    assert goal.applies("int", 10_000_000)
    assert not goal.applies("int", 1_000_000)
    assert not goal.applies("url", 10_000_000)
    # For each set of keys and number of keys, a figure of a structure has at most one goal.
    for keys in ("int", "ycsb", "email", "url", "random", "prefix"):
        for count in (100_000, 1_000_000, 10_000_000):
            found = [(one.structure, one.figure) for one in GOALS if one.applies(keys, count)]
            assert len(found) == len(set(found))
