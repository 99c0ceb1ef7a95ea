"""Tests of `keydrome bench --keys` and `compare --keys`, which play a benchmark with the keys of a user's file."""

from __future__ import annotations

import json
import os
import random
import re
import struct
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from tests.binaries import built_settings, library
from tests.referee_run import Case, finding_names, plan_of, run_plan
from tests.test_keydrome import keydrome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runner.settings import Settings

KEYS = 30_000
ALONE = ("--sessions", "1", "--no-control")
HIGH = 1 << 63


def sosd(path: Path, keys: list[int]) -> Path:
    """Write keys in SOSD's binary format."""
    path.write_bytes(struct.pack(f"<{len(keys) + 1}Q", len(keys), *keys))
    return path


def integers(path: Path, count: int = KEYS) -> Path:
    """Write integers in random order, half of them too large for a signed integer."""
    source = random.Random(19)
    keys = source.sample(range(1 << 20, 1 << 63), count)
    return sosd(path, [key | HIGH if index % 2 else key for index, key in enumerate(keys)])


def texts(path: Path, count: int = KEYS) -> Path:
    """Write strings that are not UTF-8, and that begin with any byte that is allowed there."""
    source = random.Random(20)
    firsts = bytes({*range(2, 256)} - {0x0A, 0x0D})
    lines = (
        bytes([source.choice(firsts)]) + f"{number}/".encode() * source.randrange(1, 15)
        for number in range(count)
    )
    path.write_bytes(b"\n".join(lines))
    return path


@pytest.fixture
def built() -> Settings:
    """Return the settings of this build."""
    return built_settings()


