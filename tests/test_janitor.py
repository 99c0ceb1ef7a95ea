"""Tests that a starting worker removes the leftovers of killed jails on its machine, and logs what it removed.

A slot is a number that gives a jail a user and a control group of its own.
"""

import subprocess
from pathlib import Path

import pytest

from leaderboard.worker import clean_up
from runner import janitor
from runner.slots import hold_slot, slots_for_tests

FIRST_UID = 60000


def test_a_worker_clears_away(caplog: pytest.LogCaptureFixture) -> None:
    slot = slots_for_tests()[0]
    user = FIRST_UID + slot
    with hold_slot(
        slot, slot
    ):  # as a worker does, so that no other worker's clean_up() removes the process first
        stray = subprocess.Popen(["sleep", "600"], user=user, group=user, extra_groups=[])
        try:
            clean_up(slot)
            line = (
                f"killed process {stray.pid} (sleep), which an earlier jail of slot {slot} had left"
            )
            assert line in caplog.messages
            assert stray.wait(timeout=30) == -9
        finally:
            stray.kill()
            stray.wait()
        caplog.clear()
        clean_up(slot)
    assert not [line for line in caplog.messages if f"slot {slot}" in line]


def test_a_worker_leaves_the_slots_of_other_processes_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A worker must not kill processes of a slot that another process, such as a test of another clone, holds."""
    own, other = slots_for_tests()[:2]
    user = FIRST_UID + other
    with hold_slot(other, other):
        process = subprocess.Popen(["sleep", "600"], user=user, group=user, extra_groups=[])
        try:
            clean_up(own)
            assert process.poll() is None
        finally:
            process.kill()
            process.wait()
    assert not [line for line in caplog.messages if f"slot {other}" in line]


def test_a_missing_program_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KEYDROME_BUILD", str(tmp_path))
    assert ["No such file" in line for line in janitor.remove_leftovers(0)] == [True]
