"""Tests of the progress that the commands show on standard error."""

from __future__ import annotations

import sys

import pytest

from cli.output.progress import TimeLeft, announce, duration, shown_progress
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


class Clock:
    """Stands still until `now` is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def after(seconds: float, fraction: float) -> str:
    """Return the text that is shown if the first step takes so many seconds."""
    clock = Clock()
    left = TimeLeft(clock)
    clock.now += seconds
    return left.text(fraction)


def test_the_time_left_follows_from_the_time_taken() -> None:
    assert after(10.0, 0.25) == "about 30 s left"
    assert after(60.0, 0.1) == "about 9 min left"
    assert after(10.0, 0.0) == ""
    assert after(10.0, 1.0) == ""


def test_the_time_left_counts_down_while_a_step_runs() -> None:
    clock = Clock()
    left = TimeLeft(clock)
    clock.now += 10
    assert left.text(0.5) == "about 10 s left"
    clock.now += 4
    assert left.text(0.5) == "about 6 s left"
    clock.now += 1
    assert left.text(0.75) == "about 5 s left"


def test_no_time_is_promised_for_longer_than_it_lasts() -> None:
    clock = Clock()
    left = TimeLeft(clock)
    clock.now += 9
    assert left.text(0.9) == "about 1 s left"
    for waited in range(2, 14):
        clock.now = 109.0 + waited
        assert left.text(0.9) == f"{waited - 1} s longer than expected"
    # The next step makes a new estimate.
    assert left.text(0.95) == "about 1 s left"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (119.4, "119 s"), (120.0, "2 min"), (3600.0, "60 min")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
