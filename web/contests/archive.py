"""Writes the results of a contest as HTML files that need no server. The command archive_contest calls this."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from django.template.loader import render_to_string

from web.contests.access import Visit
from web.contests.views import board_context, front_context

if TYPE_CHECKING:
    from leaderboard.contests.models import Contest

STYLES = ("vendor/pico.min.css", "site.css", "navigation.css", "data.css", "board.css")
_STATIC = Path(__file__).resolve().parents[1] / "static"


def write_archive(contest: Contest, folder: Path) -> list[Path]:
    """Write the front page, one page for each board, and the style sheets. Return the pages.

    The archive has what an anonymous visitor sees. Before the results are published, this is the state of the boards at
    the freeze, the date from which the contest hides new results.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in STYLES:
        shutil.copyfile(_STATIC / name, folder / Path(name).name)
    public = Visit(contest, frozenset(), None)
    # No phase is marked as the current one, because people read the archive at any time.
    common = {"styles": [Path(name).name for name in STYLES], "phase": None}
    front = front_context(public)
    pages = {"index.html": {**front, **common, "board": None}}
    for found, _ in front["boards"]:
        slug = found.board.slug
        pages[f"board-{slug}.html"] = {**board_context(public, slug), **common}
    for name, context in pages.items():
        (folder / name).write_text(render_to_string("contests/archive.html", context))
    return [folder / name for name in pages]
