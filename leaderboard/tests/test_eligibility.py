# Tests the reasons why a run is not ranked on a board, and how a board's rules are read from its folder. A board ranks
# libraries on one benchmark instance. A gate is a correctness benchmark that a board requires.

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.boards import (
    Board,
    BoardError,
    jail_suffices,
    parse_board,
    relaxed,
)
from leaderboard.ranking.eligibility import (
    GateFacts,
    GateRun,
    RunFacts,
    gate_in,
    names_an_audit,
    reasons_against,
)

BOARD = Board(
    slug="small",
    title="Small",
    description="",
    benchmark="sigmod2009",
    instance="preliminary1",
    family="sigmod2009",
    scales=("paper",),
    machines=("*, 2 CPUs, 24 GiB", "fast"),
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
    machine_class="fast",
    state="done",
    verdict="passed",
    sessions=15,
    score=0.5,
    transactions_failed=0,
    transactions_completed=80_000,
    transactions_planned=80_000,
    jail_level="full",
)


def gate(name: str, *runs: GateRun) -> GateFacts:
    """Return the facts of a gate with one instance, which has the same name as the gate."""
    return GateFacts(name, instances=(name,), runs=runs)


PASSED = tuple(gate(name, GateRun(name, "passed")) for name in ("unit", "phantom"))
STALE = GateRun("phantom", "failed", ("stale_read",))
NOT_YET = (
    "the unit tests have not passed yet: wait until they have ended; if none is queued or running, "
    "submit the library again"
)


def test_a_good_run_has_nothing_against_it() -> None:
    assert reasons_against(GOOD, BOARD, PASSED) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"deleted": True}, "the owner deleted the submission"),
        ({"state": "cancelled"}, "the run was cancelled"),
        ({"state": "running"}, "the run has not finished yet"),
        ({"verdict": "timed_out"}, "the run did not pass (verdict: timed out)"),
        (
            {"current_version": 4},
            "the run used version 3 of the benchmark; the newest is version 4: repeat the run",
        ),
        ({"current_version": None}, "the benchmark sigmod2009 no longer exists"),
        (
            {"scale": "smoke"},
            (
                "the run used the benchmark at smoke scale (size); the board Small requires paper scale. "
                "The site chooses the scale: ask an organiser for a run at paper scale"
            ),
        ),
        (
            {"transactions_failed": 3, "transactions_completed": 79_997},
            (
                "3 of 80,000 transactions failed (did not end as the benchmark demands), and a board requires that all "
                "complete: correct the library and submit it again"
            ),
        ),
        (
            {"transactions_completed": 79_999},
            (
                "1 of 80,000 transactions did not complete, and a board requires that all complete: "
                "correct the library and submit it again"
            ),
        ),
        (
            {"transactions_completed": None},
            "the run's report does not say whether all transactions completed: repeat the run",
        ),
        (
            {"score": None},
            (
                "the run has no score, because the control library (the baseline) was not measured in the same "
                "sessions: repeat the run"
            ),
        ),
        (
            {"sessions": 3},
            (
                "the run has 3 sessions (repetitions of the benchmark); the board Small requires at least 11. "
                "Ask an organiser for a run with more sessions"
            ),
        ),
        (
            {"jail_level": "weak"},
            (
                "the sandbox (jail) of the run gave weak isolation from the machine; the board Small requires full "
                "isolation. The library is not the cause: ask an organiser for a run on a "
                "machine with full isolation"
            ),
        ),
        (
            {"jail_level": ""},
            (
                "the run's report does not say how well the sandbox (jail) isolated the library from the machine; "
                "the board Small requires full isolation. The library is not the cause: repeat the run, or "
                "ask an organiser for a run on a machine with full isolation"
            ),
        ),
    ],
)
def test_each_reason_is_named(change: dict[str, object], reason: str) -> None:
    assert reasons_against(replace(GOOD, **change), BOARD, PASSED) == [reason]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (gate("unit"), NOT_YET),
        (
            gate("unit", GateRun("unit", "passed"), GateRun("unit", "crashed")),
            "the unit tests did not pass (verdict: crashed)",
        ),
        (
            GateFacts("unit", instances=()),
            "the board Small requires the unit tests, which this site does not have: tell an organiser",
        ),
        (GateFacts("unit", ("unit", "b"), PASSED[0].runs), NOT_YET),
    ],
)
def test_a_gate_that_is_not_passed_is_named(facts: GateFacts, reason: str) -> None:
    assert reasons_against(GOOD, BOARD, [facts, PASSED[1]]) == [reason]


