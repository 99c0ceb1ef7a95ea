"""Tests of the command line that need no jail (sandbox): arguments, refusals and their messages."""

from __future__ import annotations

import argparse
import errno
import json
import os
import stat
import subprocess
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cli.__main__ import main as start
from cli.input.values import UsageError, parse_parameters, positive, seed_series
from cli.main import main
from runner.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable


@given(st.integers(0, 2**64 - 1), st.integers(1, 20))
def test_a_seed_means_the_same_in_every_spelling(seed: int, count: int) -> None:
    series = seed_series(hex(seed), count)
    assert series[0] == f"{seed:016x}"
    assert series == seed_series(f"{seed:016x}", count)
    assert len(set(series)) == count
    assert seed_series(series[0], 1) == series[:1]
    if (
        len(str(seed)) != 16
    ):  # a text of 16 digits is read as hexadecimal, because bench prints seeds in this form
        assert series == seed_series(str(seed), count)


@pytest.mark.parametrize("text", ["", "-1", "x", "0x1" + "0" * 16, str(2**64), "1.5"])
def test_a_malformed_seed_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a seed"):
        seed_series(text, 1)


def test_without_a_seed_one_is_chosen_at_random() -> None:
    assert seed_series(None, 3) != seed_series(None, 3)


def test_parameters() -> None:
    assert parse_parameters(["a=1", "b=-2"], 4) == {"threads": 4, "a": 1, "b": -2}
    for text in ("a", "a=", "a=x", "a=1.5", "=", "a=9" + "9" * 20):
        with pytest.raises(UsageError, match="write NAME=NUMBER"):
            parse_parameters([text], None)


