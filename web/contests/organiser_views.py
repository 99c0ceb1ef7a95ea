"""The pages on which the officials of a contest, i.e. the users with a role in it, run the contest.

leaderboard/contests/organising.py checks and records what the officials do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.db.models import Count, Prefetch
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard import catalogue, queries
from leaderboard.contests import organising
from leaderboard.contests.models import Contest, Entry, Phase, Role
from leaderboard.contests.organising import Right
from leaderboard.services import Refused
from results.counts import counted
from web import jinja
from web.contests.access import visit
from web.contests.forms import AnnounceForm, ContestForm, ReasonForm, RoleForm
from web.paging import newest_first

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from web.http import UserRequest

ENTRIES = 100
TEAMS = 100
# The overview counts entries and teams up to this number, because counting costs time for each of them.
COUNT_MAX = 1000
LOG_LINES = 50
NOTHING_QUEUED = (
    "No run was queued, because no chosen entry has a timed run that can be repeated. Choose entries whose timed runs "
    "have ended, and whose files were neither refused nor deleted."
)


def _saved_contest(request: UserRequest, contest: Contest | None) -> tuple[ContestForm, bool]:
    """Return the form of a contest, and whether it was valid and is saved now."""
    form = ContestForm(request.POST if request.method == "POST" else None, instance=contest)
    if request.method != "POST" or not form.is_valid():
        return form, False
    with transaction.atomic():
        form.instance.boards = form.cleaned_data["boards"]
        saved: Contest = form.save()
        saved.guests.set(form.cleaned_data["guest_names"])
        if contest is None:
            saved.officials.create(user=request.user, role=Role.OWNER)
        changed = ", ".join(str(form[name].label) for name in form.changed_data)
        edited = f"changed {changed}" if changed else "saved the contest without a change"
        organising.log(saved, request.user, edited if contest else "created the contest")
    return form, True


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: UserRequest) -> HttpResponse:
    """Create a contest. Only the site's organisers may do this."""
    if not request.user.is_staff:
        raise Http404
    form, saved = _saved_contest(request, None)
    if saved:
        messages.success(request, "The contest is created.")
        return redirect("contests:front", form.instance.slug)
    return render(request, "contests/edit.html", {"form": form, "contest": None})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: UserRequest, slug: str) -> HttpResponse:
    """Change a contest."""
    contest = visit(request, slug, Right.ORGANISE).contest
    form, saved = _saved_contest(request, contest)
    if saved:
        messages.success(request, "The contest is saved.")
        return redirect("contests:overview", form.instance.slug)
    # A form with errors has changed the object, so the page reads it again.
    stored = Contest.objects.get(pk=contest.pk)
    return render(request, "contests/edit.html", {"form": form, "contest": stored})


@login_required
@require_safe
def overview(request: UserRequest, slug: str) -> HttpResponse:
    """Show the officials the newest entries, and what they can do."""
    found = visit(request, slug, Right.SEE)
    entries = found.contest.entries.select_related("team", "submission__owner")
    page = newest_first(request, entries.prefetch_related(_visible_runs(request)), ENTRIES)
    context = {
        "visit": found,
        "contest": found.contest,
        "page": page,
        "entries": found.contest.entries.all()[: COUNT_MAX + 1].count(),
        "teams": found.contest.teams.all()[: COUNT_MAX + 1].count(),
        "count_max": COUNT_MAX,
        "takes_teams": found.contest.phase not in {Phase.FINALS, Phase.CLOSED},
        "reason_form": ReasonForm(),
        "twins": _twins(found.contest, page.rows),
    }
    return render(request, "contests/overview.html", context)


@login_required
@require_safe
def teams(request: UserRequest, slug: str) -> HttpResponse:
    """Show the officials the teams with their members, newest first."""
    found = visit(request, slug, Right.SEE)
    rows = found.contest.teams.annotate(entered=Count("entries"))
    page = newest_first(request, rows.prefetch_related("members__user"), TEAMS)
    return render(request, "contests/teams.html", {"contest": found.contest, "page": page})


def _visible_runs(request: UserRequest) -> Prefetch[str]:
    """Return the prefetch that loads those runs of each submission that the official may see."""
    return Prefetch("submission__runs", queryset=queries.visible_runs(request.user))


def _twins(contest: Contest, shown: Iterable[Entry]) -> list[list[Entry]]:
    """Return groups of entries with the same file from different teams, if the page shows one of the entries.

    1 SQL statement. The statement reads only entries that have the same file as an entry on the page. Reading all
    entries of a contest for every page would take too long.
    """
    digests = {entry.submission.blob_sha256 for entry in shown}
    same = contest.entries.filter(submission__blob_sha256__in=digests)
    groups: dict[str, list[Entry]] = {}
    for entry in same.select_related("submission", "team").order_by("pk"):
        groups.setdefault(entry.submission.blob_sha256, []).append(entry)
    return [group for group in groups.values() if len({entry.team_id for entry in group}) > 1]


def _entry(contest: Contest, pk: int) -> Entry:
    """Return an entry of this contest, or respond 404."""
    entry = (
        Entry.objects.filter(contest=contest, pk=pk)
        .select_related("contest", "team", "submission__owner", "source")
        .first()
    )
    if entry is None:
        raise Http404
    return entry


