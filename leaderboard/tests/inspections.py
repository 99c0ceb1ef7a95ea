"""Each library is really inspected, but once: every test submits the same few.

The answer depends on the bytes and the limits alone; a process for each inspection is what it costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leaderboard import services
from runner.catalogue import trusted_needed
from runner.elf import LibraryFacts, inspect_library

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.settings import Settings


@pytest.fixture(scope="session", autouse=True)
def inspected_once() -> Iterator[None]:
    """Let services.submit remember what the inspection of a blob said, as long as the limits are the same."""
    known: dict[object, LibraryFacts] = {}

    def inspected(blob: Path, settings: Settings, *, trusted: bool = False) -> LibraryFacts:
        needed = trusted_needed(settings) if trusted else None
        key = (blob.name, settings.library_bytes_max, needed)  # a blob's name is its digest
        if key not in known:
            known[key] = inspect_library(blob, settings, trusted=trusted)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "inspect_library", inspected)
        yield
