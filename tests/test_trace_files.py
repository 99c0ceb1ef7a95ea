"""Tests of `keydrome bench --trace` and `compare --trace`, which play a user's recorded calls, and of `convert-ycsb`.

The referee, which plays and judges a session, is the real one. So are the jail (a sandbox) and the player in it, which
calls the library.
"""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from runner.inspection.trace_file import inspect_trace
from runner.manifest import RequestError
from tests.binaries import built_settings, library
from tests.referee_run import Case, finding_names, plan_of, run_plan
from tests.test_keydrome import keydrome

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from runner.settings import Settings

ALONE = ("--sessions", "1", "--no-control")
HEADER = "keydrome trace 1\n"


def trace_text(records: int, operations: int, threads: int = 2) -> str:
    """Return a trace with reads, scans, updates, inserts, deletes and aborts on two indexes."""
    source = random.Random(19)
    lines = [HEADER + "index users varchar\nindex orders int64\n"]
    lines += [f"load users user{n} name%20{n}\nload orders {n}\n" for n in range(records)]
    for n in range(operations):
        thread = n % threads
        user, order = f"user{source.randrange(records)}", source.randrange(records)
        call = source.choice(("get", "scan", "update", "insert", "delete", "abort"))
        body = {
            "get": [f"get orders {order}"],
            "scan": ["begin", f"get users {user}", "next users 20", "commit"],
            "update": ["begin", f"delete users {user}", f"insert users {user} new{n}", "commit"],
            "insert": [f"insert orders {records + n} order%25{n}"],
            "delete": [f"delete orders {records + n}"],
            "abort": ["begin", f"insert users {user}", "abort"],
        }[call]
        lines += [f"{thread} {part}\n" for part in body]
    return "".join(lines)


