"""Computes how robust libraries are: how much each one loses at most, over several workloads, against the best library.

A *cost* is a ratio for which lower is better, such as the time of the library / the time of a fixed control library.
The input is a table with a row for each library and a column for each workload. A cell contains one cost for each
session (repetition). The *level* of a cell is the median of its costs. The *loss* in a cell is its level divided by the
best level of the workload. The *robustness* of a library is its largest loss, as in robust optimisation (the minimax
ratio): 1 means that the library is the best one on every workload.

Intervals and ranks come from a bootstrap over sessions. The method of Mogstad, Romano, Shaikh and Wilhelm (2024,
"Inference for Ranks") decides which libraries differ. It makes simultaneous confidence intervals for the differences of
all pairs. Their common critical value is a quantile of the largest studentised difference. As on the site's boards
(rankings), a difference of up to 3 % counts as none. Differences between medians of few sessions are not tested
(LEAST_SESSIONS).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from results.stats.family import MARGIN, SIGNIFICANCE, Rank, ranks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# A cell of the table, and a row of the table with one cell per workload. The table has one row per library.
Cell = tuple[float, ...]
Row = tuple[Cell, ...]

# With fewer sessions than this, even the range from the smallest to the largest value contains the true median with a
# probability below 95 %.
LEAST_SESSIONS = 6
_DRAWS = 2_000
_SEED = 2009


@dataclass(frozen=True, slots=True)
class Robustness:
    """The robustness of one library. `worst` is the index of the workload with its largest loss.

    `low` and `high` are the 95 % interval of `value`. They are None if a cell has fewer than LEAST_SESSIONS sessions.
    """

    losses: tuple[float, ...]
    value: float
    worst: int
    low: float | None
    high: float | None
    rank: Rank


def best_levels(table: Sequence[Sequence[Sequence[float]]]) -> list[float | None]:
    """Return the best level of each workload; None if no library has costs there. Cells may be empty."""
    return [
        min((median(cell) for cell in column if cell), default=None)
        for column in zip(*table, strict=True)
    ]


@lru_cache(maxsize=64)  # a page is requested more often than its entries change
def robustness(table: tuple[Row, ...], best: tuple[float, ...]) -> tuple[Robustness, ...]:
    """Return the robustness of each library, in the order of `table`. No cell may be empty.

    `best` has the best level of each workload. It may be better than all levels of the table: a library that was
    measured on only some workloads has no row in the table, but may be the best one there.
    """
    if not table:
        return ()
    losses = np.array(
        [[median(cell) / least for cell, least in zip(row, best, strict=True)] for row in table]
    )
    values = losses.max(axis=1)
    draws = _draws(table, losses, np.array(best))
    tested = [all(len(cell) >= LEAST_SESSIONS for cell in row) for row in table]
    order = sorted(range(len(table)), key=lambda row: (values[row], row))
    places = dict(
        zip(order, ranks(len(order), _surely_better(values, draws, tested, order)), strict=True)
    )
    half = SIGNIFICANCE / 2
    ends = np.quantile(draws, [half, 1 - half], axis=0)
    return tuple(
        Robustness(
            losses=tuple(losses[row].tolist()),
            value=float(values[row]),
            worst=int(losses[row].argmax()),
            low=min(float(ends[0, row]), float(values[row])) if tested[row] else None,
            high=max(float(ends[1, row]), float(values[row])) if tested[row] else None,
            rank=places[row],
        )
        for row in range(len(table))
    )


def _draws(
    table: Sequence[Row], losses: NDArray[np.float64], best: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return bootstrap draws of the robustness of all libraries: _DRAWS rows, one column per library."""
    generator = np.random.default_rng(_SEED)
    levels = np.stack(
        [np.stack([_medians(cell, generator) for cell in row], axis=1) for row in table], axis=1
    )  # draws x libraries x workloads
    # If the best library of a workload is in the table, each draw computes the best level again from the drawn medians.
    inside = np.isclose(losses.min(axis=0), 1.0)
    least = np.where(inside, levels.min(axis=1), best)
    drawn: NDArray[np.float64] = (levels / least[:, np.newaxis, :]).max(axis=2)
    return drawn


def _medians(cell: Cell, generator: np.random.Generator) -> NDArray[np.float64]:
    """Return the medians of _DRAWS samples that are drawn from the cell with replacement.

    The k-th smallest of n uniform numbers has the distribution Beta(k, n + 1 - k). So each draw needs only one random
    number, or two for an even number of sessions, and not one per session.
    """
    values = np.sort(np.array(cell))
    count = len(values)
    middle = (count + 1) // 2
    lower = generator.beta(middle, count + 1 - middle, size=_DRAWS)
    drawn: NDArray[np.float64] = values[_place(lower, count)]
    if count % 2 == 0:
        # With an even count, there are two middle numbers. `lower` is the smaller one. The numbers above it are uniform
        # from `lower` to 1, and the smallest of them is the other middle number.
        rest = generator.random(_DRAWS) ** (1 / (count - middle))
        upper = 1 - (1 - lower) * rest
        drawn = (drawn + values[_place(upper, count)]) / 2
    return drawn


def _place(uniform: NDArray[np.float64], count: int) -> NDArray[np.intp]:
    """Return the index of the value that a uniform number from 0 to 1 selects; `count` is the number of values."""
    return np.minimum((uniform * count).astype(np.intp), count - 1)


def _surely_better(
    values: NDArray[np.float64],
    draws: NDArray[np.float64],
    tested: Sequence[bool],
    order: Sequence[int],
) -> list[tuple[int, int]]:
    """Return the positions (winner, loser) in `order` of each pair of libraries that differ significantly."""
    pairs = [
        (first, second)
        for first, second in combinations(range(len(order)), 2)
        if tested[order[first]] and tested[order[second]]
    ]
    if not pairs:
        return []
    logs, centre = np.log(draws[:, order]), np.log(values[list(order)])
    first, second = np.array(pairs).T
    drawn = logs[:, second] - logs[:, first]
    difference = centre[second] - centre[first]  # never negative, because of the order
    spread = drawn.std(axis=0)
    known = spread > 0
    largest = np.max(np.abs(drawn - difference)[:, known] / spread[known], axis=1, initial=0.0)
    limit = float(np.quantile(largest, 1 - SIGNIFICANCE))
    return [
        pair
        for pair, apart, width in zip(pairs, difference, spread, strict=True)
        if apart - limit * width > MARGIN
    ]


def heat(loss: float) -> int:
    """Return the step of the colour of a loss: 0 up to 1.03, 1 up to 1.25, 2 up to 1.6, 3 up to 2.5, and 4 above."""
    return sum(loss > limit for limit in (math.exp(MARGIN), 1.25, 1.6, 2.5))