def test_every_command_of_the_guide_works(built: Settings, tmp_path: Path) -> None:
    page = (built.root / "docs" / "how-to" / "use-your-own-data.md").read_text()
    commands = re.findall(r"^```\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(commands) == 10
    for command in commands:
        local = command.replace("build/release", str(built.build))
        outcome = subprocess.run(
            ["bash", "-c", local.replace(".venv/bin/keydrome", f"{sys.executable} -m cli")],
            cwd=tmp_path,
            env={
                **os.environ,
                "KEYDROME_VAR": str(tmp_path),
                "KEYDROME_ROOT": str(built.root),
                "PYTHONPATH": str(built.root),
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert outcome.returncode == 0, command + outcome.stdout + outcome.stderr
        if "keydrome bench" in command or "keydrome compare" in command:
            assert ("trace: " if "--trace" in command else "keys: ") in outcome.stdout


def bench(settings: Settings, var: Path, *options: str | Path) -> subprocess.CompletedProcess[str]:
    structure = library(settings, "structures", "btree")
    return keydrome("bench", structure, "--config", "rw", *ALONE, *options, var=var)


@pytest.mark.parametrize(
    ("benchmark", "kind"),
    [
        ("keysets", "int64"),
        ("keysets", "varchar"),
        ("lookups", "int64"),
        ("inserts", "int64"),
        ("scan", "int64"),
        ("ycsb", "varchar"),
        ("ycsb", "int64"),
    ],
)
def test_a_right_library_passes_with_keys_of_a_file(
    benchmark: str, kind: str, built: Settings, tmp_path: Path
) -> None:
    keys = (integers if kind == "int64" else texts)(tmp_path / "keys")
    answer = tmp_path / "bench.json"
    options = ("--benchmark", benchmark, "--keys", keys, "--json", answer)
    outcome = bench(built, tmp_path, *options)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert f"keys: keys: {KEYS:,} " in outcome.stdout
    assert ("line segments per million keys" in outcome.stdout) == (kind == "int64")
    result = json.loads(answer.read_text())
    schema = built.root / "harness" / "schema" / "bench.v1.schema.json"
    Draft202012Validator(json.loads(schema.read_text())).validate(result)
    assert (result["keys"]["type"], result["keys"]["count"]) == (kind, KEYS)
    assert result["findings"] == []


@pytest.mark.parametrize(("instance", "write"), [("uniform", integers), ("email_like", texts)])
def test_a_library_that_drops_writes_is_found_out(
    instance: str, write: Callable[[Path], Path], tmp_path: Path
) -> None:
    case = Case("drops_1000th_write", "keysets", instance)
    plan = plan_of(case) | {"keys": str(write(tmp_path / "keys"))}
    ended = run_plan(plan, tmp_path)
    assert ended.report is not None, ended.errors
    assert ended.report["verdict"] == "failed"
    assert "missing_record" in finding_names(ended.report)


def test_the_library_receives_the_keys_of_the_file(tmp_path: Path) -> None:
    """The library `only_letters` crashes at a key with a digit, so it passes only with keys of letters."""
    numbers = tmp_path / "numbers"
    numbers.write_text("".join(f"{number}\n" for number in range(KEYS)))
    letters = tmp_path / "letters"
    digits = str.maketrans("0123456789", "abcdefghij")
    letters.write_text(numbers.read_text().translate(digits))
    verdicts = {}
    for keys in (numbers, letters):
        case = Case("only_letters", "lookups", "misses_suffix", plain=True)
        ended = run_plan(plan_of(case) | {"keys": str(keys)}, tmp_path)
        assert ended.report is not None, ended.errors
        verdicts[keys.name] = ended.report["verdict"]
    assert verdicts == {"numbers": "crashed", "letters": "passed"}


def test_compare_uses_the_keys(built: Settings, tmp_path: Path) -> None:
    answer = tmp_path / "compare.json"
    structure = library(built, "structures", "btree")
    configurations = ("--config", "rw", "--config", "exclusive", "--sessions", "1")
    options = ("--benchmark", "scan", "--instance", "range_100", "--json", answer)
    outcome = keydrome(
        *("compare", structure, *configurations, *options),
        *("--keys", integers(tmp_path / "keys")),
        var=tmp_path,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "line segments per million keys" in outcome.stdout
    result = json.loads(answer.read_text())
    schema = built.root / "harness" / "schema" / "compare.v1.schema.json"
    Draft202012Validator(json.loads(schema.read_text())).validate(result)
    assert result["keys"]["shifted"] is True


def test_bad_files_are_refused_with_the_place_before_anything_runs(
    built: Settings, tmp_path: Path
) -> None:
    whole = sosd(tmp_path / "whole", [1, 2, 3]).read_bytes()
    bad = tmp_path / "bad"
    cases: list[tuple[bytes, str]] = [
        (b"", "is empty"),
        (whole[:-3], "byte 29: the file ends here, but its first 8 bytes give the count 3"),
        (
            whole + b"x",
            "byte 32: the file continues here, but its first 8 bytes say that it ends after 3 keys",
        ),
        (sosd(tmp_path / "twice", [5, 5]).read_bytes(), "byte 16: the key 5 is also at byte 8"),
        (b"a\n\nb\n", "line 2, column 1: the line is empty"),
        (b"a\n" + b"b" * 129, "line 2, column 129: the key has 129 bytes"),
        (b"abcdefgh\nx\0y\n", "line 2, column 2: the key contains a zero byte"),
        (b"a\nb\na\n", "line 3, column 1: the key is also in line 1"),
    ]
    for content, words in cases:
        bad.write_bytes(content)
        outcome = bench(built, tmp_path, "--benchmark", "keysets", "--keys", bad)
        assert outcome.returncode == 2, words
        assert outcome.stdout == ""
        assert f"{bad}" in outcome.stderr
        assert words in outcome.stderr
        assert "session" not in outcome.stderr
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, words in (
        (tmp_path, "is a directory"),
        (fifo, "is a device or a pipe"),
        ("/dev/zero", "is a device or a pipe"),
        (tmp_path / "none", "No such file or directory"),
    ):
        outcome = bench(built, tmp_path, "--benchmark", "keysets", "--keys", path)
        assert outcome.returncode == 2
        assert words in outcome.stderr


def test_keys_that_do_not_fit_the_instance_are_refused_with_advice(
    built: Settings, tmp_path: Path
) -> None:
    few = sosd(tmp_path / "few", list(range(9_000)))
    lines = texts(tmp_path / "lines")
    for options, words in (
        (("--benchmark", "sigmod2009", "--keys", few), "choose another benchmark, for example"),
        (("--benchmark", "scan", "--keys", lines), "no instance of scan uses keys of type varchar"),
        (
            ("--benchmark", "keysets", "--instance", "uniform", "--keys", lines),
            "keysets/uniform does not use keys of type varchar from a file; choose one of: email_like",
        ),
        (
            ("--benchmark", "lookups", "--keys", few),
            "only 9000: give a file with more keys, or lower the parameter records to 4500 or less (-p records=4500)",
        ),
    ):
        outcome = bench(built, tmp_path, *options)
        assert outcome.returncode == 2
        assert words in outcome.stdout + outcome.stderr


def test_a_file_that_changes_after_the_check_fails_no_library(tmp_path: Path) -> None:
    keys = sosd(tmp_path / "keys", list(range(9_000)))
    keys.write_bytes(keys.read_bytes()[:-5])
    plan = plan_of(Case("honest", "scan", "full")) | {"keys": str(keys)}
    ended = run_plan(plan, tmp_path)
    assert ended.status == 2
    assert ended.report is None
    assert "give a complete file" in ended.errors


def test_sparse_files_larger_than_the_memory_are_refused(built: Settings, tmp_path: Path) -> None:
    huge = tmp_path / "huge"
    size = 1 << 42
    with huge.open("wb") as file:
        file.write(struct.pack("<Q", size // 8 - 1))
        file.truncate(size)
    outcome = bench(built, tmp_path, "--benchmark", "keysets", "--keys", huge)
    assert outcome.returncode == 2
    assert "MiB are free: lower the number of keys in the file" in outcome.stderr
