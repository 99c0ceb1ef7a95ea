"""Makes tests faster: the inspection of a library executes only once per test session.

Each inspection starts a process, and most tests submit the same few libraries. The result of an inspection depends only
on the library's bytes and on the limits, so it can be remembered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leaderboard import services
from runner.catalogue import trusted_needed
from runner.inspection.library import LibraryFacts, inspect_library

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.settings import Settings


@pytest.fixture(scope="session", autouse=True)
def inspected_once() -> Iterator[None]:
    """Make services.submit remember the inspection of each file and each set of limits."""
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
