"""Combines comparisons of the same libraries on several benchmark instances into one score per library.

An instance is a benchmark with a named set of parameters. In a block of `keydrome compare`, every library runs once,
with the same operations. The *control library* is the baseline of each block. The *speed* of a library in a block says
how many times as fast as the control library it was. Its speed on an instance is the median over the blocks. Its
*score* is the geometric mean of its speeds on all counted instances. So the control library has score 1, and all
instances have the same weight, however long they take (Fleming and Wallace 1986).

An instance counts only if every library passed on it. A missing value is never estimated.

The intervals come from a stratified bootstrap, which draws blocks with replacement within each instance. A draw takes
the same blocks for all libraries, because a block's noise affects them all. The instances themselves are not drawn. So
a score says nothing about other instances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from results.result_files import Instance
from results.stats.family import SIGNIFICANCE, Rank, ranks
from results.summary import RANKED_SESSIONS_MIN
from runner.manifest import Direction
from runner.strict import ObjectReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SCORE_SCHEMA = "keydrome.score.v1"
# The number of draws of the bootstrap. With ten libraries there are 45 pairs. Then 20,000 x 0.05 / (2 x 45) = 11 draws
# are beyond each end of a pair's interval.
DRAWS = 20_000
# A fixed seed, so that the same results always give the same intervals.
_SEED = 2009


class MixedResultsError(ValueError):
    """The results cannot be combined into a score. The message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What identifies a compared library, because different files may have the same name."""

    sha256: str
    configuration: dict[str, Any] | None

    @property
    def text(self) -> str:
        """Return the digest of the file and the name of the configuration."""
        name = "" if self.configuration is None else f", configuration {self.configuration['name']}"
        return f"sha256 {self.sha256}{name}"


@dataclass(frozen=True, slots=True)
class InstanceSpeeds:
    """The speeds of libraries on one instance, from one result of `keydrome compare`.

    `speeds` maps each library that passed to its speed in each block that counts, in the order of the blocks.
    `left_out` maps each other library to the reason. `identities` has all libraries. `conditions` contains what must
    agree between results: scale, class of the machine, and whether checks ran.
    """

    instance: Instance
    benchmark_version: int
    conditions: tuple[tuple[str, str], ...]
    speeds: dict[str, tuple[float, ...]]
    left_out: dict[str, str]
    identities: dict[str, Identity]

    @property
    def blocks(self) -> int:
        """Return the number of blocks that count."""
        return max(map(len, self.speeds.values()), default=0)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> InstanceSpeeds:
        """Return the speeds in a JSON object that fits compare.v1.schema.json."""
        reader = ObjectReader(value, "result")
        instance = Instance.take(reader)
        metric = ObjectReader(reader.mapping("metric"), "metric")
        lower = metric.word("direction", Direction) is Direction.LOWER
        libraries = [ObjectReader(item, "library") for item in reader.items("libraries")]
        names = [one.text("name") for one in libraries]
        left_out = {name: one.text("left_out") for name, one in zip(names, libraries, strict=True)}
        blocks = [ObjectReader(item, "block") for item in reader.items("blocks")]
        counted = [_ratios(block) for block in blocks if not block.text("void")]
        machine = ObjectReader(reader.mapping("machine"), "machine")
        return cls(
            instance=instance,
            benchmark_version=reader.integer("benchmark_version"),
            conditions=(
                ("scale", instance.scale),
                ("class of the machine", machine.text("class")),
                ("checks", "off" if reader.boolean("plain") else "on"),
            ),
            speeds={
                name: tuple(1 / ratios[name] if lower else ratios[name] for ratios in counted)
                for name, reason in left_out.items()
                if not reason and counted
            },
            left_out={name: reason for name, reason in left_out.items() if reason},
            identities={name: _identity(one) for name, one in zip(names, libraries, strict=True)},
        )


def _ratios(block: ObjectReader) -> dict[str, float]:
    """Return library's metric / control library's metric in a block, for each library that passed."""
    control = math.sqrt(block.number("control_first") * block.number("control_last"))
    return {name: value / control for name, value in block.numbers("values").items()}


def _identity(library: ObjectReader) -> Identity:
    return Identity(library.text("sha256"), library.optional_mapping("configuration"))


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one library, the confidence interval of the score (95 %), and the library's rank."""

    library: str
    score: float
    low: float
    high: float
    rank: Rank


