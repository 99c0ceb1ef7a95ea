"""Tests how the runner handles a referee that fails. Shell scripts replace the referee.

The referee is the program that runs a library in the sandbox and judges it. tests/test_runner.py tests the runner with
the real referee.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner import referee
from runner.contract import Cancelled, RefereeError
from runner.manifest import find_benchmark, load_benchmarks, parse_benchmark
from runner.referee import about_structure, build_plan, run_session, validate_report
from runner.request import Loadable, Request, timeout_factor_of
from runner.strict import parse_object
from runner.terms import JailLevel, Scale
from runner.tests.samples import MANIFEST, report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.report import Report
    from runner.settings import Settings

SEED = "00000000000000aa"


@pytest.fixture
def one_request() -> Request:
    return Request(
        benchmark=parse_benchmark(MANIFEST, "sample"),
        instance="small",
        scale=Scale.SMOKE,
        overrides={},
        seeds=(SEED,),
        plain=False,
        require=JailLevel.FULL,
        control=True,
    )


def with_referee(script: str, settings: Settings, folder: Path) -> Settings:
    """Return settings with `script` as the referee. The script's arguments are: run PLAN --report FILE --progress."""
    path = folder / "build" / "bin" / "referee"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return replace(settings, build=folder / "build")


def session(
    script: str, settings: Settings, one_request: Request, folder: Path, heartbeats: int = 1000
) -> tuple[Report, list[tuple[str, int, int]]]:
    ticks: list[tuple[str, int, int]] = []

    def tick(phase: str, index: int, count: int) -> bool:
        ticks.append((phase, index, count))
        return len(ticks) < heartbeats

    settings = with_referee(script, settings, folder)
    work = folder / "work"
    work.mkdir()
    plan = build_plan(Loadable(folder / "library.so"), one_request, SEED, settings)
    return run_session(plan, work, settings, tick), ticks


def test_the_plan_fits_its_schema(settings: Settings, one_request: Request, tmp_path: Path) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import

    path = settings.root / "harness" / "schema" / "plan.v1.schema.json"
    validator = Draft202012Validator(parse_object(path.read_bytes(), str(path)))
    plain = build_plan(Loadable(tmp_path / "library.so"), one_request, SEED, settings)
    validator.validate(plain)
    structure = Loadable(tmp_path / "runtime.so", tmp_path / "btree.so", {"name": "rw"})
    full = build_plan(
        structure,
        replace(one_request, overrides={"threads": 2}, memory_bytes=1 << 29),
        SEED,
        replace(settings, cpus="0-1"),
    )
    validator.validate(full)
    assert full["library"]["configuration"] == {"name": "rw"}
    assert full["parameters"] == {"threads": 2}
    assert full["jail"]["cpus"] == "0-1"
    assert full["jail"]["memory_bytes"] == 1 << 29
    assert "memory_bytes" not in plain["jail"], "the referee computes the limit"


def test_a_busy_machine_gets_more_time(settings: Settings, tmp_path: Path) -> None:
    benchmark = find_benchmark(load_benchmarks(settings.root), "scenarios")
    request = Request(
        benchmark=benchmark,
        instance=next(iter(benchmark.instances)),
        scale=Scale.SMOKE,
        overrides={},
        seeds=(SEED,),
        plain=False,
        require=JailLevel.NONE,
        control=False,
    )
    manifest = benchmark.limits[Scale.SMOKE]
    loadable = Loadable(tmp_path / "library.so")
    usual = build_plan(loadable, request, SEED, settings)["limits"]
    # The plan leaves the session's limit out, because the referee reads this limit from the manifest.
    assert usual == {"phase_timeout_ms": manifest.phase_timeout_ms}
    for attempt, factor in ((1, 1), (2, 3), (3, 9), (4, 9)):
        assert timeout_factor_of(attempt) == factor
    longer = build_plan(loadable, replace(request, timeout_factor=9), SEED, settings)["limits"]
    assert manifest.session_timeout_ms
    assert longer == {
        "phase_timeout_ms": 9 * manifest.phase_timeout_ms,
        "session_timeout_ms": 9 * manifest.session_timeout_ms,
    }


def test_slots_take_the_lists_of_cores_in_turn(
    settings: Settings, one_request: Request, tmp_path: Path
) -> None:
    plans = [
        build_plan(
            Loadable(tmp_path / "library.so"),
            one_request,
            SEED,
            replace(settings, cpus="0-3;4-7", slot=n),
        )
        for n in range(3)
    ]
    assert [plan["jail"]["cpus"] for plan in plans] == ["0-3", "4-7", "0-3"]