def test_reasons_name_their_gate() -> None:
    """Pages link a reason that names a gate to the run of this gate."""
    stale = gate("unit", GateRun("unit", "failed", ("stale_read",)))
    for facts in (gate("unit"), gate("unit", GateRun("unit", "crashed")), stale):
        (reason,) = reasons_against(GOOD, replace(BOARD, strict=True), [facts, PASSED[1]])
        assert gate_in(reason) == "unit"
    assert gate_in("the owner deleted the submission") == ""
    (reason,) = reasons_against(replace(GOOD, audit_verdict="failed"), BOARD, PASSED)
    assert names_an_audit(reason)
    assert not names_an_audit(NOT_YET)


def test_a_board_says_whether_it_accepts_stale_reads() -> None:
    strict = replace(BOARD, strict=True)
    gates = (PASSED[0], gate("phantom", STALE))
    assert reasons_against(GOOD, BOARD, gates) == []
    assert reasons_against(GOOD, strict, gates) == [
        (
            "the phantom tests found a stale read (a transaction missed data committed before the transaction began), "
            "which the board Small does not accept"
        )
    ]
    stale = replace(GOOD, decisive_findings=("stale_read",))
    assert reasons_against(stale, BOARD, PASSED) == []
    assert reasons_against(stale, strict, PASSED) == [
        (
            "the run's spot check, an extra judged session, found a stale read "
            "(a transaction missed data committed before the transaction began), which the board Small does not accept"
        )
    ]


@pytest.mark.parametrize(
    "run",
    [
        GateRun("phantom", "failed", ("could_not_judge", "stale_read")),
        GateRun("phantom", "failed", ("lost_update", "stale_read")),
        GateRun("phantom", "crashed", ("stale_read",)),
        GateRun("phantom", "failed"),
    ],
)
def test_no_other_violation_is_accepted(run: GateRun) -> None:
    assert reasons_against(GOOD, BOARD, (PASSED[0], gate("phantom", run))) == [
        f"the phantom tests did not pass (verdict: {run.verdict})"
    ]


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
    decisive_findings=st.sampled_from([(), ("stale_read",)]),
    deleted=st.booleans(),
)
GATE_RUNS = st.builds(
    GateRun,
    instance=st.sampled_from(["a", "b"]),
    verdict=st.sampled_from(["passed", "failed", "crashed"]),
    decisive_findings=st.lists(st.sampled_from(["stale_read", "phantom"]), unique=True).map(tuple),
)
GATES = st.tuples(
    st.builds(
        GateFacts,
        benchmark=st.just("unit"),
        instances=st.sampled_from([(), ("a",), ("a", "b")]),
        runs=st.lists(GATE_RUNS, max_size=3).map(tuple),
    )
)


def is_good_enough(run: GateRun, board: Board) -> bool:
    """Return True if a gate's run counts as passed. The tested code computes the same in another way."""
    accepted = (
        board.strict is False
        and run.verdict == "failed"
        and run.decisive_findings == ("stale_read",)
    )
    return run.verdict == "passed" or accepted


@given(FACTS, GATES, st.booleans())
def test_a_run_is_eligible_only_if_it_breaks_no_rule(
    run: RunFacts, gates: tuple[GateFacts], strict: bool
) -> None:
    board = replace(BOARD, strict=strict)
    reasons = reasons_against(run, board, gates)
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
        and not (strict and "stale_read" in run.decisive_findings)
        and all(
            g.instances
            and set(g.instances) <= {one.instance for one in g.runs}
            and all(is_good_enough(one, board) for one in g.runs)
            for g in gates
        )
    )
    assert (not reasons) == keeps_all
    if strict:
        # A board that accepts stale reads ranks every run that a strict board ranks.
        assert reasons or not reasons_against(run, replace(board, strict=False), gates)


