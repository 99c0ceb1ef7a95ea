"""How far a run is: a bar on a terminal, one line per phase elsewhere. Both on standard error."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.contract import Progress

    Beat = Callable[[Progress], bool]
    Label = Callable[[Progress], str]


def session_label(progress: Progress) -> str:
    """Return where a series of sessions stands."""
    if progress.session == 0:
        return progress.phase
    return f"session {progress.session}/{progress.sessions} {progress.role}: {progress.phase}"


@contextmanager
def shown_progress(title: str, label_of: Label = session_label) -> Iterator[Beat]:
    """Give a beat function that shows where the run stands and never cancels it."""
    if sys.stderr.isatty():
        with _bar(title, label_of) as beat:
            yield beat
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
def _bar(title: str, label_of: Label) -> Iterator[Beat]:
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

        def beat(progress: object) -> bool:
            label = label_of(progress)  # type: ignore[arg-type]
            bar.update(task, completed=progress.fraction, label=label)  # type: ignore[attr-defined]
            return True

        yield beat
