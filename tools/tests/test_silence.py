"""Tests of tools/silence.py, which measures how long a command shows nothing new: which output counts as new."""

from __future__ import annotations

import sys

from tools.silence import Silence, run, silences


def test_the_time_to_the_first_and_after_the_last_text_counts() -> None:
    assert silences([(3.0, b"hello\r\n")], 4.0) == [
        Silence(3.0, 0.0, ""),
        Silence(1.0, 3.0, "hello"),
    ]
    assert silences([], 2.0) == [Silence(2.0, 0.0, "")]


def test_a_line_that_is_drawn_again_is_nothing_new() -> None:
    bar = b"\r\x1b[2K\x1b[34mcheck 10 %\x1b[0m"
    later = b"\r\x1b[2K\x1b[34mcheck 20 %\x1b[0m"
    longest, *_ = silences([(1.0, bar), (2.0, bar), (2.5, b"\x1b[?25l"), (5.0, later)], 5.5)
    assert longest == Silence(4.0, 1.0, "check 10 %")


def test_a_command_sees_a_terminal() -> None:
    code = "import sys; print(sys.stdout.isatty())"
    output, seconds, status = run([sys.executable, "-c", code])
    assert status == 0
    assert run([sys.executable, "-c", "raise SystemExit(3)"])[2] == 3
    assert b"".join(written for _, written in output) == b"True\r\n"
    assert 0 < output[0][0] <= seconds
