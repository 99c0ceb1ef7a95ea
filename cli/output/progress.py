"""Shows on standard error what a command does: a bar on a terminal, otherwise a line for each session or suite."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.contract import Progress

    Heartbeat = Callable[[Progress], bool]
    Label = Callable[[Progress], str]

# The fraction of a run that must be done before the time left is estimated.
_ESTIMATE_FROM = 0.02
_MINUTE_S = 60


def announce(text: str) -> None:
    """Say on a terminal what the command does before its first result. Print nothing if stderr is not a terminal."""
    if sys.stderr.isatty():
        print(f"keydrome: {text} ...", file=sys.stderr, flush=True)


def session_label(progress: Progress) -> str:
    """Return the current session, the role of the library that runs, and the phase as text.

    The role is candidate (the judged library) or control (a fixed library for comparison). A phase is a part of a
    session, such as create or test.
    """
    if progress.session == 0:
        return progress.phase
    return f"session {progress.session}/{progress.sessions} {progress.role}: {progress.phase}"


def session_line(progress: Progress) -> str:
    """Return the current session as text, for output that is not a terminal."""
    return f"session {progress.session}/{progress.sessions}" if progress.session else ""


@contextmanager
def shown_progress(
    title: str, label_of: Label = session_label, line_of: Label = session_line
) -> Iterator[Heartbeat]:
    """Yield a heartbeat function, which the runner calls regularly with the progress of the run.

    The function shows the progress: on a terminal a bar with the text of `label_of` and the time left, otherwise one
    line for each new text of `line_of` that is not empty. It returns True, because False would cancel the run.
    """
    if sys.stderr.isatty():
        with _bar(title, label_of) as heartbeat:
            yield heartbeat
        return
    last = ""

    def beat_line(progress: Progress) -> bool:
        nonlocal last
        line = line_of(progress)
        if line not in {"", last}:
            print(f"{title}: {line}", file=sys.stderr, flush=True)
            last = line
        return True

    yield beat_line


class TimeLeft:
    """Estimates the time left from the fraction of the run that is done, and says if the estimate was too short.

    The fraction grows in steps, for example when the next phase begins. Each step gives a new estimate, which counts
    down until the next step. If it reaches zero first, the text says how much longer than expected the run takes.
    `clock` returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._fraction = 0.0
        self._end = self._began  # when the run will end, by the newest estimate

    def text(self, fraction: float) -> str:
        """Return the time left as text, or an empty string if it is too early or too late to tell."""
        now = self._clock()
        if not _ESTIMATE_FROM <= fraction < 1:
            return ""
        if fraction > self._fraction:
            self._fraction = fraction
            self._end = now + (now - self._began) * (1 - fraction) / fraction
        if now > self._end:
            return f"{duration(now - self._end)} longer than expected"
        return f"about {duration(self._end - now)} left"


def duration(seconds: float) -> str:
    """Return a duration as text: seconds below two minutes, otherwise minutes."""
    if seconds < 2 * _MINUTE_S:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / _MINUTE_S)} min"


@contextmanager
def _bar(title: str, label_of: Label) -> Iterator[Heartbeat]:
    from rich.console import Console  # noqa: PLC0415 - only on a terminal
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        TextColumn("{task.fields[title]}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        TextColumn("{task.fields[label]}", markup=False),
    )
    left = TimeLeft()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0, title=title, label="", left="")

        def heartbeat(progress: object) -> bool:
            label = label_of(progress)  # type: ignore[arg-type]
            fraction = progress.fraction  # type: ignore[attr-defined]
            bar.update(task, completed=fraction, label=label, left=left.text(fraction))
            return True

        yield heartbeat