@pytest.mark.parametrize("text", ["0", "-1", "x", "", "1.0"])
def test_counts_are_positive(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        positive(text)


def failing(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command that must exit with status 2, and return its message."""
    assert main(arguments) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--benchmark", "fun"], "there is no benchmark 'fun'; choose one of:"),
        (["--instance", "final"], "has no instance 'final'; choose one of: prelim"),
        (["--threads", "100000"], "threads is 100000, but sigmod2009 allows 1 to"),
        (["-p", "speed=1"], "no parameter 'speed'; choose one of: threads"),
        (["--config", "fast"], "choose one of bare, exclusive, "),
        (["--seed", "abc"], "is not a seed"),
        (["--history", "DIR"], "the sessions of this run are not recorded: add --record"),
        (["--audit", "--no-control"], "which --no-control leaves out: give only one"),
        (["--audit", "--benchmark", "unit"], "but the benchmark unit measures none: choose"),
        (["--audit", "--benchmark", "trace"], "parameter threads, which trace does not have"),
        (["--benchmark", "trace", "-p", "a=1"], "no parameter 'a'; this benchmark takes no"),
        (["--benchmark", "tpcc", "-p", "any_warehouse=2"], "but tpcc allows 0 to 1: choose"),
    ],
)
def test_bench_lists_the_known_names(
    arguments: list[str], words: str, good_library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in failing(capsys, "bench", str(good_library), *arguments)


def test_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("bench", "check", "inspect"):
        text = failing(capsys, command, str(tmp_path / "no.so"), *_without_root(command))
        assert "no such file" in text


def _without_root(command: str) -> list[str]:
    return [] if command == "inspect" else ["--require", "none"]


def test_an_unknown_suite(good_library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = failing(capsys, "check", str(good_library), "--suite", "sigmod2009")
    assert "there is no suite 'sigmod2009'" in text


def test_without_root_the_jail_is_not_weakened_silently(
    good_library: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    for command in ("bench", "check"):
        text = failing(capsys, command, str(good_library))
        assert "a full jail needs root: run the command with sudo" in text


def test_inspect_accepts_and_refuses(
    good_library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = tmp_path / "facts.json"
    assert main(["inspect", str(good_library), "--json", str(answer)]) == 0
    assert "accepted" in capsys.readouterr().out
    assert json.loads(answer.read_text())["kind"] == "index"
    text = tmp_path / "new\nline.so"
    text.write_text("hello")
    assert main(["inspect", str(text), "--json", str(answer)]) == 2
    output = capsys.readouterr().out
    assert "new\ufffdline.so: unknown" in output
    assert "refused (not_elf)" in output
    assert json.loads(answer.read_text())["refusals"][0]["name"] == "not_elf"


def test_a_folder_is_no_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(tmp_path)]) == 2
    output = capsys.readouterr().out
    assert "refused (not_a_file)" in output
    assert "give the path of a shared object" in output
    assert "this is a folder, not a regular file" in output
    assert f"error: {tmp_path}: not a regular file, but a folder;" in failing(
        capsys, "bench", str(tmp_path)
    )


def test_json_for_a_device_leaves_the_device(
    good_library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    full, null = tmp_path / "full", tmp_path / "null"
    os.mknod(full, stat.S_IFCHR | 0o600, os.makedev(1, 7))
    os.mknod(null, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    assert main(["inspect", str(good_library), "--json", str(null)]) == 0
    message = failing(capsys, "inspect", str(good_library), "--json", str(full))
    assert f"cannot write {full}: No space left on device" in message
    assert full.is_char_device()
    assert null.is_char_device()


def test_a_folder_of_results_that_is_a_file_is_an_error_before_the_run(
    good_library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    null = tmp_path / "null"
    os.mknod(null, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    commands = {
        "--witness": ["check", str(good_library), "--witness"],
        "--history": ["bench", str(good_library), "--record", "--history"],
        "--out": ["plot", "no.json", "--out"],
    }
    for option, command in commands.items():
        for folder in (null, null / "folder"):
            message = failing(capsys, *command, str(folder))
            assert f"{option} {folder}: a folder is needed, but {null} is a file" in message
    assert null.is_char_device()


def test_json_for_standard_output_comes_alone(
    good_library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(good_library), "--json", "-"]) == 0
    streams = capsys.readouterr()
    assert json.loads(streams.out)["kind"] == "index"
    assert "accepted" in streams.err
    main(["machine", "--json", "-"])
    assert "machine" in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", ["bench", "check", "compare", "inspect"])
def test_a_result_that_cannot_be_written_is_an_error_before_the_run(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "missing" / "report.json"
    with pytest.raises(SystemExit) as ended:
        main([command, "no.so", "--json", str(file)])
    assert ended.value.code == 2
    assert f"argument --json: cannot write {file}: No such file" in capsys.readouterr().err


def test_list_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    output = capsys.readouterr().out
    for word in ("sigmod2009", "preliminary1", "smoke", "global_lock", "btree", "exclusive", "rw"):
        assert word in output


@pytest.mark.parametrize("command", ["list", "machine", "inspect"])
def test_json_fits_its_schema(
    command: str, good_library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(good_library)] if command == "inspect" else []
    main([command, *arguments, "--json", "-"])
    schema = load_settings({}).root / "harness" / "schema" / f"{command}.v1.schema.json"
    found = json.loads(capsys.readouterr().out)
    Draft202012Validator(json.loads(schema.read_text())).validate(found)
    assert found["schema"] == f"keydrome.{command}.v1"


def test_a_list_can_be_filtered(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "YCSB", "cloud"]) == 0
    assert capsys.readouterr().out.startswith("Benchmarks\n  ycsb version ")
    assert main(["list", "one", "lock", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in found["libraries"]] == ["global_lock"]
    assert found["benchmarks"] == []
    text = failing(capsys, "list", "no such thing")
    assert "no name, title or description contains 'no such thing'" in text


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("keydrome 0.")


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["submit"])
    assert ended.value.code == 2
    assert "invalid choice" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error() -> None:
    """Output to a closed pipe, as in `keydrome list | head`, ends the command without a message."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        outcome = subprocess.run(
            [sys.executable, "-m", "cli", "list"],
            stdout=write_end,
            stderr=subprocess.PIPE,
            cwd=load_settings({}).root,
            text=True,
            check=False,
        )
    finally:
        os.close(write_end)
    assert (outcome.returncode, outcome.stderr) == (141, "")


def test_a_full_device_asks_for_space() -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        outcome = subprocess.run(
            [sys.executable, "-m", "cli", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=load_settings({}).root,
            text=True,
            check=False,
        )
    assert outcome.returncode == 2
    asks = "No space left on device: free some space on the disk that the output goes to, or on the disk of Keydrome's"
    assert f"{asks} data folder, {load_settings().var}" in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_an_error_of_the_system_names_the_file_and_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, advice in (
        (errno.EACCES, "use sudo, or change the permissions"),
        (errno.EIO, "fix this problem, and"),
        (errno.ENOSPC, "free some space on the disk of this file"),
    ):
        error = OSError(number, os.strerror(number), "/a/b")
        monkeypatch.setattr("cli.listing.run", _raising(error))
        assert main(["list"]) == 2
        text = capsys.readouterr().err
        reason = os.strerror(number)
        assert text.startswith(f"keydrome: error: cannot read or write /a/b: {reason}: {advice}")


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.EACCES, "which an earlier run with sudo may have created: use sudo again, or set"),
        (errno.ENOSPC, "free some space on its disk, or set"),
    ],
)
def test_an_error_in_the_data_folder_says_whose_folder_it_is(
    number: int,
    advice: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KEYDROME_VAR", str(tmp_path))
    error = OSError(number, os.strerror(number), str(tmp_path / "work" / "5f.lock"))
    monkeypatch.setattr("cli.listing.run", _raising(error))
    assert main(["list"]) == 2
    text = capsys.readouterr().err
    assert f"{os.strerror(number)}. The file is in Keydrome's data folder" in text
    assert f"{advice} KEYDROME_VAR to a folder" in text


def _raising(error: Exception) -> Callable[[object], int]:
    def run(_options: object) -> int:
        raise error

    return run


def test_a_refused_file_has_no_witness_to_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.so"
    text.write_text("hello")
    assert main(["check", str(text), "--require", "none"]) == 2
    output = capsys.readouterr().out
    assert "the file is not an ELF file" in output
    assert "read-a-witness" not in output
    assert output.endswith("text.so: unsupported\n")


@pytest.mark.parametrize(
    ("arguments", "usage", "words"),
    [
        (["bench", "--sesions", "3", "x.so"], "bench", "--sesions; did you mean --sessions?"),
        (["check", "x.so", "--wittness=d"], "check", "--wittness; did you mean --witness?"),
        (["list", "--jsn", "-"], "list", "--jsn; did you mean --json?"),
        (["inspect", "x.so", "--js"], "inspect", "--js; did you mean --json?"),
        (["plot", "--zzz", "x.json"], "plot", "--zzz; `keydrome plot --help` lists the options"),
        (
            ["replay", "b", "x.so", "y.so"],
            "replay",
            "too many arguments: y.so; `keydrome replay --help` lists the arguments",
        ),
        (["--versoin", "list"], "", "--versoin; did you mean --version?"),
    ],
)
def test_an_unknown_option_shows_the_usage_of_its_command(
    arguments: list[str], usage: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    message = capsys.readouterr().err
    assert message.startswith(f"usage: keydrome {usage}".rstrip() + " [-h]")
    assert message.endswith(f"{words}\n")


class _InterruptedModule(types.ModuleType):
    """A module whose import is interrupted by Ctrl-C."""

    def __getattr__(self, name: str) -> object:
        raise KeyboardInterrupt


def test_an_interruption_while_modules_load_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "cli.main", _InterruptedModule("cli.main"))
    assert start() == 130
    assert capsys.readouterr().err == "keydrome: interrupted before the command had started\n"


def test_an_interruption_while_arguments_are_read_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cli.main.command_parser", _interrupt)
    assert main(["list"]) == 130
    assert capsys.readouterr().err.startswith("keydrome: interrupted")


def _interrupt() -> None:
    raise KeyboardInterrupt
