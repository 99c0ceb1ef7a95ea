"""Lets users upload libraries, and list, delete and download their own submissions.

A submission is an uploaded library with the benchmarks to run. Each of these benchmarks, and each correctness test,
becomes a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard import catalogue, queries, services, submission_page
from leaderboard.compared_runs import RUNS_MAX
from leaderboard.contests.entries import entries_of_own_teams
from leaderboard.my_submissions import my_submissions
from leaderboard.queue import quotas
from leaderboard.submissions import files
from web import jinja
from web.boards.rows import submission_name
from web.http import fragment, number, private_file
from web.submissions.forms import UploadForm
from web.submissions.limits import count_upload, too_many_uploads
from web.submissions.upload_handler import was_too_large

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from leaderboard.models import Submission
    from web.http import UserRequest

CREATED = "Submitted. The runs below start as soon as a machine is free."


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: UserRequest) -> HttpResponse:
    """Show the upload form (GET), or submit a library and queue its runs (POST).

    If the library is refused, show the form again with the reasons.
    """
    if request.method != "POST":
        return render(request, "submissions/upload.html", _blank(request))
    too_large = was_too_large(request)
    form = UploadForm(request.POST, request.FILES, too_large=too_large)
    status = 413 if too_large else 200
    wait = count_upload(request.user)
    if wait:
        status = 429
        form.add_error(None, too_many_uploads(wait))
    elif form.is_valid() and (submission := _submit(request, form)):
        if queries.refused_upload(submission.pk, request.user):
            return redirect(jinja.url("submissions:upload", refused=submission.pk))
        messages.success(request, CREATED)
        return redirect("submissions:list")
    context = {"form": form, "refused": None, "left": quotas.left(request.user)}
    return render(request, "submissions/upload.html", context, status=status)


def _blank(request: UserRequest) -> dict[str, Any]:
    """Return the context of the page with the upload form.

    If the URL's query names a refused submission (`refused`), the form contains the values of that submission, and the
    page shows why it was refused. Otherwise the form is empty.
    """
    refused = None
    initial = {}
    if pk := number(request, "refused"):
        refused = queries.refused_upload(pk, request.user)
    if refused is not None:
        initial = {
            "description": refused.submission.description,
            "targets": refused.targets,
            "configurations": [refused.submission.configuration],
        }
    return {
        "form": UploadForm(initial=initial),
        "refused": refused,
        "left": quotas.left(request.user),
    }


def _submit(request: UserRequest, form: UploadForm) -> Submission | None:
    """Submit a valid form. If the service raises Refused, add its messages to the form and return None."""
    file = form.cleaned_data["file"]
    configuration, *further = form.chosen_configurations
    try:
        return services.submit(
            owner=request.user,
            file=file.file,
            file_name=file.name,
            description=form.cleaned_data["description"],
            targets=[catalogue.parse_target(text) for text in form.cleaned_data["targets"]],
            configuration=configuration,
            further_configurations=further,
        )
    except services.Refused as refused:
        for message in refused.messages:
            form.add_error(None, jinja.sentence(message))
        return None


def _table(request: UserRequest) -> dict[str, Any]:
    """Return the context of the table of submissions.

    In the URL's query, `before` selects a page of older submissions. `seen` is the number of runs that, according
    to the table in the browser, have not ended. If that number has changed, screen readers announce the new number.
    """
    before = number(request, "before")
    page = my_submissions(request.user, before=before)
    unfinished = sum(not run.is_final for run in page.all_runs if not run.verified)
    return {
        "page": page,
        "title_of": catalogue.title_of,
        "submission_name": submission_name,
        "configurations": {
            row.submission.pk: row.submission.configuration
            for upload in page.uploads
            for row in upload.rows
        },
        "compared_max": RUNS_MAX,
        "before": before,
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
    """Return only the table, which reloads itself until all runs have ended."""
    context = _table(request)
    tag = context["page"].live_tag
    final = context["unfinished"] == 0
    return fragment(request, "submissions/table.html", context, tag=tag, final=final)


@require_safe
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a submission: its correctness tests, its benchmarks with their ranks, and the owner's similar submissions.

    Similar submissions have the same file name. Until all runs have ended, the page requests itself again, and shows
    the new states. In the URL's query, `seen` is the number of runs that, according to the browser, have not ended.
    """
    found = submission_page.submission_detail(pk, request.user)
    if found is None:
        raise Http404
    name, variant = submission_name(found.row.submission)
    unfinished = sum(not run.is_final for run in found.row.all_runs)
    gates = [
        run
        for run in (*found.row.gate_runs, *(run for run in found.row.audits if run.is_gate))
        if run.verdict != "refused"
    ]
    context = {
        "page": found,
        "submission": found.row.submission,
        "name": name,
        "variant": variant,
        "gates": gates,
        "passed": sum(run.verdict == "passed" for run in found.row.gate_runs),
        "targets": [(timed.run.benchmark, timed.run.instance) for timed in found.timed],
        "title_of": catalogue.title_of,
        "unfinished": unfinished,
        "announce": request.GET.get("seen", str(unfinished)) != str(unfinished),
        "tag": found.live_tag,
        "contest_entries": entries_of_own_teams(found.row.submission, request.user),
        "history": [(one, submission_page.scores(one)) for one in found.history],
    }
    if "HX-Request" in request.headers:
        return fragment(
            request,
            "submissions/detail.html",
            context,
            tag=found.live_tag,
            final=unfinished == 0,
        )
    return render(request, "submissions/detail.html", context)


def _own(request: UserRequest, pk: int) -> Submission:
    """Return a submission that the user may change.

    If there is no such submission, respond 404, so that users cannot learn which submissions of other users exist.
    """
    submission = queries.own_submission(pk, request.user)
    if submission is None:
        raise Http404
    return submission


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: UserRequest, pk: int) -> HttpResponse:
    """Show a page that asks for confirmation (GET), or delete a submission from all pages (POST)."""
    submission = _own(request, pk)
    variants = list(submission_page.variants(submission))
    if request.method != "POST":
        context = {"submission": submission, "variants": variants}
        return render(request, "submissions/delete.html", context)
    deleted = [
        services.withdraw(one, by=request.user)
        for one in (submission, *(variants if "all" in request.POST else ()))
    ]
    if count := sum(deleted):
        message = (
            "The submission was deleted." if count == 1 else f"{count} submissions were deleted."
        )
        messages.success(request, message)
    return redirect("submissions:list")


@login_required
@require_safe
def library(request: UserRequest, pk: int) -> HttpResponseBase:
    """Send the submitted file to its owner or an organiser."""
    submission = _own(request, pk)
    name = f"{submission.blob_sha256[:12]}.so"
    stored = files.open_library(submission)
    if stored is None:
        raise Http404
    return private_file(stored, name, "application/octet-stream")
