"""Tests of the configuration `bare`, which runs a data structure without transactions and locks.

Supported runs pass, and other runs are refused with a hint.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.binaries import built_settings, library
from tests.test_keydrome import keydrome

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

ALONE = ("--threads", "1", "-p", "auto_commit=1")
SMALL = ("--scale", "smoke", "-p", "records=1000", "-p", "operations_per_thread=400")


def bench(
    *options: str, structure: str = "btree", var: Path
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run one session of YCSB on a structure. The control library, otherwise timed for comparison, does not run."""
    answer = var / "bench.json"
    outcome = keydrome(
        "bench",
        library(built_settings(), "structures", structure),
        *("--config", "bare", "--benchmark", "ycsb", "--sessions", "1", "--no-control"),
        *(*SMALL, *options, "--json", str(answer)),
        var=var,
    )
    return outcome, json.loads(answer.read_text())


@pytest.mark.parametrize("instance", ["a", "e", "many_indices"])
def test_ycsb_runs_on_a_structure_alone(instance: str, tmp_path: Path) -> None:
    outcome, result = bench("--instance", instance, *ALONE, var=tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert result["findings"] == []
    assert result["configuration"]["name"] == "bare"
    metrics = result["sessions"][0]["metrics"]
    assert metrics["operations_per_s"] > 0
    assert metrics["hit_ratio"] == 1


def test_several_threads_are_refused_before_the_first_call(tmp_path: Path) -> None:
    outcome, result = bench("--threads", "2", "-p", "auto_commit=1", var=tmp_path)
    assert outcome.returncode == 2, outcome.stdout + outcome.stderr
    assert result["verdict"] == "unsupported"
    assert "2 threads will call" in result["reason"]
    assert "ycsb with auto_commit=1 and threads=1" in result["reason"]


def test_keys_that_the_structure_cannot_hold_are_refused_before_the_first_call(
    tmp_path: Path,
) -> None:
    answer = tmp_path / "bench.json"
    file = library(built_settings(), "test_structures", "small_ordered")
    options = ("--benchmark", "unit", "--instance", "unit", "--no-control", "--sessions", "1")
    outcome = keydrome(
        "bench", file, "--config", "rw", *options, "--json", str(answer), var=tmp_path
    )
    assert outcome.returncode == 2, outcome.stdout + outcome.stderr
    result = json.loads(answer.read_text())
    assert result["verdict"] == "unsupported"
    assert "small holds only keys of 8 bytes" in result["reason"]


def test_a_change_in_a_transaction_is_refused_with_advice(tmp_path: Path) -> None:
    outcome, result = bench("--threads", "1", var=tmp_path)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert result["findings"][0]["name"] == "illegal_answer"
    assert "deleteRecord returned FAILURE" in result["findings"][0]["detail"]
    assert "(ycsb: -p auto_commit=1)" in outcome.stdout


def test_the_gate_refuses_it(tmp_path: Path) -> None:
    """The correctness suites refuse a structure under `bare`, so no ranking (board) can contain it."""
    answer = tmp_path / "bench.json"
    options = ("--benchmark", "unit", "--json", str(answer))
    outcome = keydrome("bench", "btree:bare", *options, var=tmp_path)
    assert outcome.returncode == 2, outcome.stdout + outcome.stderr
    assert json.loads(answer.read_text())["verdict"] == "unsupported"


def test_the_baseline_fails_although_it_answers(tmp_path: Path) -> None:
    outcome, result = bench("--instance", "int64_c", *ALONE, structure="null", var=tmp_path)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert {"missing_record", "wrong_delete"} <= {finding["name"] for finding in result["findings"]}
    assert result["sessions"][0]["metrics"]["operations_per_s"] > 0
