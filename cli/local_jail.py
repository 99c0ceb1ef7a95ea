"""Holds the jail slot and the working folder of a command that runs a library.

The jail is the sandbox in which a library runs. A slot is a number that gives a jail a user of its own; one jail runs
in a slot.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from cli.input.values import UsageError
from runner.execute import copy_into
from runner.settings import Settings, load_settings
from runner.slots import hold_local_slot
from runner.terms import JailLevel
from runner.work_folder import work_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def check_rights(level: JailLevel) -> None:
    """Raise UsageError if a full jail is required and the user is not root."""
    if level is JailLevel.FULL and os.geteuid() != 0:
        raise UsageError(
            "a full jail needs root: run the command with sudo. (The jail is the sandbox in which the library runs.) "
            "Without root, --require weak or --require none runs the library with weaker protection; use them only for "
            "libraries that you trust."
        )


@contextmanager
def local_jail() -> Iterator[tuple[Settings, Path]]:
    """Hold a free jail slot and a working folder. Yield the settings with this slot, and the folder."""
    settings = load_settings()
    with hold_local_slot() as slot, work_folder(settings.work) as folder:
        yield replace(settings, slot=slot), folder


@contextmanager
def prepared(library: Path) -> Iterator[tuple[Settings, Path, Path]]:
    """Hold a slot and a working folder as local_jail() does, and copy `library` into the folder.

    Yields the settings, the folder and the path of the copy.
    """
    with local_jail() as (settings, folder):
        yield settings, folder, copy_into(folder, library)
