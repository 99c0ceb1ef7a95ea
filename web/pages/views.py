"""Shows the pages about the site itself: front page, how it works, news, status, machines, account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard import catalogue, overview, queries
from leaderboard.boards import all_boards
from leaderboard.contests.current import current_contests
from leaderboard.contests.models import Phase
from leaderboard.models import Machine
from web.boards.leads import lead_rows
from web.boards.rows import entry_name
from web.copies import copied
from web.http import fragment
from web.pages import downloads
from web.submissions.figures import fact_rows

if TYPE_CHECKING:
    from datetime import datetime

    from django.http import HttpRequest, HttpResponse

    from web.http import UserRequest

# The front page shows this many boards, contests, most recently finished runs, and announcements.
LEADS = 6
CONTESTS = 3
RECENT = 6
NEWS = 2


@require_safe
@copied
def home(request: HttpRequest) -> HttpResponse:
    """Show the contests, who leads, how to take part, the most recently finished runs, and the news."""
    boards = all_boards()
    found = overview.leads(sorted(boards, key=lambda board: not board.main))
    main = [lead for lead in found if lead.board.main]
    further = [lead for lead in found if lead.entries and not lead.board.main]
    rows, axis = lead_rows([*main, *further[: LEADS - len(main)]])
    context = {
        "contests": current_contests(CONTESTS),
        "phases": Phase,
        "rows": rows,
        "axis": axis,
        "boards": len(boards),
        "headers": downloads.listed(tuple(downloads.HEADERS)),
        "examples": downloads.listed(tuple(downloads.EXAMPLES)),
        "documents": downloads.listed(tuple(downloads.DOCUMENTS)),
        "kit": downloads.listed((downloads.KIT,))[0],
        "kit_address": request.build_absolute_uri(reverse("download", args=[downloads.KIT])),
        "recent": [
            (run, *entry_name(run.submission.file_name, run.submission.configuration))
            for run in overview.recent_runs(RECENT)
        ],
        "titles": {(board.benchmark, board.instance): board.title for board in boards},
        "announcements": queries.announcements(NEWS),
    }
    return render(request, "pages/home.html", context)


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    """Explain what happens to a submission and how to read a board, a ranking of libraries."""
    return render(request, "pages/about.html", {"benchmarks": catalogue.benchmarks().values()})


@require_safe
def announcements(request: HttpRequest) -> HttpResponse:
    """Show all news, newest first."""
    return render(request, "pages/announcements.html", {"announcements": queries.announcements()})


def _status(request: HttpRequest) -> dict[str, Any]:
    """Return the context of the templates that show the state of the queue and of the machines.

    `seen` in the URL's query is the state of the queue that the browser shows now. If the state has changed, screen
    readers announce the new state.
    """
    found = queries.system_status()
    word = "stalled" if found.stalled else "working"
    announce = request.GET.get("seen", word) != word
    return {"status": found, "tag": found.live_tag, "word": word, "announce": announce}


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    """Show the state of the queue, and of the machines that execute runs."""
    return render(request, "pages/status.html", _status(request))


@require_safe
def status_state(request: HttpRequest) -> HttpResponse:
    """Return the part of the status page that changes. This part reloads itself."""
    context = _status(request)
    return fragment(request, "pages/status_body.html", context, tag=context["tag"], final=False)


@require_safe
def machine(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the facts about a machine, and its times of the control library, which every timed run measures too."""
    page = queries.machine_page(pk, request.user)
    if page is None:
        raise Http404
    further = {n: v for n, v in page.machine.facts.items() if n not in {"name", "class"}}
    context = {"page": page, "machine": page.machine, "facts": fact_rows(further)}
    return render(request, "pages/machine.html", {**context, **_seen(pk, page.last_sign)})


def _seen(pk: int, last_sign: datetime | None) -> dict[str, Any]:
    """Return the context of the template that shows the time of a machine's last sign of life."""
    return {
        "pk": pk,
        "last_sign": last_sign,
        "tag": f"{last_sign:%Y%m%dT%H%M%S}" if last_sign else "never",
    }


@require_safe
def machine_seen(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the time of a machine's last sign of life. This part of the machine's page reloads itself."""
    try:
        context = _seen(pk, queries.last_sign_of_machine(pk))
    except Machine.DoesNotExist as error:
        raise Http404 from error
    return fragment(request, "pages/machine_seen.html", context, tag=context["tag"], final=False)


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Redirect /favicon.ico to the site's icon. Browsers request this URL for the admin pages, which name no icon."""
    return redirect(static("favicon.svg"))


@require_safe
@login_required
def account(request: UserRequest) -> HttpResponse:
    """Show links to the settings of the user's account."""
    return render(request, "account/overview.html")
