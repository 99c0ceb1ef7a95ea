"""Tests of the benchmark `scenarios`, whose scripts provoke faults.

Correct libraries pass. Wrong libraries get a witness: the few calls that prove the fault, often with a C program that
repeats these calls.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from runner.catalogue import isolating_configurations
from runner.settings import load_settings
from tests.binaries import built_settings, library
from tests.referee_run import Case, finding_names, require_root_and_build, run_case
from tests.test_keydrome import keydrome

ROOT = Path(__file__).resolve().parent.parent
RUN_SECONDS = 60


@pytest.mark.parametrize(
    ("name", "configuration"),
    [
        ("indexes/global_lock", None),
        ("indexes/berkeley", None),
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
    assert [f for f in findings if f["name"] != "clock_disagrees"] == [], outcome.stdout


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
    assert any("\nbefore: " in detail and "\nT1 " in detail for detail in told), told


def test_what_happens_on_misuse_is_a_warning(tmp_path: Path) -> None:
    """A crash in a call that no correct client makes is a warning and decides nothing."""
    require_root_and_build()
    report = run_case(Case("crashes_on_misuse", "scenarios", "misuse"), tmp_path)
    assert report["verdict"] == "passed", report["reason"]
    assert finding_names(report) == set()
    assert "crashed" in finding_names(report, "advisory"), report["findings"]


def _built(source: Path, linked: Path) -> Path:
    program = source.with_suffix("")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pthread", "-I", str(ROOT / "api/include")]
    subprocess.run(
        ["cc", *flags, str(source), str(linked), "-o", str(program)], check=True, timeout=60
    )
    return program


def test_the_program_of_a_witness_shows_the_fault(tmp_path: Path) -> None:
    """The program of a witness reports the fault with the wrong library, and no fault with a correct library."""
    settings = built_settings()
    wrong = library(settings, "faulty", "allows_phantoms")
    right = library(settings, "indexes", "global_lock")
    witness = tmp_path / "witness"
    options = ["--suite", "scenarios", "--scale", "smoke", "--seed", "3"]
    options += ["--witness", str(witness)]
    assert keydrome("check", wrong, *options, var=tmp_path).returncode == 1
    sources = sorted(witness.glob("*.c"))
    assert len(sources) >= 3, list(witness.iterdir())
    shown = 0
    for source in sources:
        told = subprocess.run(
            [_built(source, wrong)],
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert told.returncode in {0, 1}, told.stdout + told.stderr
        shown += told.returncode
        quiet = subprocess.run(
            [_built(source, right)],
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert quiet.returncode == 0, quiet.stdout + quiet.stderr
    assert shown >= 1, "no program showed its fault"
