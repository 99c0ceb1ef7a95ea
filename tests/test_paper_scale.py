"""Tests of tools/paper_scale.py with real sessions at smoke scale: a second start continues after the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.binaries import built_settings
from tools.paper_scale import main, read_rows

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_second_start_plays_only_what_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built_settings()
    state = tmp_path / "smoke.json"
    arguments = ["--scale", "smoke", "--state", str(state), "--only"]
    assert main([*arguments, "unit", "--timeout", "60"]) == 0
    first = read_rows(state)
    assert list(first) == ["unit/unit"]
    assert first["unit/unit"].verdict == "passed"
    assert main([*arguments, "unit", "--only", "lookups/hits"]) == 0
    both = read_rows(state)
    assert list(both) == ["unit/unit", "lookups/hits"]
    assert both["unit/unit"] == first["unit/unit"]
    row = both["lookups/hits"]
    assert row.verdict == "passed"
    assert row.total_ms > 0
    assert row.library_bytes > 0
    capsys.readouterr()
    assert main([*arguments, "lookups", "--list"]) == 0
    listed = capsys.readouterr().out
    assert "lookups/hits: passed" in listed
    assert "lookups/half: referee up to" in listed


def test_a_session_over_its_time_is_stopped_and_kept(tmp_path: Path) -> None:
    built_settings()
    state = tmp_path / "smoke.json"
    name = "sigmod2009/preliminary1"
    arguments = ["--scale", "smoke", "--state", str(state), "--only", name, "--timeout", "0"]
    assert main(arguments) == 0
    row = read_rows(state)[name]
    assert (row.verdict, row.reason) == ("", "stopped at the time limit of 0 s")
