"""Tests that tests pass on a busy machine, where jail slots are taken or another clone runs tests.

A jail slot is a user and a control group for one jail. A running site's worker holds slot 0, and commands hold others.
Clones also share the machine's ports, names of sockets and folder for temporary files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.slots import SlotsTakenError, hold_slot
from tests.binaries import built_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
# The worker's slot, and slots that tests, measurements and commands would take first if no other process ran.
BUSY = (
    0,
    7,
    8,
    100,
    101,
    104,
    690,
    700,
    800,
    801,
    810,
    899,
    900,
    901,
    980,
    981,
    985,
    990,
    991,
    997,
    999,
)
TIMEOUT_SECONDS = 300


@pytest.fixture
def busy() -> Iterator[None]:
    """Hold the slots as a running site's worker and commands do. A slot that another process holds is busy anyway."""
    with ExitStack() as held:
        for slot in BUSY:
            with suppress(SlotsTakenError):
                held.enter_context(hold_slot(slot, slot))
        yield


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize(
    "places",
    [
        ["leaderboard/tests/test_worker.py", "leaderboard/tests/test_versions.py"],
        ["leaderboard/tests/test_commands.py", "-k", "slot"],
        ["runner/tests/test_small.py", "-k", "slot"],
        ["tests/test_janitor.py"],
        ["tests/test_referee.py", "-k", "progress or killed"],
        ["jail/tests/test_leftovers.py"],
    ],
    ids=lambda places: Path(places[0]).stem,
)
def test_tests_pass_on_a_busy_machine(places: list[str]) -> None:
    built_settings()  # fails with an instruction if the build or root is missing
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *places]
    environment = {key: value for key, value in os.environ.items() if key != "KEYDROME_VAR"}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "passed" in done.stdout


@pytest.mark.usefixtures("busy")
def test_native_tests_that_start_jails_pass_on_a_busy_machine() -> None:
    program = built_settings().build / "tests" / "harness_run_test"
    done = subprocess.run(
        [program, "--gtest_filter=Conductor*"],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "[  PASSED  ] 0 tests" not in done.stdout


@pytest.mark.usefixtures("busy")
def test_suites_of_two_clones_run_at_the_same_time(tmp_path: Path) -> None:
    build = built_settings().build
    pytest_places = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    commands = {
        "site": [*pytest_places, "leaderboard/tests/test_worker.py"],
        "jail": [*pytest_places, "jail/tests/test_leftovers.py"],
        "janitor": [*pytest_places, "tests/test_janitor.py"],
        "native": [str(build / "tests" / "harness_run_test"), "--gtest_filter=Conductor*"],
    }
    environment = {key: value for key, value in os.environ.items() if key != "KEYDROME_VAR"}
    with ExitStack() as running:
        started = {}
        for name in [f"{name}-{clone}" for name in commands for clone in (1, 2)]:
            out = running.enter_context((tmp_path / name).open("wb"))
            started[name] = subprocess.Popen(
                commands[name.partition("-")[0]], cwd=ROOT, env=environment, stdout=out, stderr=out
            )
            running.callback(started[name].wait)
            running.callback(started[name].kill)
        failed = [name for name, one in started.items() if one.wait(TIMEOUT_SECONDS) != 0]
    texts = [(tmp_path / name).read_text(errors="replace")[-4000:] for name in failed]
    assert failed == [], "\n".join(texts)