@dataclass(frozen=True, slots=True)
class SuiteScore:
    """The scores of all libraries, best first, and the instances that count.

    `left_out` maps each instance that does not count to the reason.
    """

    scores: tuple[Score, ...]
    counted: tuple[InstanceSpeeds, ...]
    left_out: dict[str, str]

    @property
    def short(self) -> list[str]:
        """Return the names of the instances that have too few blocks for a final result."""
        return [str(one.instance) for one in self.counted if one.blocks < RANKED_SESSIONS_MIN]

    @property
    def provisional(self) -> bool:
        """Return True if an instance has too few blocks for a final result."""
        return bool(self.short)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form (harness/schema/score.v1.schema.json)."""
        return {
            "schema": SCORE_SCHEMA,
            "conditions": dict(self.counted[0].conditions),
            "rules": {"significance": SIGNIFICANCE, "draws": DRAWS},
            "provisional": self.provisional,
            "instances": [_instance_json(one) for one in self.counted],
            "left_out": self.left_out,
            "libraries": [
                {
                    "name": one.library,
                    "score": one.score,
                    "low": one.low,
                    "high": one.high,
                    "rank": {
                        "position": one.rank.position,
                        "low": one.rank.low,
                        "high": one.rank.high,
                    },
                }
                for one in self.scores
            ],
        }


def _instance_json(one: InstanceSpeeds) -> dict[str, Any]:
    return {
        "benchmark": one.instance.benchmark,
        "benchmark_version": one.benchmark_version,
        "instance": one.instance.instance,
        "blocks": one.blocks,
        "speeds": {name: median(values) for name, values in one.speeds.items()},
    }


def combine(results: Sequence[InstanceSpeeds]) -> SuiteScore:
    """Return the scores. Raises MixedResultsError if results do not belong together, or if no instance counts."""
    _check_alike(results)
    names = sorted({name for one in results for name in one.identities})
    left_out = {str(one.instance): reason for one in results if (reason := _missing(one, names))}
    counted = tuple(one for one in results if str(one.instance) not in left_out)
    if not counted:
        reasons = " ".join(f"On {instance}, {reason}." for instance, reason in left_out.items())
        raise MixedResultsError(
            f"there is no score, because no instance has a result of every library. {reasons} Compare the same "
            "libraries on each instance, without those that fail"
        )
    logs = [np.log(np.array([one.speeds[name] for name in names])) for one in counted]
    scores = np.mean([np.median(rows, axis=1) for rows in logs], axis=0)
    draws = _draw(logs)
    order = sorted(range(len(names)), key=lambda index: (-scores[index], names[index]))
    places = ranks(len(order), surely_better(draws[:, order]))
    low, high = np.quantile(draws, [SIGNIFICANCE / 2, 1 - SIGNIFICANCE / 2], axis=0)
    return SuiteScore(
        scores=tuple(
            Score(names[i], math.exp(scores[i]), math.exp(low[i]), math.exp(high[i]), place)
            for i, place in zip(order, places, strict=True)
        ),
        counted=counted,
        left_out=left_out,
    )


def _check_alike(results: Sequence[InstanceSpeeds]) -> None:
    """Raise MixedResultsError if two results do not belong together."""
    seen: dict[tuple[str, str], InstanceSpeeds] = {}
    identities: dict[str, tuple[Identity, InstanceSpeeds]] = {}
    for one in results:
        for (what, found), (_, wanted) in zip(one.conditions, results[0].conditions, strict=True):
            if found != wanted:
                raise MixedResultsError(
                    f"{one.instance} has the {what} {found}, but {results[0].instance} has the {what} {wanted}: "
                    f"give results with the same {what}"
                )
        key = (one.instance.benchmark, one.instance.instance)
        if key in seen:
            raise MixedResultsError(f"two results are of {one.instance}: give only one of them")
        seen[key] = one
        for name, identity in one.identities.items():
            known, other = identities.setdefault(name, (identity, one))
            if known != identity:
                raise MixedResultsError(
                    f"the library {name} is not the same in {one.instance} and in {other.instance}: its file or its "
                    "configuration differs. Compare the same file under the same configuration on both instances"
                )


def _missing(one: InstanceSpeeds, names: Sequence[str]) -> str:
    """Return why an instance does not count, or an empty string."""
    absent = [name for name in names if name not in one.speeds]
    if not absent:
        return ""
    return ", and ".join(f"{name} has no result ({_why_absent(one, name)})" for name in absent)


def _why_absent(one: InstanceSpeeds, name: str) -> str:
    if name in one.left_out:
        return one.left_out[name]
    # If a library was compared and not excluded, it has a speed in each block that counts.
    is_compared = name in one.identities
    return "every block was too noisy to count" if is_compared else "it was not compared"


def _draw(logs: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the logarithm of each library's score in each draw: DRAWS rows, one column per library.

    `logs` contains one array per instance, with a row per library and a column per block.
    """
    generator = np.random.default_rng(_SEED)
    total = np.zeros((DRAWS, len(logs[0])))
    for rows in logs:
        blocks = rows.shape[1]
        chosen = generator.integers(blocks, size=(DRAWS, blocks))
        for library, row in enumerate(rows):
            total[:, library] += np.median(row[chosen], axis=1)
    return total / len(logs)


def surely_better(draws: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs (winner, loser) of columns whose scores differ significantly.

    Bonferroni's correction divides the level of significance by the number of pairs.
    """
    pairs = list(combinations(range(draws.shape[1]), 2))
    sure = []
    for first, second in pairs:
        level = SIGNIFICANCE / len(pairs)
        low, high = np.quantile(draws[:, first] - draws[:, second], [level / 2, 1 - level / 2])
        if low > 0:
            sure.append((first, second))
        elif high < 0:
            sure.append((second, first))
    return sure
