"""Uploading, listing and deleting one's submissions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard import catalogue, files, queries, services
from web.http import fragment, private_file
from web.submissions.forms import UploadForm
from web.submissions.limits import count_upload
from web.submissions.upload_handler import was_too_large

if TYPE_CHECKING:
    from django.http.response import HttpResponseBase

    from leaderboard.models import Submission
    from web.http import UserRequest

_NUMBER = re.compile(r"[0-9]{1,18}")
CREATED = "Submitted. The runs below start as soon as the machine is free."


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: UserRequest) -> HttpResponse:
    """Show the form; take a library in and queue its runs."""
    if request.method != "POST":
        return render(request, "submissions/upload.html", {"form": UploadForm()})
    too_large = was_too_large(request)
    form = UploadForm(request.POST, request.FILES, too_large=too_large)
    status = 413 if too_large else 200
    wait = count_upload(request.user)
    if wait:
        status = 429
        form.add_error(None, f"Too many uploads in an hour. Try again in {wait // 60 + 1} minutes.")
    elif form.is_valid() and _submit(request, form):
        messages.success(request, CREATED)
        return redirect("submissions:list")
    return render(request, "submissions/upload.html", {"form": form}, status=status)


def _submit(request: UserRequest, form: UploadForm) -> bool:
    """Hand a valid form to the service; if that refuses the file, put its reasons into the form."""
    file = form.cleaned_data["file"]
    try:
        services.submit(
            owner=request.user,
            file=file.file,
            file_name=file.name,
            description=form.cleaned_data["description"],
            targets=[catalogue.parse_target(text) for text in form.cleaned_data["targets"]],
            configuration=form.cleaned_data["configuration"],
        )
    except services.Refused as refused:
        for message in refused.messages:
            form.add_error("file", f"{message[:1].upper()}{message[1:]}.")
        return False
    return True


def _table(request: UserRequest) -> dict[str, Any]:
    """Return what the table of submissions shows; `before` continues a long list, `seen` is what was open last time."""
    # fullmatch, because isdigit() takes signs that int() does not, and int() refuses endless ones.
    before = request.GET.get("before", "")
    before = before if _NUMBER.fullmatch(before) else ""
    page = queries.my_submissions(request.user, before=int(before) if before else None)
    unfinished = sum(not run.is_final for row in page.rows for run in (*row.runs, *row.gate_runs))
    return {
        "page": page,
        "before": before or None,
        "unfinished": unfinished,
        "announce": request.GET.get("seen", str(unfinished)) != str(unfinished),
    }


@login_required
@require_safe
def listing(request: UserRequest) -> HttpResponse:
    """Show the user's submissions."""
    return render(request, "submissions/list.html", _table(request))


@login_required
@require_safe
def table(request: UserRequest) -> HttpResponse:
    """Return the table alone, for a page that follows the runs."""
    context = _table(request)
    tag = context["page"].live_tag
    final = context["unfinished"] == 0
    return fragment(request, "submissions/table.html", context, tag=tag, final=final)


def _own(request: UserRequest, pk: int) -> Submission:
    """Return a submission that the user may change; 404 otherwise, whether it exists or not."""
    submission = queries.own_submission(pk, request.user)
    if submission is None:
        raise Http404
    return submission


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: UserRequest, pk: int) -> HttpResponse:
    """Ask first; then take a submission off all pages."""
    submission = _own(request, pk)
    if request.method != "POST":
        return render(request, "submissions/delete.html", {"submission": submission})
    if services.withdraw(submission, by=request.user):
        messages.success(request, "Deleted.")
    return redirect("submissions:list")


@login_required
@require_safe
def library(request: UserRequest, pk: int) -> HttpResponseBase:
    """Give the owner, or an organiser, the submitted file back."""
    submission = _own(request, pk)
    name = f"{submission.blob_sha256[:12]}.so"
    stored = files.open_library(submission)
    if stored is None:
        raise Http404
    return private_file(stored, name, "application/octet-stream")