def test_a_demonstration_accepts_one_scale_and_any_number_of_sessions() -> None:
    demo = relaxed(BOARD, "smoke")
    assert demo.provisional
    assert reasons_against(replace(GOOD, scale="smoke", sessions=3), demo, PASSED) == []
    assert reasons_against(GOOD, demo, PASSED) == [
        (
            "the run used the benchmark at paper scale (size); the board Small requires smoke scale. "
            "The site chooses the scale: ask an organiser for a run at smoke scale"
        )
    ]


@pytest.mark.parametrize(
    ("machine_class", "is_accepted"),
    [("fast", True), ("AMD EPYC, 2 CPUs, 24 GiB", True), ("AMD EPYC, 32 CPUs, 24 GiB", False)],
)
def test_a_board_accepts_its_machine_classes(machine_class: str, is_accepted: bool) -> None:
    reasons = reasons_against(replace(GOOD, machine_class=machine_class), BOARD, PASSED)
    expected = (
        f"the machine of the run has the class “{machine_class}”; "
        "the board Small requires the class “any processor, 2 CPUs, 24 GiB” or “fast”. "
        "The site chooses the machine: ask an organiser for a run on such a machine"
    )
    assert reasons == ([] if is_accepted else [expected])
    everywhere = replace(BOARD, machines=("*",))
    assert reasons_against(replace(GOOD, machine_class=machine_class), everywhere, PASSED) == []


def test_a_pattern_of_machine_classes_is_explained() -> None:
    board = replace(BOARD, machines=("AMD *, 2 CPUs, 24 GiB",))
    (reason,) = reasons_against(GOOD, board, PASSED)
    assert "requires the class “AMD *, 2 CPUs, 24 GiB” (* is any text). The site" in reason


def test_an_unknown_jail_level_never_suffices() -> None:
    assert jail_suffices("full", "weak")
    assert not jail_suffices("weak", "full")
    assert not jail_suffices("made-up", "none")


def board_json() -> dict[str, object]:
    return {
        "title": "Small",
        "benchmark": "sigmod2009",
        "instance": "preliminary1",
        "family": "sigmod2009",
        "scales": ["paper"],
        "machines": ["*, 2 CPUs, 24 GiB", "fast"],
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
        ({"title": ""}, 'the field .title. has the value ""; it must be a text that is not empty'),
        ({"family": "other"}, "it must be one of sigmod2009, ycsb, transactions, operations"),
        ({"top": 0}, "the field 'top' has the value 0; it must be a whole number of at least 1"),
        ({"per_user": True}, "the field 'per_user' has the value true; it must be a whole number"),
        (
            {"scales": ["huge"]},
            r'has the value \["huge"\]; it must be a list that is not empty and contains only smoke, laptop, paper',
        ),
        ({"scales": []}, r"the field 'scales' has the value \[\]"),
        (
            {"machines": "fast"},
            r'it must be a list of machine classes that is not empty, or \["\*"\] for all classes',
        ),
        ({"machines": []}, "the field 'machines' has the value"),
        ({"direction": "up"}, "it must be one of lower, higher"),
        ({"jail_level": "some"}, "it must be one of none, weak, full"),
        ({"gates": "unit"}, "it must be a list of names of benchmarks"),
        ({"strict": 1}, "it must be true or false"),
        ({"colour": "red"}, "the field 'colour' is unknown: remove it"),
    ],
)
def test_a_wrong_board_is_refused_by_name(change: dict[str, object], message: str) -> None:
    with pytest.raises(BoardError, match=rf"leaderboard/boards/small/board.json: .*{message}"):
        parse_board("small", board_json() | change, "")


def test_a_missing_field_is_named() -> None:
    incomplete = board_json()
    del incomplete["metric"]
    with pytest.raises(BoardError, match="field 'metric' is missing"):
        parse_board("small", incomplete, "")


def test_a_board_is_strict_unless_it_says_otherwise() -> None:
    silent = board_json()
    del silent["strict"]
    assert parse_board("small", silent, "").strict
