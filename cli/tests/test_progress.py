"""Tests of the progress that the commands show on standard error."""

from __future__ import annotations

import sys

import pytest

from cli.output.progress import announce, duration, shown_progress, time_left
from runner.contract import Progress


def test_output_to_a_file_has_one_line_for_each_session(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with shown_progress("sample/small") as heartbeat:
        heartbeat(Progress(0, 2, "inspection", "inspection", 0.0))
        for session in (1, 2):
            for phase in ("create", "populate", "test"):
                assert heartbeat(Progress(session, 2, "candidate", phase, 0.5))
    assert capsys.readouterr().err == "sample/small: session 1/2\nsample/small: session 2/2\n"


@pytest.mark.parametrize(
    ("is_terminal", "text"), [(True, "keydrome: reading a.so ...\n"), (False, "")]
)
def test_only_a_terminal_shows_what_is_being_read(
    is_terminal: bool,
    text: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    announce("reading a.so")
    assert capsys.readouterr().err == text


def test_the_time_left_follows_from_the_time_taken() -> None:
    assert time_left(0.25, 10.0) == "about 30 s left"
    assert time_left(0.1, 60.0) == "about 9 min left"
    assert time_left(0.0, 10.0) == ""
    assert time_left(1.0, 10.0) == ""


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (119.4, "119 s"), (120.0, "2 min"), (3600.0, "60 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
