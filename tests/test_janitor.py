"""A worker that starts clears away what dead jails left on its machine, and says so."""

import subprocess
from pathlib import Path

import pytest

from leaderboard.worker import clear_away
from runner import janitor

USER = 60985  # of a slot that no other test uses


def test_a_worker_clears_away(caplog: pytest.LogCaptureFixture) -> None:
    stray = subprocess.Popen(["sleep", "600"], user=USER, group=USER, extra_groups=[])
    try:
        clear_away()
        assert f"swept: process {stray.pid} (sleep) of slot 985" in caplog.messages
        assert stray.wait(timeout=30) == -9
    finally:
        stray.kill()
        stray.wait()
    caplog.clear()
    clear_away()
    assert not [line for line in caplog.messages if "slot 985" in line]


def test_a_machine_where_it_cannot_be_done(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KEYDROME_BUILD", str(tmp_path))
    assert ["No such file" in line for line in janitor.sweep()] == [True]
