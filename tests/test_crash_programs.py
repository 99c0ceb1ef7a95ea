"""Tests the C programs that repeat a library's crash: they must crash with this library, not with a correct one."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.binaries import built_settings, library
from tests.referee_run import Case, require_root_and_build, run_case
from tests.witness_programs import played, wrongly_refused

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

# Each entry: library, benchmark, instance, and the signal that ends the process.
CRASHES = [
    ("crashes_when_large", "sigmod2009", "preliminary1", signal.SIGSEGV),
    ("crashes_when_large", "ycsb", "a", signal.SIGSEGV),
    ("crashes_when_large", "isolation", "isolation", signal.SIGSEGV),
    ("crashes_when_large", "scenarios", "anomalies", signal.SIGSEGV),
    ("crashes_in_large_aborts", "scenarios", "extremes", signal.SIGABRT),
]


def crash(name: str, benchmark: str, instance: str, folder: Path) -> dict[str, Any]:
    """Play a session (one repetition of a benchmark) and return the finding of its crash."""
    require_root_and_build()
    report = run_case(Case(name, benchmark, instance), folder)
    found = [entry for entry in report["findings"] if entry["name"] == "crashed"]
    assert len(found) == 1, report["verdict"]
    finding: dict[str, Any] = found[0]
    return finding


@pytest.mark.parametrize(("name", "benchmark", "instance", "by"), CRASHES)
def test_the_program_crashes_like_the_library(
    name: str,
    benchmark: str,
    instance: str,
    by: signal.Signals,
    tmp_path: Path,
) -> None:
    """Rarely, on a busy machine, the program made fewer inserts than the session. So one of three sessions suffices."""
    for _ in range(3):
        finding = crash(name, benchmark, instance, tmp_path)
        assert by.name in finding["detail"]
        program = finding["witness"]["program"]
        wrong = library(built_settings(), "faulty", name)
        status, told = played(program, [wrong], tmp_path)
        if status == -by:
            break
    assert status == -by, told
    assert wrongly_refused(program, tmp_path) == []
    right = library(built_settings(), "indexes", "global_lock")
    status, told = played(program, [right], tmp_path)
    assert status == 0
    assert "The crash did not occur" in told
