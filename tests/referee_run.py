"""Runs the referee, the program that plays and judges one session of a benchmark, for the tests of this folder.

The binaries come from the folder that KEYDROME_BUILD names; the default is build/release of this checkout.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema

from runner.slots import slots_for_tests

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("KEYDROME_BUILD", ROOT / "build" / "release")).resolve()
SLOT = slots_for_tests()[0]  # the jail's slot (its user and control group) for these tests
# `./dev soak` runs the faulty libraries with more seeds.
SEEDS = [f"5eed5eed5eed{n:04x}" for n in range(int(os.environ.get("KEYDROME_SOAK", "1")))]
_TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Case:
    """One session: which library plays which benchmark instance. The scale is the size of the instance."""

    library: str  # in lib/faulty
    benchmark: str = "sigmod2009"
    instance: str = "preliminary1"
    phase_timeout_ms: int = 60_000
    configuration: dict[str, Any] | None = None
    parameters: dict[str, int] = field(default_factory=dict)
    plain: bool = False  # leave out the operations that only check the library
    record: bool = False  # log all calls, and let the checker judge the log
    verified: bool = False  # a process outside the jail makes the calls
    seed: str = SEEDS[0]
    scale: str = "smoke"


@dataclass(frozen=True)
class Ended:
    """The result of the referee: exit status, messages, progress, and the report (None if it wrote none)."""

    status: int
    errors: str
    progress: list[dict[str, Any]]
    report: dict[str, Any] | None


def require_root_and_build() -> None:
    """Fail the test and say what to do if the user is not root or a program is not built."""
    assert os.geteuid() == 0, "the jail needs root: run these tests as root or with sudo"
    for name in ("referee", "player", "jail"):
        assert (BUILD / "bin" / name).exists(), f"{BUILD}/bin/{name} is missing: run ./dev build"


def plan_of(case: Case) -> dict[str, Any]:
    """Return the plan of a case (harness/schema/plan.v1.schema.json)."""
    library: dict[str, Any] = {"path": str(BUILD / "lib" / "faulty" / f"{case.library}.so")}
    if case.configuration is not None:
        library["configuration"] = case.configuration
    driver = {"driver": str(BUILD / "bin" / "driver")} if case.verified else {}
    return {
        "schema": "keydrome.plan.v1",
        "benchmark": case.benchmark,
        "benchmark_version": versions()[case.benchmark],
        "instance": case.instance,
        "scale": case.scale,
        "parameters": case.parameters,
        "seed": case.seed,
        "plain": case.plain,
        "record": case.record,
        "verified": case.verified,
        **driver,
        "library": library,
        "player": str(BUILD / "bin" / "player"),
        "jail": {
            "path": str(BUILD / "bin" / "jail"),
            "slot": SLOT,
            "require": "full",
            "memory_bytes": 512 << 20,
            "tmpfs_bytes": 16 << 20,
        },
        "limits": {"phase_timeout_ms": case.phase_timeout_ms, "output_bytes": 4096},
    }


@lru_cache(maxsize=1)
def versions() -> dict[str, int]:
    """Return the version of every benchmark that the referee knows."""
    text = subprocess.run(
        [BUILD / "bin" / "referee", "list"], check=True, capture_output=True, text=True, timeout=30
    ).stdout
    return {entry["name"]: entry["version"] for entry in json.loads(text)["benchmarks"]}


def run_plan(plan: dict[str, Any], folder: Path, report: Path | None = None) -> Ended:
    """Run the referee on a plan. Fail the test if the report does not fit its schema."""
    plan_path = folder / "plan.json"
    plan_path.write_text(json.dumps(plan), encoding="utf-8")
    report_path = report or folder / "report.json"
    ended = subprocess.run(
        [BUILD / "bin" / "referee", "run", plan_path, "--report", report_path, "--progress"],
        check=False,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_SECONDS,
    )
    content = None
    if report_path.is_file():
        content = json.loads(report_path.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(_report_schema()).validate(content)
    progress = [json.loads(line) for line in ended.stdout.splitlines()]
    return Ended(ended.returncode, ended.stderr, progress, content)


def run_case(case: Case, folder: Path) -> dict[str, Any]:
    """Run a case and return its report. Fail the test if the referee wrote no report."""
    ended = run_plan(plan_of(case), folder)
    assert ended.status == 0, ended.errors
    assert ended.report is not None
    return ended.report


def finding_names(report: dict[str, Any], severity: str = "required") -> set[str]:
    """Return the names of the report's findings of that severity."""
    return {entry["name"] for entry in report["findings"] if entry["severity"] == severity}


@lru_cache(maxsize=1)
def _report_schema() -> dict[str, Any]:
    path = ROOT / "harness" / "schema" / "report.v1.schema.json"
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema
