"""Tests of recorded histories: they are kept as files and judged again, and C programs reproduce their violations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.binaries import built_settings, library
from tests.referee_run import BUILD, ROOT, Case, require_root_and_build, run_case
from tests.test_keydrome import keydrome
from tests.witness_programs import played, wrongly_refused

if TYPE_CHECKING:
    from pathlib import Path

# Numbers of mutants (libraries with one deliberate fault each) whose faults are deterministic: the same calls in the
# same order always give the same results.
DETERMINISTIC = (1, 3, 6, 10)
MORE_DETERMINISTIC = (2, 14, 15)
ROUNDS = {"rounds": 9, "transactions": 60}
SEEDS_MAX = 3


def bench(name: str, histories: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Run `keydrome bench` on the benchmark `isolation`: two small rounds.

    A round is a phase of random transactions whose calls are recorded.
    """
    folder, _, file = name.partition("/")
    return keydrome(
        "bench",
        library(built_settings(), folder, file),
        *("--benchmark", "isolation", "--sessions", "1", "--no-control", "--seed", "7"),
        *("-p", "only=1", "-p", "rounds=2", "-p", "transactions=40"),
        *("--history", str(histories), *more),
        var=histories.parent,
    )


def certify(file: Path) -> tuple[int, dict[str, Any]]:
    """Return the exit status and the report of the program `certify`, which judges a history file."""
    done = subprocess.run(
        [BUILD / "bin" / "certify", "--json", file], capture_output=True, text=True, check=False
    )
    return done.returncode, json.loads(done.stdout)


def test_a_kept_history_is_judged_again_to_the_same_witness(tmp_path: Path) -> None:
    answer = tmp_path / "bench.json"
    done = bench("faulty/mutant_10", tmp_path / "kept", "--json", str(answer))
    assert done.returncode == 1, done.stdout + done.stderr
    files = sorted((tmp_path / "kept").glob("isolation-isolation-*-round-*.history"))
    assert files, list((tmp_path / "kept").iterdir())
    found: dict[str, Any] = {}
    for file in files:
        status, report = certify(file)
        assert status == 1
        for violation in report["violations"]:
            found.setdefault(violation["name"], violation["witness"])
    reported = [f for f in json.loads(answer.read_text())["findings"] if "witness" in f]
    assert reported, (
        "no finding has a witness, so the fault did not show with seed 7: choose another seed"
    )
    # The referee shows at most five violations.
    assert {f["name"] for f in reported} <= set(found)
    for finding in reported:
        # The command line omits empty lists.
        kept = {k: v for k, v in found[finding["name"]].items() if v}
        assert {k: v for k, v in finding["witness"].items() if v} == kept


def test_right_runs_are_kept_only_when_asked_for(tmp_path: Path) -> None:
    done = bench("indexes/global_lock", tmp_path / "kept")
    assert done.returncode == 0, done.stdout + done.stderr
    assert list((tmp_path / "kept").iterdir()) == []
    done = bench("indexes/global_lock", tmp_path / "kept", "--all-histories")
    assert done.returncode == 0, done.stdout + done.stderr
    files = sorted((tmp_path / "kept").iterdir())
    assert len(files) == 2, files
    for file in files:
        status, report = certify(file)
        assert (status, report["verdict"]) == (0, "certified")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--benchmark", "sigmod2009", "--history", "DIR"], "add --record"),
        (["--benchmark", "isolation", "--all-histories"], "give --history DIR"),
    ],
)
def test_nothing_to_keep_and_no_place_for_it_are_errors(
    options: list[str], message: str, tmp_path: Path
) -> None:
    places = [str(tmp_path / "kept") if option == "DIR" else option for option in options]
    wrong = library(built_settings(), "indexes", "global_lock")
    done = keydrome("bench", wrong, *places, var=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    "number", DETERMINISTIC + (MORE_DETERMINISTIC if "KEYDROME_SOAK" in os.environ else ())
)
def test_the_program_of_a_cycle_shows_the_fault(number: int, tmp_path: Path) -> None:
    """A violation of isolation is reported with a C program, which makes only the few calls that prove the violation.

    Every program of the run is played, so no kind of violation is left out. With the mutant, each program repeats the
    calls. It must either get the results of the failed run, and report them as wrong, or say that the violation did not
    occur. The second case is possible because the order of the payloads of a key is free: a get may return another
    payload than in the failed run. At least one program must show the fault. With a correct library, no program may
    show a fault.
    """
    require_root_and_build()
    shown = 0
    for seed in range(SEEDS_MAX):
        case = Case(
            f"mutant_{number:02d}",
            "isolation",
            "isolation",
            parameters=ROUNDS,
            seed=f"5eed5eed5eed{seed:04x}",
        )
        report = run_case(case, tmp_path)
        programs = [
            finding["witness"]["program"]
            for finding in report["findings"]
            if finding.get("witness", {}).get("program")
        ]
        assert programs, f"seed {seed}: no violation has a program"
        for program in programs:
            wrong = library(built_settings(), "faulty", f"mutant_{number:02d}")
            status, told = played(program, [wrong], tmp_path)
            assert status in {0, 1}, told
            shown += status
            assert (status == 1) == (
                "Every call returned what it returned in the failed run." in told
            )
            assert (status == 0) == ("The violation did not occur" in told)
            assert wrongly_refused(program, tmp_path) == []
        if shown:
            return
    pytest.fail(
        f"no program showed the fault of mutant M{number} with {SEEDS_MAX} seeds: "
        "see checker/witness, which writes the programs"
    )


@pytest.mark.parametrize("name", ["indexes/global_lock", "indexes/berkeley"])
def test_a_program_of_its_own_replays_the_order_of_every_round(tmp_path: Path, name: str) -> None:
    kept, order = tmp_path / "kept", tmp_path / "order"
    folder, _, file = name.partition("/")
    done = keydrome(
        "bench",
        library(built_settings(), folder, file),
        *("--benchmark", "isolation", "--sessions", "1", "--no-control", "--seed", "9"),
        *("-p", "rounds=18", "-p", "transactions=400"),
        *("--history", str(kept), "--all-histories"),
        var=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rounds = sorted(kept.iterdir())
    assert len(rounds) == 18
    transactions = 0
    for path in rounds:
        subprocess.run([BUILD / "bin" / "certify", "--order", order, path], check=True)
        transactions += len(order.read_text().splitlines()) - 1
        program = [sys.executable, str(ROOT / "checker/replay_order.py"), str(path), str(order)]
        said = subprocess.run(program, capture_output=True, text=True, check=False)
        assert said.stdout == "the order explains every result\n", (path.name, said)
    assert transactions > 5_000
