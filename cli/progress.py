"""Shows the progress of a run on standard error: as a bar on a terminal, otherwise as one line for each new text."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.contract import Progress

    Heartbeat = Callable[[Progress], bool]
    Label = Callable[[Progress], str]


def session_label(progress: Progress) -> str:
    """Return the current session, the role of the library that runs, and the phase as text.

    The role is candidate (the judged library) or control (a fixed library for comparison). A phase is a part of a
    session, such as create or test.
    """
    if progress.session == 0:
        return progress.phase
    return f"session {progress.session}/{progress.sessions} {progress.role}: {progress.phase}"


@contextmanager
def shown_progress(title: str, label_of: Label = session_label) -> Iterator[Heartbeat]:
    """Yield a heartbeat function, which the runner calls regularly with the progress of the run.

    The function shows the progress. It returns True, because False would cancel the run.
    """
    if sys.stderr.isatty():
        with _bar(title, label_of) as heartbeat:
            yield heartbeat
        return
    last = ""

    def beat_line(progress: Progress) -> bool:
        nonlocal last
        label = label_of(progress)
        if label != last:
            print(f"{title}: {label}", file=sys.stderr, flush=True)
            last = label
        return True

    yield beat_line


@contextmanager
def _bar(title: str, label_of: Label) -> Iterator[Heartbeat]:
    from rich.console import Console  # noqa: PLC0415 - only on a terminal
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        TextColumn("{task.fields[title]}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[label]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0, title=title, label="")

        def heartbeat(progress: object) -> bool:
            label = label_of(progress)  # type: ignore[arg-type]
            bar.update(task, completed=progress.fraction, label=label)  # type: ignore[attr-defined]
            return True

        yield heartbeat
