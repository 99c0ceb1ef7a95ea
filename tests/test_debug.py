"""Tests `keydrome debug`, which plays a session without a jail, so that gdb or a sanitizer can find a library's fault.

A session is one repetition of a benchmark; the jail is the sandbox in which other commands play it. Most libraries here
are the example api/examples/minimal.c, with or without a fault.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.binaries import built_settings, library
from tests.test_keydrome import KEYDROME, ROOT, keydrome

if TYPE_CHECKING:
    from pathlib import Path

ROOM = "realloc(array, larger * element_size)"
BEGIN = "ErrCode beginTransaction(TxnState** txn) {"
INSERT = "ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {"
# Each fault is a text of the example and what replaces it.
NO_FAULT = ("", "")
OVERFLOW = (ROOM, "realloc(array, (larger - 1) * element_size)")
RACE = (BEGIN, f"static long begun;\n{BEGIN}\n  begun++;")
SLOW = (
    "__attribute__((noinline)) void wastes_time(void) {\n"
    "  for (volatile int i = 0; i < 100000; i++) {}\n"
    "}"
)
CRASH = (INSERT, f"static int inserts;\n{INSERT}\n  if (++inserts == 300) *(volatile int*)8 = 1;")


def compiled(folder: Path, fault: tuple[str, str], *flags: str) -> Path:
    """Return the example with a fault, compiled with debugging information."""
    text = (ROOT / "api/examples/minimal.c").read_text()
    old, new = fault
    assert old in text
    source, built = folder / "mine.c", folder / "mine.so"
    source.write_text(text.replace(old, new, 1) if old else text)
    command = ["cc", "-g", "-O1", "-shared", "-fPIC", "-pthread", *flags]
    command += ["-I", str(ROOT / "api/include"), str(source), "-o", str(built)]
    subprocess.run(command, check=True)
    return built


def debug(file: Path, *arguments: str, var: Path) -> subprocess.CompletedProcess[str]:
    built_settings()
    return keydrome("debug", file, "--seed", "1", *arguments, var=var)


@pytest.mark.parametrize("flags", [(), ("-fsanitize=address",), ("-fsanitize=thread",)])
def test_a_right_library_plays_to_the_end(flags: tuple[str, ...], tmp_path: Path) -> None:
    file = compiled(tmp_path, NO_FAULT, *flags)
    ended = debug(file, "--benchmark", "ycsb", "--threads", "2", var=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "NOT JUDGED, NOT JAILED" in ended.stdout
    assert "every call returned" in ended.stdout
    advice = "the sanitizer found no fault in this session, but another --benchmark or --seed may"
    assert (advice in ended.stdout) == bool(flags)
    assert "Sanitizer" not in ended.stderr
    shares = re.findall(
        r"^  (\w+) +([\d.]+) % +\d+ calls +[\d.]+ us each$", ended.stdout, re.MULTILINE
    )
    assert {"get", "insertRecord", "commitTransaction"} <= {name for name, _ in shares}
    assert sum(float(share) for _, share in shares) == pytest.approx(100, abs=1)
    assert (tmp_path / "debug" / "ycsb-a-0000000000000001" / "plan.json").is_file()


def test_the_address_sanitizer_reports_an_overflow(tmp_path: Path) -> None:
    file = compiled(tmp_path, OVERFLOW, "-fsanitize=address")
    ended = debug(file, var=tmp_path)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "AddressSanitizer: heap-buffer-overflow" in ended.stderr
    assert "mine.c:" in ended.stderr
    assert "see the report of the sanitizer above" in ended.stdout


def test_the_thread_sanitizer_reports_a_race(tmp_path: Path) -> None:
    file = compiled(tmp_path, RACE, "-fsanitize=thread")
    ended = debug(file, "--benchmark", "ycsb", "--threads", "4", var=tmp_path)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "ThreadSanitizer: data race" in ended.stderr
    assert "beginTransaction" in ended.stderr
    assert "does not see how Keydrome's own code orders threads" in ended.stdout
    assert "protects a structure" not in ended.stdout


def test_reports_about_a_structure_are_said_to_mislead(tmp_path: Path) -> None:
    """The locks of the runtime are invisible to ThreadSanitizer, so it finds races in a structure without any."""
    built = tmp_path / "student-tsan.so"
    command = ["c++", "-std=c++20", "-O1", "-shared", "-fPIC", "-fsanitize=thread"]
    command += ["-I", str(ROOT / "api/include"), str(ROOT / "structures/student/student.cc")]
    subprocess.run([*command, "-o", str(built)], check=True)
    ended = debug(built, "--benchmark", "ycsb", "-p", "operations_per_thread=100", var=tmp_path)
    assert "does not see how Keydrome's own code orders threads" in ended.stdout
    assert "So it reports races in the structure that do not exist" in ended.stdout


def test_a_crash_has_a_stack(tmp_path: Path) -> None:
    file = compiled(tmp_path, CRASH)
    ended = debug(file, var=tmp_path)
    assert ended.returncode == 1
    assert "ended by SIGSEGV; for the stack, add --tool stack" in ended.stdout
    ended = debug(file, "--tool", "stack", var=tmp_path)
    assert ended.returncode == 1
    assert "received signal SIGSEGV" in ended.stdout
    assert "#0  insertRecord (" in ended.stdout
    assert "mine.c:" in ended.stdout
    assert "a signal stopped the process" in ended.stdout
    ended = debug(file, "--tool", "gdb", var=tmp_path)  # has no terminal, so gdb ends after `run`
    assert "received signal SIGSEGV" in ended.stdout


def test_a_profile_names_the_slow_call_and_the_slow_function(tmp_path: Path) -> None:
    if shutil.which("perf") is None or not can_sample(tmp_path):
        pytest.skip("perf cannot sample on this machine")
    slow = (INSERT, f"{SLOW}\n{INSERT}\n  wastes_time();")
    ended = debug(compiled(tmp_path, slow), "--tool", "perf", var=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert re.search(r"time that its calls waited:\n  insertRecord ", ended.stdout)
    assert re.search(r"by function:\n +[\d.]+% +mine\.so +\[\.\] wastes_time\n", ended.stdout)
    assert "callers: perf report -i " in ended.stdout


def test_a_profile_can_be_ended_early(tmp_path: Path) -> None:
    """A slow session can take minutes, and the first seconds of it show what is slow."""
    if shutil.which("perf") is None or not can_sample(tmp_path):
        pytest.skip("perf cannot sample on this machine")
    endless = (INSERT, f"{INSERT}\n  for (volatile int on = 1; on;) {{}}")
    file = compiled(tmp_path, endless)
    built_settings()
    command = [*KEYDROME, "debug", str(file), "--seed", "1", "--tool", "perf"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "KEYDROME_VAR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as played:
        assert played.stdout is not None
        assert any(line.startswith("phase populate") for line in played.stdout)
        os.killpg(played.pid, signal.SIGINT)  # as a terminal does after Ctrl-C
        text = played.stdout.read()
    assert played.returncode == 130, text
    assert "time of the process, by function:\n" in text
    assert "debug: Ctrl-C ended the session; the profile shows the part that was played" in text


def can_sample(folder: Path) -> bool:
    command = ["perf", "record", "-q", "-o", str(folder / "perf.data"), "true"]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def test_structures_run_under_their_configuration(tmp_path: Path) -> None:
    file = library(built_settings(), "structures", "btree")
    ended = debug(file, "--config", "occ", "--benchmark", "isolation", var=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "btree.so under the configuration occ" in ended.stdout


def test_wrong_input_says_what_to_do(tmp_path: Path) -> None:
    text = tmp_path / "mine.so"
    text.write_text("no library")
    ended = debug(text, var=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.startswith("keydrome: error: mine.so: ")
    file = compiled(tmp_path, NO_FAULT, "-fsanitize=address")
    ended = debug(file, "--tool", "valgrind", var=tmp_path)
    assert ended.returncode == 2
    assert "valgrind cannot run a library that is built with a sanitizer" in ended.stderr
    undefined = compiled(tmp_path, (BEGIN, f"void nowhere(void);\n{BEGIN}\n  nowhere();"))
    ended = debug(undefined, var=tmp_path)
    assert ended.returncode == 2
    assert "undefined symbol: nowhere" in ended.stderr
    assert "the session could not be played" in ended.stdout


def test_the_site_and_its_workers_cannot_start_it() -> None:
    """Only the command line names the program that runs a library without a jail."""
    named = {
        str(path.relative_to(ROOT))
        for folder in ("runner", "leaderboard", "web", "results", "deploy")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".yml", ".yaml", ".html", ""} and path.is_file()
        if b"debug_session" in path.read_bytes()
    }
    assert named == set()
    assert os.access(built_settings().build / "bin" / "debug_session", os.X_OK)
