"""Makes tests faster: each picture of a curve is drawn only once per test session.

Drawing the four pictures of a run takes most of a second, and most runs of the tests have the same curves. The same
curve always gives the same bytes (test_plots.py tests this), so a picture can be remembered.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leaderboard import plots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _remembering(draw: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """Return a function that draws a stored curve as `draw` does, but each curve only once."""
    known: dict[str, bytes] = {}

    def drawn(stored: Any) -> bytes:
        key = json.dumps(stored, sort_keys=True)
        if key not in known:
            known[key] = draw(stored)
        return known[key]

    return drawn


@pytest.fixture(scope="session", autouse=True)
def drawn_once() -> Iterator[None]:
    """Make plots.draw_missing remember the picture of each curve."""
    with pytest.MonkeyPatch.context() as patch:
        for name, (series, draw) in plots._DRAWERS.items():
            patch.setitem(plots._DRAWERS, name, (series, _remembering(draw)))
        yield
