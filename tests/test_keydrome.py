"""Tests of the commands `keydrome bench`, `check`, `compare` and `plot` with the real referee, player and jail.

The referee plays and judges a session. The player, the program in the jail (a sandbox), calls the library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from cli.input.read_result import read_result
from results.plots.pictures import pictures
from tests.binaries import built_settings, library

if TYPE_CHECKING:
    from runner.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
KEYDROME = [sys.executable, "-m", "cli"]
COMMAND_SECONDS = 300


@pytest.fixture
def built() -> Settings:
    """Return the settings of this build."""
    return built_settings()


def keydrome(
    *arguments: str | Path, var: Path, wrapper: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run `keydrome` as a user would. If `wrapper` is given, this command runs `keydrome`."""
    return subprocess.run(
        [*wrapper, *KEYDROME, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "KEYDROME_VAR": str(var)},
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )


def unwrapped(text: str) -> str:
    """Return the text with one space between two words, so that it does not matter where a line ends."""
    return " ".join(text.split())


def test_bench_of_a_right_library_fits_one_screen(tmp_path: Path) -> None:
    outcome = keydrome("bench", "btree", "--benchmark", "smallbank", var=tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    lines = outcome.stdout.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    assert lines[-1] == "btree.so, this run's own checks: passed"


def test_bench_prints_a_table_and_writes_json_that_fits_its_schema(
    built: Settings, tmp_path: Path
) -> None:
    answer = tmp_path / "bench.json"
    file = library(built, "indexes", "global_lock")
    options = ["--seed", "0xaa", "--sessions", "2", "--details", "--json", str(answer)]
    outcome = keydrome("bench", file, *options, var=tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    for words in (
        "00000000000000aa",
        "total, ms",
        "populate, ms",
        "transactions per second",
        "transactions completed",
        "deadlocks",
        "jail: full",
        "candidate / control",
        "provisional",
        "global_lock.so on sigmod2009/preliminary1 version",
        "speed: ",
        "Isolation of transactions is not judged here",
        "machine: load",
        f"next: run `keydrome check {file}` to judge isolation",
        "passed",
    ):
        assert words in unwrapped(outcome.stdout)
    assert outcome.stderr.splitlines() == [
        "sigmod2009/preliminary1: session 1/2",
        "sigmod2009/preliminary1: session 2/2",
    ]
    schema = built.root / "harness" / "schema" / "bench.v1.schema.json"
    result = json.loads(answer.read_text())
    Draft202012Validator(json.loads(schema.read_text())).validate(result)
    assert result["summary"]["ratio"] > 0
    # The seed of the second session repeats that session exactly.
    second = result["sessions"][1]["seed"]
    options = ["--seed", second, "--sessions", "1", "--no-control", "--json", str(answer)]
    again = keydrome("bench", file, *options, var=tmp_path)
    assert again.returncode == 0, again.stderr
    repeated = json.loads(answer.read_text())["sessions"][0]
    planned = result["sessions"][1]["metrics"]["transactions_planned"]
    assert repeated["metrics"]["transactions_planned"] == planned
    assert repeated["control"] is None


def test_a_structure_has_a_default_configuration_and_a_chosen_metric(tmp_path: Path) -> None:
    answer = tmp_path / "bench.json"
    options = ["--metric", "memory_peak_bytes", "--sessions", "1", "--json", str(answer)]
    outcome = keydrome("bench", "btree", *options, var=tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    text = unwrapped(outcome.stdout)
    assert text.startswith("btree.so under the configuration exclusive (the default;")
    assert "times the result of the control" in text
    result = json.loads(answer.read_text())
    assert result["configuration"]["name"] == "exclusive"
    assert result["summary"]["metric"] == "memory_peak_bytes"
    metrics = result["sessions"][0]
    ratio = (
        metrics["metrics"]["memory_peak_bytes"] / metrics["control_metrics"]["memory_peak_bytes"]
    )
    assert result["summary"]["ratio"] == pytest.approx(ratio)
    refused = keydrome("bench", "btree", "--metric", "beauty", var=tmp_path)
    assert refused.returncode == 2
    assert "has no metric 'beauty' to compare by; choose one of: total_ms" in refused.stderr


def test_bench_asks_for_shares_of_what_a_library_delivers(built: Settings, tmp_path: Path) -> None:
    answer = tmp_path / "bench.json"
    file = library(built, "indexes", "global_lock")
    options = ["--at-capacity", "--sessions", "1", "--no-control", "--json", str(answer)]
    refused = keydrome("bench", file, *options, var=tmp_path)
    assert refused.returncode == 2
    assert (
        "needs a benchmark with arrival rates, which sigmod2009 does not have: use, for example, --benchmark open_loop"
        in refused.stderr
    )
    options += ["--benchmark", "open_loop"]
    outcome = keydrome("bench", file, *options, var=tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "measured capacity of the library: " in outcome.stderr
    result = json.loads(answer.read_text())
    capacity = result["parameters"]["capacity_per_s"]
    assert capacity > 0
    steps = {entry["class"] for entry in result["sessions"][0]["candidate"]["latency"]}
    shares = (20, 50, 70, 80, 90, 95, 100)
    assert steps >= {f"{capacity * share // 100}_per_s" for share in shares}


def test_bench_of_a_wrong_library_shows_the_findings(built: Settings, tmp_path: Path) -> None:
    outcome = keydrome("bench", library(built, "faulty", "success_only"), var=tmp_path)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert "\nsigmod2009: " in outcome.stdout
    text = unwrapped(outcome.stdout)
    assert "the results do not count, because the library did not pass" in text
    assert outcome.stdout.endswith("success_only.so, this run's own checks: failed\n")
    assert len(outcome.stdout.splitlines()) <= 40


def test_bench_of_a_file_that_is_no_library(built: Settings, tmp_path: Path) -> None:
    text = tmp_path / "a:b\nc.so"
    text.write_text("hello")
    outcome = keydrome("bench", text, var=tmp_path)
    assert outcome.returncode == 2
    assert "not_elf" in outcome.stdout
    assert "a text file" in outcome.stdout


def without_cgroups(*arguments: str | Path, var: Path) -> subprocess.CompletedProcess[str]:
    """Run the command line without access to control groups, so that the jail is weak."""
    hide = 'mount -t tmpfs none /sys/fs/cgroup && exec "$0" "$@"'
    return keydrome(*arguments, var=var, wrapper=("unshare", "--mount", "sh", "-c", hide))


def test_a_weak_jail_is_refused_unless_it_is_asked_for(built: Settings, tmp_path: Path) -> None:
    file = library(built, "indexes", "global_lock")
    answer = tmp_path / "bench.json"
    options = ["--sessions", "1", "--json", str(answer)]
    firsts = set()
    # The seed decides whether the control library runs first.
    for seed in ("1", "2", "3", "4", "5"):
        outcome = without_cgroups("bench", file, *options, "--seed", seed, var=tmp_path)
        assert outcome.returncode == 2, outcome.stdout + outcome.stderr
        result = json.loads(answer.read_text())
        assert result["verdict"] == "refused"
        assert "isolation level full is required" in result["reason"]
        firsts.add(len(result["sessions"]))
    assert firsts == {0, 1}
    outcome = without_cgroups("bench", file, *options, "--require", "weak", var=tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert json.loads(answer.read_text())["jail_level"] == "weak"
    assert "more:  jail: weak" in outcome.stdout


@pytest.mark.parametrize(
    ("name", "options", "status", "verdict"),
    [
        ("indexes/global_lock", [], 0, "passed"),
        ("indexes/berkeley", [], 0, "passed"),
        ("indexes/lmdb", [], 0, "passed"),
        ("structures/btree", ["--config", "rw"], 0, "passed"),
        ("structures/btree", ["--config", "exclusive", "--suite", "unit"], 0, "passed"),
        ("faulty/success_only", [], 1, "failed"),
        ("faulty/crash_in_constructor", [], 1, "failed"),
        ("faulty/missing_symbol", [], 2, "unsupported"),
    ],
)
def test_check(name: str, options: list[str], status: int, verdict: str, tmp_path: Path) -> None:
    folder, _, file = name.partition("/")
    answer, witness = tmp_path / "check.json", tmp_path / "witness"
    options = [*options, "--scale", "smoke", "--seed", "1", "--json", str(answer)]
    options += ["--witness", str(witness)]
    outcome = keydrome("check", library(built_settings(), folder, file), *options, var=tmp_path)
    assert outcome.returncode == status, outcome.stdout + outcome.stderr
    result = json.loads(answer.read_text())
    schema = built_settings().root / "harness" / "schema" / "check.v1.schema.json"
    Draft202012Validator(json.loads(schema.read_text())).validate(result)
    assert result["verdict"] == verdict
    required = [f for f in result["findings"] if f["severity"] == "required"]
    assert bool(required) == (status != 0)
    assert bool(list(witness.glob("*.json"))) == (status == 1)


def test_check_refuses_a_configuration_without_transactions(tmp_path: Path) -> None:
    """No program runs and nothing is written, because there is nothing to judge."""
    witness = tmp_path / "witness"
    for arguments in (["btree:bare"], ["btree", "--config", "bare"]):
        outcome = keydrome("check", *arguments, "--witness", str(witness), var=tmp_path)
        assert outcome.returncode == 2, outcome.stdout
        assert "adds no transactions" in outcome.stderr
    assert not witness.exists()
    advised = ["--config", "bare", "--benchmark", "ycsb", "-p", "auto_commit=1", "--threads", "1"]
    outcome = keydrome("bench", "btree", *advised, "--sessions", "1", var=tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_a_full_disk_does_not_change_the_verdict(tmp_path: Path) -> None:
    """The witness folder is on a file system of 20 KB, which the first report fills."""
    file = library(built_settings(), "faulty", "loses_aborts")
    folder = tmp_path / "small"
    folder.mkdir()
    small = f'mount -t tmpfs -o size=20k none {folder} && exec "$0" "$@"'
    outcome = keydrome(
        "check",
        file,
        *("--scale", "smoke", "--suite", "scenarios", "--seed", "1"),
        *("--witness", str(folder)),
        var=tmp_path,
        wrapper=("unshare", "--mount", "sh", "-c", small),
    )
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert "No space left on device" in outcome.stdout
    assert outcome.stdout.rstrip().endswith(": failed")


def test_the_screen_of_a_failed_check_is_short(built: Settings, tmp_path: Path) -> None:
    options = ["--scale", "smoke", "--seed", "1", "--witness", str(tmp_path / "witness")]
    outcome = keydrome("check", library(built, "faulty", "loses_aborts"), *options, var=tmp_path)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert len(outcome.stdout.splitlines()) <= 40
    assert len(outcome.stderr.splitlines()) <= 5  # one line for each suite
    start = tmp_path / "witness" / "README.txt"
    assert f"{start} says where to start" in unwrapped(outcome.stdout)
    assert start.read_text().startswith("Start here.")
    size = sum(path.stat().st_size for path in start.parent.iterdir())
    assert size < 1_000_000


def test_check_continues_for_the_given_seconds(built: Settings, tmp_path: Path) -> None:
    began = time.monotonic()
    file = library(built, "indexes", "global_lock")
    outcome = keydrome("check", file, "--suite", "unit", "--seconds", "3", var=tmp_path)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert time.monotonic() - began >= 3
    assert ", 1 session from" not in outcome.stdout


def test_compare_says_who_leads_and_plot_can_draw_it(built: Settings, tmp_path: Path) -> None:
    """Compare a structure under two configurations, a complete library, and a library that crashes."""
    answer = tmp_path / "compare.json"
    btree = library(built, "structures", "btree")
    crashing = library(built, "faulty", "crash_in_constructor")
    small = ["--threads", "2", "-p", "inserts_per_thread=20", "-p", "tests_per_thread=20"]
    libraries: list[str | Path] = ["global_lock", btree, f"{btree}:exclusive", crashing]
    options = [*small, "--config", "rw", "--sessions", "1", "--seed", "7", "--json", str(answer)]
    outcome = keydrome("compare", *libraries, *options, var=tmp_path)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert "one session is too few to decide anything between 4 libraries" in outcome.stderr
    assert "crash_in_constructor is excluded, because it crashed in the rehearsal" in " ".join(
        outcome.stdout.split()
    )
    schema = built.root / "harness" / "schema" / "compare.v1.schema.json"
    result = json.loads(answer.read_text())
    Draft202012Validator(json.loads(schema.read_text())).validate(result)
    assert [lib["name"] for lib in result["libraries"]] == [
        "global_lock",
        "btree:rw",
        "btree:exclusive",
        "crash_in_constructor",
    ]
    assert len(result["pairs"]) == 3
    assert {pair["standing"] for pair in result["pairs"]} == {"undecided"}
    assert result["floor"]["missing"] == ""
    assert all(lib["over_floor"] > 0 for lib in result["libraries"][:3])
    drawn = pictures([read_result(answer, schema.parent)])
    assert [picture.name.rpartition("-")[2] for picture in drawn] == ["forest", "values"]
    scored = keydrome("score", str(answer), var=tmp_path)
    assert scored.returncode == 2
    assert "crash_in_constructor has no result (crashed in the rehearsal" in scored.stderr
    result["libraries"] = [lib for lib in result["libraries"] if not lib["left_out"]]
    answer.write_text(json.dumps(result))
    scored = keydrome("score", str(answer), var=tmp_path)
    assert scored.returncode == 0, scored.stderr
    assert "Score over 1 instance (" in scored.stdout


@pytest.mark.parametrize("command", ["bench", "check"])
def test_an_unsuitable_configuration_leads_to_suitable_ones(command: str, tmp_path: Path) -> None:
    structure = library(built_settings(), "structures", "hash")
    outcome = keydrome(command, structure, "--config", "gap", "--scale", "smoke", var=tmp_path)
    assert outcome.returncode == 2, outcome.stdout + outcome.stderr
    said = " ".join(outcome.stdout.split())
    assert "next: --config exclusive suits every structure. The other configurations" in said
