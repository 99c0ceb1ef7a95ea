"""Tests of the benchmark `differential`, which compares random calls of one thread with a model, in the real jail.

The model is a simple implementation that is known to be right; the jail is a sandbox. Correct libraries pass. For a
wrong library, the benchmark reports the few calls that reproduce the fault.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from runner.catalogue import isolating_configurations
from runner.settings import load_settings
from tests.binaries import built_settings, library
from tests.referee_run import Case, require_root_and_build, run_case
from tests.test_keydrome import keydrome
from tests.witness_programs import played, wrongly_refused

if TYPE_CHECKING:
    from pathlib import Path

# Each entry: library, accepted names of the finding, maximum number of reported calls, maximum number of lines that
# describe them. A mutant is a library with one deliberate fault, which tests/faulty/mutants.json describes.
QUICK = [
    ("mutant_52", {"corrupt_payload"}, 4, 4),
    ("throws_exception", {"exception"}, 3, 3),
]
# Some faults show only once in about a thousand calls, so up to 2205 calls remain. But a few lines describe them,
# because repeated calls share a line.
MORE = [
    ("mutant_15", {"internal"}, 6, 6),
    ("mutant_16", {"duplicate_record"}, 2205, 10),
    ("mutant_19", {"wrong_order"}, 2205, 10),
    ("mutant_37", {"missing_record", "internal"}, 10, 10),
    ("mutant_41", {"missing_record", "wrong_delete", "wrong_insert", "internal"}, 10, 10),
    ("drops_1000th_write", {"missing_record"}, 2205, 10),
    ("wrong_payload", {"corrupt_payload"}, 15, 8),
    ("skips_with_two_handles", {"missing_record", "internal"}, 100, 12),
    ("unsorted_scan", {"missing_record", "wrong_order"}, 40, 12),
    ("loses_aborts", {"aborted_read", "wrong_insert", "wrong_delete", "missing_record"}, 8, 8),
    ("success_only", {"corrupt_payload", "illegal_answer"}, 5, 5),
    ("garbage_codes", {"undocumented_code"}, 3, 3),
    ("spin_for_ever", {"timed_out"}, 110, 8),
    ("always_deadlock", {"no_progress"}, 25, 25),
]
# The lines that may follow the calls.
AFTER = re.compile(r"\n(?:The same calls in the notation|Long keys are|The C program of)")
SHOWN = re.compile(r"\n(?:This call reproduces|These (\d+) calls reproduce) the error[^\n]*:\n")


@pytest.mark.parametrize(
    ("name", "configuration"),
    [
        ("indexes/berkeley", None),
        *(("structures/btree", name) for name in isolating_configurations(load_settings())),
    ],
)
def test_right_libraries_pass(name: str, configuration: str | None, tmp_path: Path) -> None:
    folder, _, file = name.partition("/")
    options = ["--config", configuration] if configuration else []
    outcome = keydrome(
        "check",
        library(built_settings(), folder, file),
        *options,
        *("--suite", "differential", "--scale", "smoke", "--seed", "1"),
        var=tmp_path,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@pytest.mark.parametrize(
    ("name", "names", "calls", "lines"), QUICK + (MORE if "KEYDROME_SOAK" in os.environ else [])
)
def test_few_calls_are_left(
    name: str, names: set[str], calls: int, lines: int, tmp_path: Path
) -> None:
    require_root_and_build()
    case = Case(
        name,
        "differential",
        "differential",
        parameters={"calls": 20_000, "shrink_ms": 30_000},
        phase_timeout_ms=3_000,
    )
    report = run_case(case, tmp_path)
    told = [entry for entry in report["findings"] if SHOWN.search(entry["detail"])]
    assert len(told) == 1, report["findings"]
    (shown,) = told
    assert shown["name"] in names
    assert shown["severity"] == "required"
    assert shown["witness"]["program"]
    match = SHOWN.search(shown["detail"])
    assert match
    assert int(match.group(1) or 1) <= calls, shown["detail"]
    listed = AFTER.split(shown["detail"][match.end() :])[0].splitlines()
    assert len(listed) <= lines, shown["detail"]


@pytest.mark.parametrize(
    "name",
    [
        "mutant_49",
        "mutant_52",
        "drops_1000th_write",
        "unsorted_scan",
        "garbage_codes",
    ],
)
def test_the_program_shows_the_fault(name: str, tmp_path: Path) -> None:
    """The C program of a witness (the calls that prove a fault) reports the fault with the wrong library alone."""
    wrong = library(built_settings(), "faulty", name)
    witness = tmp_path / "witness"
    answer = tmp_path / "check.json"
    outcome = keydrome(
        "check",
        wrong,
        *("--suite", "differential", "--scale", "smoke", "--seed", "3"),
        *("--witness", str(witness), "--json", str(answer)),
        var=tmp_path,
    )
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    (first, *_) = json.loads(answer.read_text())["findings"]
    assert first["suite"] == "differential"
    sources = list(witness.glob("*.c"))
    assert sources, list(witness.iterdir())
    for source in sources:
        program = source.read_text(encoding="utf-8")
        status, said = played(program, [wrong], tmp_path)
        assert status == 1, said
        assert wrongly_refused(program, tmp_path) == [], source.name