@login_required
@require_safe
def entry(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Show the officials an entry with its runs and notes, and what they can do about it."""
    found = visit(request, slug, Right.SEE)
    shown = _entry(found.contest, pk)
    context = {
        "visit": found,
        "contest": found.contest,
        "entry": shown,
        # These may include runs on hidden instances (with secret parameters) of other contests, if the official may
        # see them.
        "runs": queries.visible_runs(request.user)
        .filter(submission=shown.submission)
        .select_related("hidden")
        .order_by("-pk"),
        "title_of": catalogue.title_of,
        "source": getattr(shown, "source", None),
        "notes": shown.notes.select_related("author").order_by("pk"),
        "reason_form": ReasonForm(),
    }
    return render(request, "contests/entry.html", context)


def _do(request: UserRequest, action: Callable[[], object], done: str = "") -> None:
    """Carry out an action, and show the message `done`, or why the action was refused.

    If `done` is empty, the action returns the number of runs that it has queued.
    """
    try:
        result = action()
    except Refused as refused:
        messages.error(request, jinja.sentence(str(refused)))
        return
    if done:
        messages.success(request, done)
    elif isinstance(result, int) and result > 0:
        messages.success(request, f"Queued {counted(result, 'run')} again.")
    else:
        messages.warning(request, NOTHING_QUEUED)


@login_required
@require_POST
def judge(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Disqualify or restore an entry, repeat its runs, or add a note. The field `action` says which."""
    found = visit(request, slug, Right.JUDGE)
    shown = _entry(found.contest, pk)
    reason = request.POST.get("reason", "")
    by = request.user
    actions: dict[str, tuple[Callable[[], object], str]] = {
        "disqualify": (
            lambda: organising.disqualify(shown, reason, by=by),
            "The entry is disqualified, and the team is notified.",
        ),
        "restore": (
            lambda: organising.restore(shown, reason, by=by),
            "The entry is restored, and the team is notified.",
        ),
        "rerun": (
            lambda: organising.rerun(found.contest, [shown], reason, by=by),
            "",
        ),
        "note": (lambda: organising.add_note(shown, reason, by=by), "The note is saved."),
    }
    chosen = actions.get(request.POST.get("action", ""))
    if chosen is None:
        raise Http404
    _do(request, *chosen)
    return redirect("contests:entry", slug, pk)


@login_required
@require_POST
def rerun(request: UserRequest, slug: str) -> HttpResponse:
    """Repeat the runs of the chosen entries."""
    found = visit(request, slug, Right.JUDGE)
    numbers = [
        int(text) for text in request.POST.getlist("entry") if text.isascii() and text.isdigit()
    ]
    chosen = found.contest.entries.filter(pk__in=numbers[:ENTRIES]).select_related(
        "contest", "team", "submission"
    )
    reason = request.POST.get("reason", "")
    _do(request, lambda: organising.rerun(found.contest, chosen, reason, by=request.user))
    return redirect("contests:overview", slug)


@login_required
@require_POST
def sign_up(request: UserRequest, slug: str) -> HttpResponse:
    """Close or reopen the sign-up."""
    found = visit(request, slug, Right.ORGANISE)
    closed = request.POST.get("closed") == "1"
    reason = request.POST.get("reason", "")
    _do(
        request,
        lambda: organising.set_sign_up(found.contest, reason, closed=closed, by=request.user),
        "The sign-up is closed." if closed else "The sign-up is open again.",
    )
    return redirect("contests:overview", slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def announce(request: UserRequest, slug: str) -> HttpResponse:
    """Show the form of an announcement, or its preview, or publish it. The pressed button decides."""
    found = visit(request, slug, Right.ORGANISE)
    form = AnnounceForm(request.POST if request.method == "POST" else None)
    preview = request.method == "POST" and form.is_valid()
    if preview and request.POST.get("publish") == "1":
        values = form.cleaned_data
        organising.announce(
            found.contest,
            values["title"],
            values["body"],
            by=request.user,
            address=request.build_absolute_uri(jinja.url("contests:front", slug)),
        )
        messages.success(request, "The announcement is published.")
        return redirect("contests:front", slug)
    context = {
        "contest": found.contest,
        "form": form,
        "preview": preview,
        "subscribers": found.contest.subscriptions.count(),
    }
    return render(request, "contests/announce.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def roles(request: UserRequest, slug: str) -> HttpResponse:
    """Show who has a role, and grant or revoke roles."""
    found = visit(request, slug, Right.APPOINT)
    form = RoleForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        try:
            organising.appoint(found.contest, values["user_name"], values["role"], by=request.user)
        except Refused as refused:
            form.add_error(None, jinja.sentence(str(refused)))
        else:
            messages.success(request, "The role is saved.")
            return redirect("contests:roles", slug)
    officials = found.contest.officials.select_related("user").order_by("pk")
    context = {
        "contest": found.contest,
        "form": form,
        "officials": officials,
        "rights": [
            (role.label, [right.value for right in Right if right in held])
            for role, held in organising.RIGHTS.items()
        ],
    }
    return render(request, "contests/roles.html", context)


@login_required
@require_safe
def audit_log(request: UserRequest, slug: str) -> HttpResponse:
    """Show the officials what was done, newest first. The page cannot change anything."""
    found = visit(request, slug, Right.SEE)
    page = newest_first(request, found.contest.log.all(), LOG_LINES)
    return render(request, "contests/log.html", {"contest": found.contest, "page": page})
