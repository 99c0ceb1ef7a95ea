"""Combines a team's results on several boards into one score. This file uses no database.

A team's speed on a board says how many times as fast as the control library its best entry is: the median over the
sessions. The score is the geometric mean of the speeds on all boards of the contest, as in `keydrome score`. A board
without an entry counts as the control, with speed 1. The intervals come from a bootstrap, which draws each entry's
sessions with replacement. Teams never share sessions, so the sessions of each team are drawn independently.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from results.stats.family import SIGNIFICANCE, Rank, ranks
from results.suite_score import surely_better
from results.summary import RANKED_SESSIONS_MIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

DRAWS = 20_000
# Beyond this number of teams, the bootstrap has too few draws at each end of a pair's interval to tell teams apart.
TEAMS_MAX = 30
_SEED = 2009


@dataclass(frozen=True, slots=True)
class TeamScore:
    """A team's score with its 95 % interval, its rank, and the number of boards on which it has an entry.

    `provisional` is True if an entry has too few sessions for a final result.
    """

    team: int
    score: float
    low: float
    high: float
    rank: Rank
    boards: int
    provisional: bool


def combine(speeds: Mapping[int, Sequence[Sequence[float]]], boards: int) -> list[TeamScore]:
    """Return the scores of the TEAMS_MAX best teams, best first. Equal scores have the order of the teams' ids.

    For each team, `speeds` has one sequence for each board on which the team has an entry: the speeds in the sessions
    of the team's best entry there. `boards` is the number of boards of the contest, at least 1.
    """
    logs = {
        team: [np.log(np.array(sample, dtype=float)) for sample in samples]
        for team, samples in speeds.items()
    }
    scores = {
        team: sum(float(np.median(sample)) for sample in samples) / boards
        for team, samples in logs.items()
    }
    order = sorted(scores, key=lambda team: (-scores[team], team))[:TEAMS_MAX]
    if not order:
        return []
    generator = np.random.default_rng(_SEED)
    draws = np.stack([_draw(logs[team], boards, generator) for team in order], axis=1)
    low, high = np.quantile(draws, [SIGNIFICANCE / 2, 1 - SIGNIFICANCE / 2], axis=0)
    return [
        TeamScore(
            team=team,
            score=math.exp(scores[team]),
            low=math.exp(low[index]),
            high=math.exp(high[index]),
            rank=place,
            boards=len(logs[team]),
            provisional=any(len(sample) < RANKED_SESSIONS_MIN for sample in logs[team]),
        )
        for index, (team, place) in enumerate(
            zip(order, ranks(len(order), surely_better(draws)), strict=True)
        )
    ]


def _draw(
    samples: Sequence[NDArray[np.float64]], boards: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return the logarithm of a team's score in each draw."""
    total = np.zeros(DRAWS)
    for sample in samples:
        chosen = generator.integers(len(sample), size=(DRAWS, len(sample)))
        total += np.median(sample[chosen], axis=1)
    return total / boards