@pytest.fixture
def built() -> Settings:
    """Return the settings of this build."""
    return built_settings()


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Return a trace of some thousand calls."""
    path = tmp_path / "calls.trace"
    path.write_text(trace_text(3_000, 4_000))
    return path


def bench(settings: Settings, var: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    structure = library(settings, "structures", "btree")
    return keydrome("bench", structure, "--config", "rw", *ALONE, *options, var=var)


def test_a_right_library_passes(built: Settings, trace: Path, tmp_path: Path) -> None:
    answer = tmp_path / "bench.json"
    outcome = bench(built, tmp_path, "--trace", trace, "--record", "--json", answer)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "trace: calls.trace: 6,000 loaded records, " in outcome.stdout
    result = json.loads(answer.read_text())
    schema = built.root / "harness" / "schema" / "bench.v1.schema.json"
    Draft202012Validator(json.loads(schema.read_text())).validate(result)
    assert (result["benchmark"], result["instance"]) == ("trace", "recorded")
    assert result["trace"]["indexes"] == {"users": "varchar", "orders": "int64"}
    assert result["trace"]["threads"] == 2
    assert result["findings"] == []


def test_without_a_file_an_example_is_played(built: Settings, tmp_path: Path) -> None:
    outcome = bench(built, tmp_path, "--benchmark", "trace")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "trace: " not in outcome.stdout


@pytest.mark.parametrize("faulty", ["drops_1000th_write", "success_only"])
def test_a_faulty_library_is_found_out(faulty: str, trace: Path, tmp_path: Path) -> None:
    plan = plan_of(Case(faulty, "trace", "recorded")) | {"trace": str(trace)}
    ended = run_plan(plan, tmp_path)
    assert ended.report is not None, ended.errors
    assert ended.report["verdict"] == "failed"
    assert finding_names(ended.report)


def test_the_library_receives_the_keys_of_the_file(tmp_path: Path) -> None:
    """The library `only_letters` crashes at a key with a digit, so it passes only with keys of letters."""
    verdicts = {}
    for key in ("abc", "ab1"):
        path = tmp_path / key
        path.write_text(f"{HEADER}index users varchar\n0 insert users {key}\n")
        case = Case("only_letters", "trace", "recorded", plain=True)
        ended = run_plan(plan_of(case) | {"trace": str(path)}, tmp_path)
        assert ended.report is not None, ended.errors
        verdicts[key] = ended.report["verdict"]
    assert verdicts == {"abc": "passed", "ab1": "crashed"}


def test_compare_plays_the_trace(built: Settings, trace: Path, tmp_path: Path) -> None:
    answer = tmp_path / "compare.json"
    structure = library(built, "structures", "btree")
    configurations = ("--config", "rw", "--config", "exclusive", "--sessions", "1")
    outcome = keydrome(
        *("compare", structure, *configurations, "--trace", trace, "--json", answer), var=tmp_path
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "trace: calls.trace: " in outcome.stdout
    result = json.loads(answer.read_text())
    schema = built.root / "harness" / "schema" / "compare.v1.schema.json"
    Draft202012Validator(json.loads(schema.read_text())).validate(result)
    assert result["trace"]["loaded"] == 6_000


def test_the_golden_traces_are_read_or_refused(built: Settings, tmp_path: Path) -> None:
    """benchmarks/kit/tests/trace_file_test.cc reads the same traces."""
    vectors = built.root / "benchmarks" / "kit" / "tests" / "vectors" / "traces.json"
    path = tmp_path / "golden"
    for golden in json.loads(vectors.read_text())["traces"]:
        path.write_bytes(golden["text"].encode())
        if not golden["error"]:
            assert inspect_trace(path, built).threads >= 1
            continue
        with pytest.raises(RequestError) as refused:
            inspect_trace(path, built)
        assert str(refused.value).startswith(f"--trace {path}, {golden['error']}"), golden["name"]


def test_bad_files_are_refused_with_the_place_before_anything_runs(
    built: Settings, tmp_path: Path
) -> None:
    bad = tmp_path / "bad"
    cases: list[tuple[bytes, str]] = [
        (b"", "line 1, column 1: a trace must begin with the line"),
        (b"\x7fELF\x02\x01\x01\x00\n", "line 1, column 1: the line contains a control character"),
        (b"x" * 5_000_000, "line 1, column 1025: the line has more than 1024 bytes"),
        (
            f"{HEADER}index a int64\n0 gte a 1\n".encode(),
            'line 3, column 3: the operation is "gte"',
        ),
    ]
    for content, words in cases:
        bad.write_bytes(content)
        outcome = bench(built, tmp_path, "--trace", bad)
        assert outcome.returncode == 2, words
        assert outcome.stdout == ""
        assert f"{bad}, {words}" in outcome.stderr
        assert "session" not in outcome.stderr
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, words in (
        (tmp_path, "is a directory"),
        (fifo, "is a device or a pipe"),
        (tmp_path / "none", "No such file or directory"),
    ):
        outcome = bench(built, tmp_path, "--trace", path)
        assert outcome.returncode == 2
        assert words in outcome.stderr


def test_sparse_files_larger_than_the_memory_are_refused(built: Settings, tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        file.truncate(1 << 42)
    outcome = bench(built, tmp_path, "--trace", huge)
    assert outcome.returncode == 2
    assert "MiB are free: lower the number of calls in the file" in outcome.stderr


def test_options_that_do_not_fit_are_refused_with_advice(
    built: Settings, trace: Path, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.write_text("a\nb\n")
    for options, words in (
        (("--benchmark", "scan"), "scan/full plays no recorded trace: use --benchmark trace"),
        (("--threads", "3"), "the benchmark trace has no parameter 'threads'"),
        (("--keys", keys), "no instance of trace uses keys of type varchar from a file"),
    ):
        outcome = bench(built, tmp_path, "--trace", trace, *options)
        assert outcome.returncode == 2
        assert words in outcome.stderr
    structure = library(built, "structures", "btree")
    audited = ("bench", structure, "--config", "rw", "--trace", trace, "--audit")
    outcome = keydrome(*audited, var=tmp_path)
    assert outcome.returncode == 2
    assert "parameter threads, which trace does not have" in outcome.stderr


def test_a_file_that_changes_after_the_check_fails_no_library(trace: Path, tmp_path: Path) -> None:
    trace.write_text(trace.read_text() + "0 begin\n")
    plan = plan_of(Case("honest", "trace", "recorded")) | {"trace": str(trace)}
    ended = run_plan(plan, tmp_path)
    assert ended.status == 2
    assert ended.report is None
    assert "thread 0 does not end this transaction" in ended.errors


def test_an_instance_without_traces_is_refused_by_the_referee(trace: Path, tmp_path: Path) -> None:
    plan = plan_of(Case("honest", "scan", "full")) | {"trace": str(trace)}
    ended = run_plan(plan, tmp_path)
    assert ended.status == 2
    assert "scan/full does not play recorded traces" in ended.errors


def test_what_ycsb_prints_is_played(built: Settings, tmp_path: Path) -> None:
    source = random.Random(20)
    values = [
        "".join(chr(source.randrange(32, 127)) for _ in range(source.randrange(1, 130)))
        for _ in range(600)
    ]
    load, run = tmp_path / "load.txt", tmp_path / "run.txt"
    load.write_text(
        "".join(f"INSERT usertable user{n} [ field0={values[n]} ]\n" for n in range(300))
    )
    operations = [
        (
            f"READ usertable user{n} [ <all fields>]\n",
            f"UPDATE usertable user{n} [ field1={values[300 + n]} ]\n",
            f"SCAN usertable user{n} {1 + n % 50} [ <all fields>]\n",
            f"INSERT usertable user{300 + n} [ field0={values[300 + n]} ]\n",
            f"DELETE usertable user{n}\n",
        )[n % 5]
        for n in range(300)
    ]
    run.write_text("".join(operations))
    outcome = keydrome("convert-ycsb", run, "--load", load, "--threads", "3", var=tmp_path)
    assert outcome.returncode == 0, outcome.stderr
    trace = tmp_path / "ycsb.trace"
    trace.write_text(outcome.stdout)
    facts = inspect_trace(trace, built).file.facts
    assert (
        facts
        | {
            "threads": 3,
            "loaded": 300,
            "transactions": 300,
            "gets": 120,
            "inserts": 120,
            "deletes": 120,
            "next_calls": sum(n % 50 for n in range(300) if n % 5 == 2),
        }
        == facts
    )
    outcome = bench(built, tmp_path, "--trace", trace, "--record")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
