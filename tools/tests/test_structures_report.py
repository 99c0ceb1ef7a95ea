"""Tests of tools/reports/structures.py, which compares our data structures with containers from packages (the peers).

The page shows ratios to the peers, goals that are met or missed, and what a structure does not offer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tools.reports import structure_plots, structures
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
    write,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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
    cell = "5.00 (80.0)"
    cells = [cell, cell, cell, "-", cell, "-", cell, "-", "-"]
    assert hashed == f"| **hash** | {' | '.join(cells)} | 8.0 |"


def mixed_run() -> Run:
    """Return a run in which two threads may change btree and the unordered peer, but not the ordered one."""
    peer = RUN.subjects[ORDERED_PEER] | {"mixed_threads_1": [500.0]}
    safe = {"mixed_threads_1": [250.0], "mixed_threads": [125.0]}
    changed = {
        ORDERED_PEER: peer,
        UNORDERED_PEER: RUN.subjects[UNORDERED_PEER] | safe,
        "btree": RUN.subjects["btree"] | safe,
    }
    return Run(keys="ycsb", count=100_000, subjects=RUN.subjects | changed, load=1.0)


def test_what_the_peer_lacks_has_no_ratio_but_a_time() -> None:
    row = next(
        row for row in page([mixed_run()], 3).splitlines() if row.startswith("| **btree** |")
    )
    assert row.endswith("| 2.00 (250) | - (125) | 20.0 |")


def markers(picture: Path) -> dict[str, int]:
    """Return the number of markers by loop."""
    found = {}
    for mark in structure_plots.MARKS:
        _, _, rest = picture.read_text().partition(f'<g id="{mark.loop}">')
        found[mark.loop] = rest.partition('<g id="')[0].count("<use ")
    return found


def test_the_page_has_a_picture_for_each_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(structures, "PAGE", tmp_path / "structures.md")
    monkeypatch.setattr(structures, "PICTURES", tmp_path / "structures")
    runs = [RUN, mixed_run()]
    (tmp_path / "structures").mkdir()
    (tmp_path / "structures" / "int-7.svg").touch()  # of an earlier page
    write(runs, page(runs, rounds=3))
    text = (tmp_path / "structures.md").read_text()
    linked = re.findall(r"^!\[([^]]+)\]\(structures/(.+)\)$", text, re.MULTILINE)
    files = {path.name: path for path in (tmp_path / "structures").iterdir()}
    assert [name for _, name in linked] == ["int-1000000.svg", "ycsb-100000.svg"]
    assert set(files) == {name for _, name in linked}
    assert linked[1][0].startswith("ycsb: user and 19 digits, 100,000 keys: throughput")
    for path in files.values():
        assert all(f">{name}</text>" in path.read_text() for name in RUN.subjects)
    # A loop that a subject lacks has no marker.
    always = {"insert": 4, "lookup": 4, "lookup_threads": 4, "scan": 2}
    assert markers(files["int-1000000.svg"]) == always | {"mixed_threads_1": 0, "mixed_threads": 0}
    assert markers(files["ycsb-100000.svg"]) == always | {"mixed_threads_1": 3, "mixed_threads": 2}


def test_the_table_has_every_loop_of_the_picture() -> None:
    assert {mark.loop for mark in structure_plots.MARKS} <= set(structures._LOOPS)


def test_the_same_results_give_the_same_picture(tmp_path: Path) -> None:
    for name in ("first", "second"):
        structure_plots.write({"int-1.svg": RUN.subjects}, tmp_path / name)
    first, second = (tmp_path / name / "int-1.svg" for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()


def test_the_fastest_lookups_are_in_the_first_row(tmp_path: Path) -> None:
    structure_plots.write({"int-1.svg": RUN.subjects}, tmp_path)
    text = (tmp_path / "int-1.svg").read_text()
    places = [text.index(f">{n}</text>") for n in ("hash", "btree", ORDERED_PEER, UNORDERED_PEER)]
    assert places == sorted(places)


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
