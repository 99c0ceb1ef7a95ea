"""The pages on which the owner of a contest's entry hands in the source code, and owner and jury download it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.contests import sources
from leaderboard.contests.models import Entry, Source
from leaderboard.contests.organising import Right
from leaderboard.services import Refused
from web import jinja
from web.contests.access import visit
from web.contests.forms import SourceForm
from web.http import private_file
from web.submissions.limits import count_upload, too_many_uploads
from web.submissions.upload_handler import was_too_large

if TYPE_CHECKING:
    from django.http.response import HttpResponseBase

    from web.contests.access import Visit
    from web.http import UserRequest


def _entry(found: Visit, pk: int) -> Entry:
    """Return an entry of the contest, or respond 404."""
    entries = Entry.objects.select_related("contest", "team", "submission__owner", "source")
    entry = entries.filter(contest=found.contest, pk=pk).first()
    if entry is None:
        raise Http404
    return entry


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def hand_in(request: UserRequest, slug: str, pk: int) -> HttpResponse:
    """Show the form with which the owner of an entry hands in its source (GET), or store the file (POST)."""
    entry = _entry(visit(request, slug), pk)
    if not sources.may_hand_in(entry, request.user):
        raise Http404
    too_large = request.method == "POST" and was_too_large(request)
    form = SourceForm(request.POST or None, request.FILES or None, too_large=too_large)
    status = 413 if too_large else 200
    if request.method == "POST":
        if wait := count_upload(request.user):
            status = 429
            form.add_error(None, too_many_uploads(wait))
        elif form.is_valid():
            file = form.cleaned_data["file"]
            try:
                sources.hand_in(entry, file, file.name)
            except Refused as refused:
                form.add_error("file", jinja.sentence(str(refused)))
            else:
                messages.success(request, "The source code has been handed in.")
                return redirect("contests:source", slug, pk)
    context = {
        "contest": entry.contest,
        "entry": entry,
        "source": getattr(entry, "source", None),
        "why_not": sources.reason_against(entry),
        "form": form,
    }
    return render(request, "contests/source.html", context, status=status)


@login_required
@require_safe
def download(request: UserRequest, slug: str, pk: int) -> HttpResponseBase:
    """Send the source of an entry to its owner or to the jury."""
    found = visit(request, slug)
    entry = _entry(found, pk)
    source: Source | None = getattr(entry, "source", None)
    allowed = Right.JUDGE in found.rights or sources.may_hand_in(entry, request.user)
    if source is None or not allowed:
        raise Http404
    try:
        stored = source.file.open("rb")
    except FileNotFoundError as error:
        raise Http404 from error
    ending = str(source.file.name).partition(".")[2]
    name = f"source-{entry.submission_id}.{ending}"
    return private_file(stored, name, "application/octet-stream")
