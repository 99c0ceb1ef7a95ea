"""Tests the score of a library over several instances: its value, its intervals, what does not count, and what cannot
be combined.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from results import suite_score
from results.result_files import Instance
from results.suite_score import Identity, InstanceSpeeds, MixedResultsError, combine

CONDITIONS = (
    ("scale", "laptop"),
    ("class of the machine", "any, 2 CPUs, 24 GiB"),
    ("checks", "on"),
)


def result(
    instance: str,
    speeds: dict[str, list[float]],
    *,
    left_out: dict[str, str] | None = None,
    conditions: tuple[tuple[str, str], ...] = CONDITIONS,
    identity: str = "one file",
) -> InstanceSpeeds:
    """Return the speeds on one instance."""
    names = [*speeds, *(left_out or {})]
    return InstanceSpeeds(
        instance=Instance("ycsb", instance, "laptop"),
        benchmark_version=1,
        conditions=conditions,
        speeds={name: tuple(values) for name, values in speeds.items()},
        left_out=left_out or {},
        identities={name: Identity(identity + name, None) for name in names},
    )


def test_the_score_is_the_geometric_mean_of_the_medians() -> None:
    score = combine([
        result("a", {"fast": [2.0, 8.0, 4.0], "slow": [0.5, 0.5, 0.5]}),
        result("c", {"fast": [1.0, 1.0, 1.0], "slow": [2.0, 2.0, 2.0]}),
    ])  # fmt: skip
    assert [one.library for one in score.scores] == ["fast", "slow"]
    assert score.scores[0].score == pytest.approx(2.0)
    assert score.scores[1].score == pytest.approx(1.0)
    assert (score.scores[1].low, score.scores[1].high) == pytest.approx((1.0, 1.0))
    assert score.scores[0].low < 2.0 < score.scores[0].high
    assert score.provisional


def test_noise_that_all_libraries_of_a_block_share_separates_them_all_the_same() -> None:
    noise = random.Random(7)
    blocks = [math.exp(noise.gauss(0.0, 0.5)) for _ in range(15)]
    score = combine([result("a", {"a": [1.1 * block for block in blocks], "b": blocks})])
    assert [one.rank.high for one in score.scores] == [1, 2]
    assert score.scores[0].low < score.scores[1].high
    assert not score.provisional


def test_the_interval_covers_the_true_score_and_equal_libraries_stay_unranked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Simulates 200 suites of three instances, with 15 blocks each and normally distributed noise of 10 %."""
    monkeypatch.setattr(suite_score, "DRAWS", 1000)
    noise = random.Random(11)
    covered = separated = 0
    for _ in range(200):
        score = combine([
            result(name, {lib: [speed * math.exp(noise.gauss(0.0, 0.1)) for _ in range(15)] for lib in "xy"})
            for name, speed in (("a", 0.5), ("c", 2.0), ("e", 8.0))
        ])  # fmt: skip
        covered += sum(one.low <= 2.0 <= one.high for one in score.scores)
        separated += score.scores[0].rank.high == 1
    assert covered >= 0.91 * 400
    assert separated <= 0.09 * 200


def test_an_instance_counts_only_if_every_library_passed() -> None:
    score = combine([
        result("a", {"x": [3.0] * 11, "y": [2.0] * 11}),
        result("c", {"x": [9.0] * 11}, left_out={"y": "crashed in block 1"}),
        result("e", {"x": [9.0] * 11}),
    ])  # fmt: skip
    assert [one.instance.instance for one in score.counted] == ["a"]
    assert score.left_out == {
        "ycsb-c-laptop": "y has no result (crashed in block 1)",
        "ycsb-e-laptop": "y has no result (it was not compared)",
    }
    assert score.scores[0].score == pytest.approx(3.0)


def test_an_instance_without_a_valid_block_says_so() -> None:
    noisy = replace(result("c", {}), identities=result("c", {"x": []}).identities)
    score = combine([result("a", {"x": [3.0]}), noisy])
    assert score.left_out == {
        "ycsb-c-laptop": "x has no result (every block was too noisy to count)"
    }


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (result("a", {"x": [1.0]}), "two results are of ycsb-a-laptop"),
        (
            result("c", {"x": [1.0]}, identity="another file"),
            "x is not the same in ycsb-c-laptop and in ",
        ),
        (
            result("c", {"x": [1.0]}, conditions=(*CONDITIONS[:2], ("checks", "off"))),
            "has the checks on: give results with the same checks",
        ),
        (
            result("c", {"y": [1.0]}),
            "On ycsb-a-laptop, y has no result (it was not compared). On ycsb-c-laptop, x has no result (",
        ),
    ],
)
def test_results_that_do_not_belong_together_are_refused(
    second: InstanceSpeeds, reason: str
) -> None:
    with pytest.raises(MixedResultsError) as error:
        combine([result("a", {"x": [1.0]}), second])
    assert reason in str(error.value)
