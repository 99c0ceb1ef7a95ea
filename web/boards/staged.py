"""Lets organisers switch a board (a ranking of libraries) to the newest version of its benchmark.

The page compares the ranks at the shown version with the ranks at the newest version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from leaderboard import live_boards
from leaderboard.boards import board_named
from leaderboard.services import Refused
from leaderboard.submissions import reruns
from results.counts import counted
from web import jinja
from web.boards.rows import entry_name

if TYPE_CHECKING:
    from leaderboard.boards import Board
    from web.http import UserRequest


def _board(request: UserRequest, slug: str) -> Board:
    """Return the board. Responds 404 if it does not exist, or if the visitor is not an organiser of the site."""
    found = board_named(slug)
    if found is None or not request.user.is_staff:
        raise Http404
    return found


@login_required
@require_safe
def page(request: UserRequest, slug: str) -> HttpResponse:
    """Show the old and the new rank of each entry, and why some entries have no new rank."""
    board = _board(request, slug)
    found = live_boards.staging(board, request.user)
    classes = {
        name: [
            (change, *entry_name(change.entry.run.submission.file_name, change.entry.configuration))
            for change in changes
        ]
        for name, changes in (found.changes if found else {}).items()
    }
    return render(
        request, "boards/staged.html", {"board": board, "found": found, "classes": classes}
    )


@login_required
@require_POST
def repeat(request: UserRequest, slug: str) -> HttpResponse:
    """Queue the missing runs of the newest benchmark versions, for all boards."""
    board = _board(request, slug)
    runs = reruns.rerun_stale()
    if runs:
        messages.success(request, f"Queued {counted(len(runs), 'run')}.")
    else:
        messages.info(
            request, "No run was queued, because all missing runs are already in the queue."
        )
    return redirect("boards:staged", board.slug)


@login_required
@require_POST
def make_live(request: UserRequest, slug: str) -> HttpResponse:
    """Let the public board show the newest benchmark version."""
    board = _board(request, slug)
    try:
        live = live_boards.make_live(board, by=request.user)
    except Refused as refused:
        messages.error(request, jinja.sentence(str(refused)))
        return redirect("boards:staged", board.slug)
    messages.success(request, f"The board now shows version {live.version} of its benchmark.")
    return redirect("boards:board", board.slug)
