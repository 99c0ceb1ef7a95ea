"""Shows the ranked entries of one user, or of all files with one name, on all boards (rankings of libraries)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import Http404
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import overview
from leaderboard.boards import FAMILIES, all_boards
from web import jinja
from web.boards.rows import entry_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpRequest, HttpResponse

    from leaderboard.boards import Board
    from leaderboard.models import BoardEntry


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An entry on a board, with the two parts of its name and its user's name."""

    board: Board
    entry: BoardEntry
    name: str
    variant: str
    user: str


def _rows(entries: Sequence[BoardEntry]) -> list[EntryRow]:
    """Return the rows by board: main boards (those of a contest) first, then by title; within a board, by rank."""
    boards = {board.slug: board for board in all_boards()}
    found = [
        EntryRow(
            boards[entry.board],
            entry,
            *entry_name(entry.run.submission.file_name, entry.configuration),
            jinja.printable(entry.user.get_username()),
        )
        for entry in entries
    ]
    return sorted(found, key=lambda row: (not row.board.main, row.board.title.casefold()))


def _page(
    request: HttpRequest, kind: str, name: str, entries: Sequence[BoardEntry]
) -> HttpResponse:
    """Return the page. Without entries the response is 404, as for an unknown name, to hide which users exist."""
    if not entries:
        raise Http404
    rows = _rows(entries)
    families = dict.fromkeys(row.board.family for row in rows)
    context = {
        "kind": kind,
        "name": jinja.printable(name),
        "rows": rows,
        "families": {family: FAMILIES[family].title for family in families},
        "classes": len({entry.machine_class for entry in entries}),
        "full": len(entries) == overview.ENTRIES_MAX,
    }
    return render(request, "boards/entries.html", context)


@require_safe
def user(request: HttpRequest, name: str) -> HttpResponse:
    """Show the ranked entries of a user on all boards."""
    return _page(request, "user", name, overview.entries_of(user=name))


@require_safe
def structure(request: HttpRequest, name: str) -> HttpResponse:
    """Show the ranked entries of all files with this name, under all configurations and of all users."""
    return _page(request, "structure", name, overview.entries_of(structure=name))