def test_a_report_and_progress_come_through(
    settings: Settings, one_request: Request, tmp_path: Path
) -> None:
    line = json.dumps({"event": "phase", "name": "test", "index": 1, "of": 4})
    script = f"printf '%s\\n' '{line}'\ncat > \"$4\" <<'END'\n{json.dumps(report().to_json())}\nEND"
    result, ticks = session(script, settings, one_request, tmp_path)
    assert result == report()
    assert ("test", 1, 4) in ticks


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "echo 'referee: no such instance' >&2; exit 2",
            "cannot play the session: no such instance",
        ),
        ("exit 3", "could not write the report or a history, and printed no reason; this is an"),
        (
            (
                'echo "referee: cannot write $4: No space left on device: free space on this disk, '
                'or write to another disk" >&2; exit 3'
            ),
            "referee cannot write /.*/report.json: No space left on device: correct this cause, or set KEYDROME_VAR",
        ),
        (
            'echo "referee: cannot write /x: Permission denied: fix this problem, or name another file" >&2; exit 3',
            "could not write the report or a history: cannot write /x: Permission denied: fix this problem, or name",
        ),
        ("kill -SEGV $$", "was killed by signal 11 .*, and printed no reason; this is an error of"),
        (
            "kill -KILL $$",
            "was killed by signal 9 .*, probably because memory ran out: run again with",
        ),
        ("true", "wrote no usable report"),
        ('echo nonsense > "$4"', "wrote no usable report"),
        ("echo '{}' > \"$4\"", "violates the schema keydrome.report.v1"),
        ("echo 'not json'; cat", "progress: not valid JSON"),
        ('echo \'{"event": "phase"}\'', "a malformed progress line"),
    ],
)
def test_a_referee_that_fails_is_a_referee_error(
    script: str, words: str, settings: Settings, one_request: Request, tmp_path: Path
) -> None:
    with pytest.raises(RefereeError, match=words):
        session(script, settings, one_request, tmp_path)


def test_a_report_about_another_session_is_not_taken(
    settings: Settings, one_request: Request, tmp_path: Path
) -> None:
    other = {**report().to_json(), "seed": "00000000000000bb"}
    script = f"cat > \"$4\" <<'END'\n{json.dumps(other)}\nEND"
    with pytest.raises(RefereeError, match="another session: its seed is '00000000000000bb'"):
        session(script, settings, one_request, tmp_path)


def test_a_missing_referee_is_named(
    settings: Settings, one_request: Request, tmp_path: Path
) -> None:
    settings = replace(settings, build=tmp_path)
    plan = build_plan(Loadable(tmp_path / "library.so"), one_request, SEED, settings)
    with pytest.raises(RefereeError, match=r"referee is missing: run \./dev build"):
        run_session(plan, tmp_path, settings, lambda *_: True)


@contextmanager
def noted_process(path: Path) -> Iterator[None]:
    """At the end, check that the process whose id the script has written to `path` has ended."""
    yield
    number = int(path.read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_cancelling_ends_the_referee(
    settings: Settings, one_request: Request, tmp_path: Path
) -> None:
    note = tmp_path / "pid"
    with noted_process(note), pytest.raises(Cancelled):
        session(f"echo $$ > {note}; exec sleep 600", settings, one_request, tmp_path, heartbeats=3)


def test_cancelling_ends_a_referee_that_ignores_the_request(
    settings: Settings, one_request: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(referee, "STOP_SECONDS", 0.2)
    note = tmp_path / "pid"
    script = f"trap '' TERM; echo $$ > {note}; while :; do read line < /dev/zero; done"
    with noted_process(note), pytest.raises(Cancelled):
        session(script, settings, one_request, tmp_path, heartbeats=3)


def test_a_silent_referee_is_stopped(
    settings: Settings, one_request: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The limit of silence is SILENCE_SECONDS plus the phase's time limit of 1 s: 0.5 s.
    monkeypatch.setattr(referee, "SILENCE_SECONDS", -0.5)
    note = tmp_path / "pid"
    began = time.monotonic()
    with noted_process(note), pytest.raises(RefereeError, match="wrote no progress"):
        session(f"echo $$ > {note}; exec sleep 600", settings, one_request, tmp_path)
    assert time.monotonic() - began < 30


def test_the_schema_names_the_place_of_a_violation(settings: Settings) -> None:
    assert validate_report(report().to_json(), settings.root) == ""
    assert validate_report({**report().to_json(), "verdict": "fine"}, settings.root).startswith(
        "verdict: "
    )
    odd = {**report().to_json(), "metrics": {"total_ms": "fast"}}
    assert validate_report(odd, settings.root).startswith("metrics/total_ms: ")
    long = {**report().to_json(), "metrics": list(range(200))}
    assert validate_report(long, settings.root) == (
        "metrics: an array with 200 entries is not of type 'object'"
    )


def test_a_rejected_structure_is_not_named_by_its_path_in_the_jail() -> None:
    refused = "the library refused its configuration: "
    why = "cannot be used: its KeydromeStructureTable leaves the member name null; set it"
    assert about_structure(f"{refused}the structure /structure.so {why}") == f"the structure {why}"
    assert about_structure(f"{refused}unknown field") == f"{refused}unknown field"
