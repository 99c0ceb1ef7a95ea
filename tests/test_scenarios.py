"""Tests of the benchmark `scenarios`, whose scripts provoke faults.

Correct libraries pass. Wrong libraries get a witness: the few calls that prove the fault, often with a C program that
repeats these calls.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from runner.catalogue import isolating_configurations
from runner.settings import load_settings
from tests.binaries import built_settings, library
from tests.referee_run import Case, finding_names, require_root_and_build, run_case
from tests.test_keydrome import keydrome
from tests.witness_programs import played, wrongly_refused

if TYPE_CHECKING:
    from pathlib import Path

ALL = 1000  # larger than the number of programs, so that all of them must show the fault


@pytest.mark.parametrize(
    ("name", "configuration"),
    [
        ("indexes/global_lock", None),
        ("indexes/berkeley", None),
        ("indexes/lmdb", None),
        *(("structures/btree", name) for name in isolating_configurations(load_settings())),
    ],
)
def test_right_libraries_pass_without_a_warning(
    name: str, configuration: str | None, tmp_path: Path
) -> None:
    """Libraries with different protocols pass, although conflicts end differently.

    A conflict may lead to waiting, to DEADLOCK at once, to DEADLOCK at commit, or to reading old versions.
    """
    folder, _, file = name.partition("/")
    options = ["--config", configuration] if configuration else []
    answer = tmp_path / "check.json"
    outcome = keydrome(
        "check",
        library(built_settings(), folder, file),
        *options,
        *("--suite", "scenarios", "--scale", "smoke", "--json", str(answer)),
        var=tmp_path,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    findings = json.loads(answer.read_text())["findings"]
    # Warnings that a short pause of the machine causes are accepted, because they are not a fault of the library.
    accepted = {"clock_disagrees"}
    # The log of berkeley has 512 MiB and fills with each write, so its memory really grows until then.
    accepted |= {"memory_growth"} if file == "berkeley" else set()
    assert [f for f in findings if f["name"] not in accepted] == [], outcome.stdout


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("allows_phantoms", "phantom"),
        ("loses_aborts", "dirty_read"),
        ("wrong_payload", "corrupt_payload"),
        ("unsorted_scan", "cursor"),
        ("garbage_codes", "undocumented_code"),
        ("success_only", "corrupt_payload"),
    ],
)
def test_wrong_libraries_are_named(name: str, finding: str, tmp_path: Path) -> None:
    """A wrong library gets the expected finding, which names the scenario and its steps."""
    answer = tmp_path / "check.json"
    outcome = keydrome(
        "check",
        library(built_settings(), "faulty", name),
        *("--suite", "scenarios", "--scale", "smoke", "--seed", "3"),
        *("--json", str(answer)),
        var=tmp_path,
    )
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    findings = json.loads(answer.read_text())["findings"]
    names = {f["name"] for f in findings}
    assert finding in names, findings
    # None of these libraries forges a report. success_only has one handle for all indexes.
    assert "outcome_mismatch" not in names, findings
    assert ("shared_handle" in names) == (name == "success_only"), findings
    # Wrong results of misuse, even a crash, are only warnings, so only required findings are checked here.
    told = [f["detail"] for f in findings if f["severity"] == "required"]
    assert all(detail.startswith("S") for detail in told), told
    assert any(
        "\nrecords before (key = payload): " in detail and "\nthread 0 " in detail
        for detail in told
    ), told


def test_what_happens_on_misuse_is_a_warning(tmp_path: Path) -> None:
    """A crash in a call that no correct client makes is a warning and decides nothing."""
    require_root_and_build()
    report = run_case(Case("crashes_on_misuse", "scenarios", "misuse"), tmp_path)
    assert report["verdict"] == "passed", report["reason"]
    assert finding_names(report) == set()
    assert "crashed" in finding_names(report, "advisory"), report["findings"]


@pytest.mark.parametrize(
    ("name", "programs_min", "shown_min"),
    [
        ("allows_phantoms", 3, ALL),
        ("denies_deletes", 10, ALL),
        ("drops_1000th_write", 1, 0),
        ("unsorted_scan", 3, 1),
    ],
)
def test_the_program_of_a_witness_shows_the_fault(
    name: str, programs_min: int, shown_min: int, tmp_path: Path
) -> None:
    """The command writes C programs. They show the fault of the wrong library, and no fault of a correct one.

    The faults of two libraries depend on how many calls the process has made before. unsorted_scan is wrong at every
    tenth getNext, so some programs show the fault. drops_1000th_write is wrong at every thousandth insert, and the
    program of a scenario makes at most some hundred calls, because a person must be able to read it. So its programs
    must say that the violation did not occur. The program that shows this fault is that of the benchmark differential,
    which fills an index first (test_differential.py).
    """
    wrong = library(built_settings(), "faulty", name)
    witness = tmp_path / "witness"
    options = ["--suite", "scenarios", "--scale", "smoke", "--seed", "3"]
    options += ["--witness", str(witness)]
    assert keydrome("check", wrong, *options, var=tmp_path).returncode == 1
    sources = sorted(witness.glob("*.c"))
    assert len(sources) >= programs_min, list(witness.iterdir())
    silent = {}
    for source in sources:
        program = source.read_text(encoding="utf-8")
        status, said = played(program, [wrong], tmp_path)
        assert status == 1 or "The violation did not occur" in said, (source.name, said)
        if status != 1:
            # The program makes 100 attempts, which print almost the same. So it prints only the first.
            assert "attempt 1\n" in said
            assert "attempt 2\n" not in said
            silent[source.name] = said
        assert wrongly_refused(program, tmp_path) == [], source.name
    assert len(sources) - len(silent) >= min(shown_min, len(sources)), silent
