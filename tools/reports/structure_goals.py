"""Lists the goals for the speed and memory of structures, for the report `structures`.

The goals were derived from prototypes. The page of the report says which ones are met and which are missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Figure(Enum):
    """What a goal is about: a title, a loop of the benchmark, and a second loop of the same structure, or None.

    The figure is the speed of the first loop divided by that of the second. Without a second loop, it is the speed
    divided by that of the peer, the container from a package (such as Abseil) with which the page compares the
    structure. HUGE_PAGES divides the speed on huge pages by that of the same structure on small pages. Figures of
    memory have no loop (""). The page of tools/reports/structures.py explains the loops.
    """

    INSERT = "insert", "insert", None
    LOOKUP = "lookup", "lookup", None
    CHAINED = "chained lookup", "chained", None
    SCAN = "scan of 100", "scan", None
    LOOKUP_THREADS = "lookups of 2 threads", "lookup_threads", None
    BATCH = "batch / the structure's own lookup", "batch", "lookup"
    BATCH_CHAINED = "batch / the structure's own chained lookup", "batch", "chained"
    SCALING = "lookups of 2 threads / 1 thread", "lookup_threads", "lookup_threads_1"
    MIXED_SCALING = (
        "lookups and updates of 2 threads / 1 thread",
        "mixed_threads",
        "mixed_threads_1",
    )
    HUGE_PAGES = "batch on huge pages / batch", "batch", None
    BYTES = "bytes per key", "", None
    MEMORY = "bytes per key / the peer's", "", None

    @property
    def title(self) -> str:
        """Return the words for the page."""
        return str(self.value[0])

    @property
    def loops(self) -> tuple[str, str | None]:
        """Return the loop, and the second loop of the same structure or None."""
        return self.value[1], self.value[2]

    @property
    def less_is_better(self) -> bool:
        """Return whether the goal is an upper limit."""
        return self in {Figure.BYTES, Figure.MEMORY}


SHORT, LONG = ("ycsb", "email"), ("url", "random")  # sets of short and of long string keys


@dataclass(frozen=True, slots=True)
class Goal:
    """A limit for one figure of one structure, for some sets of keys and numbers of keys."""

    structure: str
    figure: Figure
    value: float
    keys: tuple[str, ...] = ("int",)
    count_min: int = 0
    count_max: int = 10**9

    def applies(self, keys: str, count: int) -> bool:
        """Return whether the goal is about this set and number of keys."""
        return keys in self.keys and self.count_min <= count <= self.count_max


def _scaling(structure: str) -> tuple[Goal, Goal]:
    return Goal(structure, Figure.SCALING, 1.85), Goal(structure, Figure.MIXED_SCALING, 1.7)


_BTREE = (
    Goal("btree", Figure.INSERT, 1.4),
    Goal("btree", Figure.LOOKUP, 2.0, count_max=9_999_999),
    Goal("btree", Figure.LOOKUP, 2.3, count_min=10_000_000),
    Goal("btree", Figure.CHAINED, 1.3),
    Goal("btree", Figure.SCAN, 2.2, count_max=999_999),
    Goal("btree", Figure.SCAN, 2.8, count_min=1_000_000),
    Goal("btree", Figure.MEMORY, 1.0),
    Goal("btree", Figure.BATCH, 3.3, count_min=10_000_000),
    Goal("btree", Figure.BATCH_CHAINED, 5.0, count_min=10_000_000),
    Goal("btree", Figure.HUGE_PAGES, 1.1, count_min=10_000_000),
    *_scaling("btree"),
    *_scaling("btree_olc"),
    Goal("btree", Figure.LOOKUP, 3.2, SHORT + LONG),
    Goal("btree", Figure.CHAINED, 2.6, SHORT + LONG),
    Goal("btree", Figure.SCAN, 2.5, SHORT),
    Goal("btree", Figure.SCAN, 1.7, LONG),
    Goal("btree", Figure.MEMORY, 0.5, SHORT),
    Goal("btree", Figure.MEMORY, 0.75, LONG),
    Goal("btree", Figure.LOOKUP, 5.0, ("prefix",)),
    Goal("btree", Figure.CHAINED, 4.0, ("prefix",)),
)
_ART = (
    Goal("art", Figure.INSERT, 1.7),
    Goal("art", Figure.LOOKUP, 3.2),
    Goal("art", Figure.CHAINED, 1.25),
    Goal("art", Figure.SCAN, 0.7),
    Goal("art", Figure.BYTES, 42),
    Goal("art", Figure.BATCH, 2.7, count_min=10_000_000),
    Goal("art", Figure.BATCH_CHAINED, 5.0, count_min=10_000_000),
    Goal("art", Figure.HUGE_PAGES, 1.1, count_min=10_000_000),
    *_scaling("art"),
    Goal("art", Figure.LOOKUP, 3.2, SHORT + LONG),
    Goal("art", Figure.CHAINED, 2.2, SHORT),
    Goal("art", Figure.CHAINED, 1.8, ("url",)),
    Goal("art", Figure.CHAINED, 2.4, ("random",)),
    Goal("art", Figure.LOOKUP, 4.0, ("prefix",)),
    Goal("art", Figure.CHAINED, 2.2, ("prefix",)),
)
_HASH = (
    Goal("hash", Figure.LOOKUP, 4.0),
    Goal("hash", Figure.LOOKUP_THREADS, 3.0),
    *_scaling("hash"),
)
_OTHERS = (
    Goal("bwtree", Figure.LOOKUP, 0.7),
    Goal("fptree", Figure.LOOKUP, 1.2),
    Goal("csb", Figure.LOOKUP, 1.5),
)
GOALS = (*_BTREE, *_ART, *_HASH, *_OTHERS)
