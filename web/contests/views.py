"""Shows contests to everyone: the list, the front page of each, its boards, and its announcements as an Atom feed.

A board ranks the entries of the contest on one benchmark. Officials, the users with a role in a contest, see more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import prefetch_related_objects
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_safe

from leaderboard import queries
from leaderboard.contests.models import Contest, Phase
from leaderboard.contests.results import contest_standing, newest_result, open_runs
from leaderboard.contests.teams import reason_against_joining
from web import jinja
from web.boards.rows import result_column
from web.contests.access import visit
from web.contests.rows import board_lines, combined_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from django.http import HttpRequest

    from leaderboard.contests.models import HiddenInstance
    from leaderboard.contests.standings import ContestBoard
    from leaderboard.viewer import Viewer
    from web.contests.access import Visit

FEED_ITEMS = 30
NOTICES = 5


@require_safe
def every_contest(request: HttpRequest) -> HttpResponse:
    """Show all published contests, and drafts to those who may see them."""
    contests = Contest.objects.all()
    if not (request.user.is_authenticated and request.user.is_staff):
        mine = contests.filter(officials__user_id=request.user.pk or 0)
        contests = (
            contests.filter(published=True) | Contest.objects.filter(pk__in=mine)
        ).distinct()
    return render(request, "contests/list.html", {"contests": contests})


def front_context(found: Visit, *, live: bool = False) -> dict[str, Any]:
    """Return what the front page and the archive show of a contest: boards, leaders, the combined ranking, messages.

    3 SQL statements for a stored result, and otherwise at most 8.
    """
    prefetch_related_objects([found.contest], "hidden_instances")
    standing = contest_standing(found.contest, live=live)
    boards = standing.boards
    combined, axis = combined_lines(found, standing.combined, _counting(boards))
    return {
        "contest": found.contest,
        "phase": found.contest.phase,
        "phases": Phase,
        "result": standing.result,
        "boards": [(board, board_lines(found, board)[0]) for board in boards],
        "combined": combined,
        "axis": axis,
        "hidden_instances": hidden_rows(found.contest),
        "messages_of_contest": list(found.contest.messages.all()[:FEED_ITEMS]),
    }


def _counting(boards: Sequence[ContestBoard]) -> int:
    """Return how many boards the combined score counts."""
    return sum(board.counts for board in boards)


def hidden_rows(contest: Contest) -> list[HiddenInstance]:
    """Return the contest's hidden instances, i.e. instances with secret parameters, except removed ones.

    Templates show only the title of an instance that is still secret.
    """
    return [one for one in contest.hidden_instances.all() if one.removed_at is None]


@require_safe
def front(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a contest: its phase and dates, who leads, its announcements and its rules."""
    found = visit(request, slug)
    notices = found.contest.notices.filter(user_id=request.user.pk or 0)[:NOTICES]
    context = {
        **front_context(found),
        "visit": found,
        "notices": notices,
        "cannot_join": reason_against_joining(found.contest),
        "open_runs": 0,
        "subscribed": request.user.is_authenticated
        and settings.KEYDROME_SENDS_MAIL
        and found.contest.subscriptions.filter(user_id=request.user.pk).exists(),
    }
    if found.contest.phase is Phase.CLOSED and context["result"] is None:
        context["open_runs"] = open_runs(found.contest)
    return render(request, "contests/front.html", context)


def board_context(
    found: Visit, board_slug: str, *, live: bool = False, viewer: Viewer | None = None
) -> dict[str, Any]:
    """Return what the page of a contest's board shows. Responds 404 if the contest does not have the board.

    With `live`, officials see the current state, and also the boards of hidden instances that are not public yet.
    Without a viewer, the rows of a stored result have no links to runs.
    """
    prefetch_related_objects([found.contest], "hidden_instances")
    standing = contest_standing(found.contest, live=live, secret=live)
    for board in standing.boards:
        if board.board.slug == board_slug:
            seen = _with_page(board, viewer) if standing.result else None
            lines, axis = board_lines(found, board, seen)
            hidden = [one for one in hidden_rows(found.contest) if one.slug == board_slug]
            return {
                "contest": found.contest,
                "result": standing.result,
                "found": board,
                "board": board.board,
                "lines": lines,
                "axis": axis,
                "column": result_column(board.board),
                "live": live,
                "hidden": hidden[0] if hidden else None,
            }
    raise Http404


def _with_page(board: ContestBoard, viewer: Viewer | None) -> set[int]:
    """Return those runs of a board that the viewer may see. 1 SQL statement, none without a viewer."""
    if viewer is None:
        return set()
    ids = [row.entry.run_id for row in board.rows]
    return set(queries.visible_runs(viewer).filter(pk__in=ids).values_list("pk", flat=True))


@require_safe
def board(request: HttpRequest, slug: str, board_slug: str) -> HttpResponse:
    """Show a board of a contest. From the freeze until the results, it shows the state at the freeze.

    With `?live=1`, officials see the current state.
    """
    found = visit(request, slug)
    live = found.official and request.GET.get("live") == "1"
    context = {**board_context(found, board_slug, live=live, viewer=request.user), "visit": found}
    return render(request, "contests/board.html", context)


@require_safe
def result(request: HttpRequest, slug: str) -> JsonResponse:
    """Return the stored result of a finished contest as JSON, or respond 404 if there is none yet."""
    found = visit(request, slug)
    stored = newest_result(found.contest)
    if stored is None:
        raise Http404
    head = {
        "contest": found.contest.slug,
        "name": found.contest.name,
        "version": stored.version,
        "reason": stored.reason,
        "stored": stored.stored_at.isoformat(timespec="seconds"),
    }
    return JsonResponse({**head, **stored.content})


@require_safe
def feed(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the announcements of a contest as an Atom feed."""
    found = visit(request, slug)
    contest = found.contest
    front_page = request.build_absolute_uri(jinja.url("contests:front", slug))
    atom = Atom1Feed(
        title=contest.name,
        link=front_page,
        description=contest.summary,
        feed_url=request.build_absolute_uri(),
    )
    for message in contest.messages.all()[:FEED_ITEMS]:
        link = f"{front_page}#message-{message.pk}"
        atom.add_item(
            title=jinja.printable(message.title),
            link=link,
            unique_id=link,
            description=str(jinja.markdown(message.body)),
            pubdate=message.published_at,
            updateddate=message.published_at,
        )
    return HttpResponse(
        atom.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8"
    )
