"""Tests that all verdicts stay the same in verified mode.

In this mode a process outside the jail, the sandbox of the library, chooses the calls and receives their results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.referee_run import Case, finding_names, require_root_and_build, run_case

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def real_jail() -> None:
    require_root_and_build()


@pytest.mark.parametrize(
    ("benchmark", "instance"),
    [
        ("unit", "unit"),
        ("scenarios", "visibility"),
        ("scenarios", "misuse"),
        ("differential", "differential"),
        ("isolation", "isolation"),
        ("sigmod2009", "preliminary1"),
    ],
)
def test_a_right_library_passes(benchmark: str, instance: str, tmp_path: Path) -> None:
    # The library is mutant_00, the B+-tree under gap locks without a fault. The sizes are small, because a call to
    # another process is slow: it takes microseconds if threads share processors.
    fewer = {"isolation": {"rounds": 9, "transactions": 40}, "differential": {"calls": 20_000}}
    parameters = fewer.get(benchmark, {})
    case = Case(
        "mutant_00", benchmark=benchmark, instance=instance, parameters=parameters, verified=True
    )
    report = run_case(case, tmp_path)
    assert (report["verdict"], report["reason"]) == ("passed", "")
    assert report["verified"]


@pytest.mark.parametrize(
    ("library", "benchmark", "instance", "finding"),
    [
        ("success_only", "sigmod2009", "preliminary1", "impossible_record"),
        ("drops_1000th_write", "sigmod2009", "preliminary1", "missing_record"),
        # In scenarios the threads take turns, so the phantom appears on a busy machine, too.
        ("allows_phantoms", "scenarios", "anomalies", "phantom"),
        ("throws_exception", "unit", "unit", "exception"),
        ("loses_aborts", "differential", "differential", "aborted_read"),
    ],
)
def test_a_wrong_library_is_found_out(
    library: str, benchmark: str, instance: str, finding: str, tmp_path: Path
) -> None:
    case = Case(library, benchmark=benchmark, instance=instance, verified=True)
    report = run_case(case, tmp_path)
    assert report["verdict"] == "failed", report["reason"]
    assert finding in finding_names(report)


def test_a_benchmark_is_certified(tmp_path: Path) -> None:
    """A session in verified mode can be recorded and certified like any other session."""
    report = run_case(Case("mutant_00", record=True, verified=True), tmp_path)
    assert (report["verdict"], report["reason"]) == ("passed", "")
    assert report["record"]
    assert report["verified"]
