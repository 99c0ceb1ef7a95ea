from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.boards import (
    Board,
    BoardError,
    check_together,
    jail_suffices,
    parse_board,
    relaxed,
)
from leaderboard.eligibility import GateFacts, RunFacts, reasons_against

BOARD = Board(
    slug="small",
    title="Small",
    description="",
    benchmark="sigmod2009",
    instance="preliminary1",
    scales=("paper",),
    metric="total_ms",
    direction="lower",
    top=10,
    per_user=3,
    minimum_sessions=11,
    gates=("unit", "phantom"),
    strict=False,
    jail_level="full",
)
GOOD = RunFacts(
    benchmark_version=3,
    current_version=3,
    scale="paper",
    state="done",
    verdict="passed",
    sessions=15,
    score=0.5,
    transactions_failed=0,
    transactions_completed=80_000,
    transactions_planned=80_000,
    jail_level="full",
)
PASSED = (GateFacts("unit", wanted=1, passed=1), GateFacts("phantom", wanted=1, passed=1))


def test_a_good_run_has_nothing_against_it() -> None:
    assert reasons_against(GOOD, BOARD, PASSED) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"deleted": True}, "its owner deleted it"),
        ({"state": "cancelled"}, "it was cancelled"),
        ({"state": "running"}, "it has not finished yet"),
        ({"verdict": "timed_out"}, "its verdict is timed out"),
        (
            {"current_version": 4},
            "it used version 3 of the benchmark; version 4 is the newest",
        ),
        ({"current_version": None}, "the benchmark sigmod2009 no longer exists"),
        ({"scale": "smoke"}, "it ran at smoke scale; the board asks for paper"),
        (
            {"transactions_failed": 3, "transactions_completed": 79_997},
            "3 of 80,000 transactions failed",
        ),
        (
            {"transactions_completed": 79_999},
            "1 of 80,000 transactions did not complete",
        ),
        (
            {"transactions_completed": None},
            "the report does not say whether all transactions completed",
        ),
        ({"score": None}, "it was not measured beside the control library"),
        ({"sessions": 3}, "it has 3 sessions; the board asks for 11"),
        ({"jail_level": "weak"}, "the jail gave level weak; the board asks for full"),
        ({"jail_level": ""}, "the jail gave level unknown; the board asks for full"),
    ],
)
def test_each_fault_is_named(change: dict[str, object], reason: str) -> None:
    assert reasons_against(replace(GOOD, **change), BOARD, PASSED) == [reason]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("gate", "reason"),
    [
        (GateFacts("unit", wanted=1, passed=0), "unit tests have not passed yet"),
        (GateFacts("unit", 1, 1, failed=("crashed",)), "unit tests: crashed"),
        (GateFacts("unit", wanted=0, passed=0), "the gate unit does not exist"),
    ],
)
def test_a_gate_that_is_not_passed_is_named(gate: GateFacts, reason: str) -> None:
    assert reasons_against(GOOD, BOARD, [gate, PASSED[1]]) == [reason]


FACTS = st.builds(
    RunFacts,
    benchmark_version=st.integers(1, 3),
    current_version=st.none() | st.integers(1, 3),
    scale=st.sampled_from(["smoke", "laptop", "paper"]),
    state=st.sampled_from(["queued", "claimed", "running", "done", "cancelled"]),
    verdict=st.sampled_from(["", "passed", "failed", "crashed", "infrastructure"]),
    sessions=st.integers(0, 20),
    score=st.none() | st.floats(0.1, 10),
    transactions_failed=st.none() | st.integers(0, 5),
    transactions_completed=st.none() | st.integers(0, 10),
    transactions_planned=st.none() | st.integers(0, 10),
    jail_level=st.sampled_from(["", "none", "weak", "full"]),
    deleted=st.booleans(),
)
GATES = st.tuples(
    st.builds(
        GateFacts,
        benchmark=st.just("unit"),
        wanted=st.integers(0, 2),
        passed=st.integers(0, 2),
        failed=st.lists(st.sampled_from(["failed", "crashed"]), max_size=1).map(tuple),
    )
)


@given(FACTS, GATES)
def test_only_what_keeps_every_rule_is_eligible(run: RunFacts, gates: tuple[GateFacts]) -> None:
    reasons = reasons_against(run, BOARD, gates)
    assert all(reasons)
    assert len(reasons) == len(set(reasons))
    keeps_all = (
        not run.deleted
        and run.state == "done"
        and run.verdict == "passed"
        and run.benchmark_version == run.current_version
        and run.scale == "paper"
        and run.score is not None
        and run.sessions >= 11
        and run.jail_level == "full"
        and run.transactions_failed == 0
        and run.transactions_completed is not None
        and (run.transactions_planned or 0) <= run.transactions_completed
        and all(g.wanted and g.passed >= g.wanted and not g.failed for g in gates)
    )
    assert (not reasons) == keeps_all


def test_a_demonstration_accepts_one_scale_and_any_number_of_sessions() -> None:
    demo = relaxed(BOARD, "smoke")
    assert demo.provisional
    assert reasons_against(replace(GOOD, scale="smoke", sessions=3), demo, PASSED) == []
    assert reasons_against(GOOD, demo, PASSED) == [
        "it ran at paper scale; the board asks for smoke"
    ]


def test_an_unknown_jail_level_never_suffices() -> None:
    assert jail_suffices("full", "weak")
    assert not jail_suffices("weak", "full")
    assert not jail_suffices("made-up", "none")


def board_json() -> dict[str, object]:
    return {
        "title": "Small",
        "benchmark": "sigmod2009",
        "instance": "preliminary1",
        "scales": ["paper"],
        "metric": "total_ms",
        "direction": "lower",
        "top": 10,
        "per_user": 3,
        "minimum_sessions": 11,
        "gates": ["unit", "phantom"],
        "strict": False,
        "jail_level": "full",
    }


def test_a_board_is_read_from_its_folder() -> None:
    assert parse_board("small", board_json(), "") == BOARD


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"title": ""}, "title must be a name"),
        ({"top": 0}, "top must be a positive integer"),
        ({"per_user": True}, "per_user must be a positive integer"),
        ({"scales": ["huge"]}, "scales must be a list of smoke, laptop, paper"),
        ({"direction": "up"}, "direction must be lower or higher"),
        ({"jail_level": "some"}, "jail_level must be one of none, weak, full"),
        ({"gates": "unit"}, "gates must be a list of benchmarks"),
        ({"strict": 1}, "strict must be true or false"),
        ({"colour": "red"}, "field 'colour' is unknown"),
    ],
)
def test_a_wrong_board_is_refused_by_name(change: dict[str, object], message: str) -> None:
    with pytest.raises(BoardError, match=rf"boards/small/board.json: .*{message}"):
        parse_board("small", board_json() | change, "")


def test_a_missing_field_is_named() -> None:
    incomplete = board_json()
    del incomplete["metric"]
    with pytest.raises(BoardError, match="field 'metric' is missing"):
        parse_board("small", incomplete, "")


def test_boards_that_share_a_gate_agree_on_strictness() -> None:
    other = replace(BOARD, slug="other", strict=True)
    check_together([BOARD, replace(other, gates=("isolation",))])
    with pytest.raises(BoardError, match="share the gate phantom: both must be strict or neither"):
        check_together([BOARD, other])
