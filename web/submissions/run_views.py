"""Shows a run: its page, the part of the page that reloads itself, its log and its plots.

A run is the request to judge one submitted library on one benchmark instance. Other views in this file cancel, repeat
and audit a run.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from leaderboard import catalogue, queries, services
from leaderboard.audits import schedule
from leaderboard.submissions import reruns
from leaderboard.submissions.report_columns import Curves
from results.counts import counted
from web import jinja
from web.copies import copied
from web.http import fragment, private_file
from web.submissions import bundles, figures
from web.submissions.run_curves import run_curves
from web.submissions.run_export import run_json

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from leaderboard.models import Run
    from leaderboard.queries import RunPage
    from runner.manifest import OwnMetric
    from web.http import UserRequest


def _page(request: HttpRequest, pk: int) -> RunPage:
    """Return the content of a run's page for this visitor. Responds 404 if the visitor may not see the run."""
    page = queries.run_page(pk, request.user)
    if page is None:
        raise Http404
    return page


def _tag(page: RunPage) -> str:
    """Return a tag for an ETag header, which changes whenever the live part of the page changes."""
    return queries.live_tag([page.run], {page.run.pk: page.wait} if page.wait else {})


def _context(request: HttpRequest, page: RunPage) -> dict[str, Any]:
    """Return the context of a run's templates.

    `seen` in the URL's query is the state that the browser shows now. If the state has changed, screen readers announce
    the new state.
    """
    run, detail = page.run, page.detail
    word = run.verdict or run.state
    sessions = figures.sessions(detail) if detail else []
    return {
        "page": page,
        "run": run,
        "detail": detail,
        "title": _title(run),
        # Ranks can still change after the run's end, but the page does not reload itself for this.
        "settled": run.is_final,
        "tag": _tag(page),
        "word": word,
        "announce": request.GET.get("seen", word) != word,
        "figures": figures.figures(run, detail, _own_metrics(run)) if detail else [],
        "sessions": sessions,
        "session_axis": figures.session_axis(run, sessions),
        "phases": figures.phases(detail) if detail and not run.is_gate else [],
        "parameters": figures.parameters(detail) if detail else [],
        "machine": figures.machine_facts(detail) if detail else [],
        "live": figures.live(run),
        "curves": run_curves(Curves.from_json(detail.series if detail else {})),
    }


def _own_metrics(run: Run) -> tuple[OwnMetric, ...]:
    benchmark = catalogue.benchmarks().get(run.benchmark)
    return benchmark.own_metrics if benchmark else ()


def _title(run: Run) -> str:
    """Return the title of the run's benchmark instance, or BENCHMARK/INSTANCE if the instance no longer exists."""
    if run.hidden is not None:
        return jinja.printable(run.hidden.title)
    benchmark = catalogue.benchmarks().get(run.benchmark)
    if benchmark is None or run.instance not in benchmark.instances:
        return f"{run.benchmark}/{run.instance}"
    return catalogue.full_title(benchmark, benchmark.instances[run.instance])


@require_safe
@copied
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the page of a run."""
    return render(request, "submissions/run.html", _context(request, _page(request, pk)))


@require_safe
def export(request: HttpRequest, pk: int) -> JsonResponse:
    """Return a run as JSON."""
    return JsonResponse(run_json(_page(request, pk)))


@require_safe
def bundle(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send a run that has ended as a signed bundle (a ZIP file), from which `keydrome replay` plays the run again."""
    page = _page(request, pk)
    if not page.run.is_final:
        raise Http404
    content = bundles.run_bundle(page, queries.artefacts_for(page.run))
    return private_file(io.BytesIO(content), f"keydrome-run-{pk}.zip", "application/zip")


@require_safe
def bundle_key(_request: HttpRequest) -> HttpResponse:
    """Show the key with which anybody can check the bundles of this site."""
    return HttpResponse(f"{bundles.public_key()}\n", content_type="text/plain; charset=utf-8")


@require_safe
def state(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the live part of the page. This part reloads itself until the run has ended."""
    page = _page(request, pk)
    context = _context(request, page)
    return fragment(
        request,
        "submissions/run_body.html",
        context,
        tag=context["tag"],
        final=context["settled"],
    )


@login_required
@require_POST
def cancel(request: UserRequest, pk: int) -> HttpResponse:
    """Cancel a queued or running run. Only its owner and organisers may do this."""
    page = _page(request, pk)
    if not page.may_change:
        raise Http404
    if services.cancel(page.run, by=request.user):
        messages.success(request, "The run is being cancelled.")
    else:
        messages.info(request, "The run was not cancelled, because it had already ended.")
    return redirect("submissions:run", pk)


@login_required
@require_POST
def rerun(request: UserRequest, pk: int) -> HttpResponse:
    """Repeat a run, and show the new run or the reason why the run cannot be repeated.

    Only the run's owner and organisers may do this.
    """
    page = _page(request, pk)
    if not page.may_change:
        raise Http404
    try:
        again = reruns.rerun(page.run, by=request.user)
    except services.Refused as refused:
        messages.error(request, jinja.sentence(f"the run was not repeated: {refused}"))
        return redirect("submissions:run", pk)
    messages.success(request, "The run is queued again. New submissions start before this run.")
    return redirect("submissions:run", again.pk)


@login_required
@require_POST
def audit(request: UserRequest, pk: int) -> HttpResponse:
    """Queue an audit of the run's submission, and show a message. Only organisers may do this.

    An audit repeats the submission's runs in verified mode, in which another process makes the calls to the library.
    """
    page = _page(request, pk)
    if not page.may_audit:
        raise Http404
    try:
        runs = schedule.audit_submission(page.run.submission, by=request.user)
    except services.Refused as refused:
        messages.error(request, jinja.sentence(f"the audit was not queued: {refused}"))
        return redirect("submissions:run", pk)
    messages.success(
        request,
        f"Queued an audit of {counted(len(runs), 'run')}. New submissions start before the audit.",
    )
    return redirect("submissions:run", pk)


@require_safe
def log(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the log of a run to its owner and organisers, even if the run failed."""
    page = _page(request, pk)
    if page.private is None:
        raise Http404
    content = io.BytesIO(page.private.log.encode())
    return private_file(content, f"run-{pk}.log", "text/plain; charset=utf-8")


@require_safe
def plot(request: HttpRequest, pk: int, name: str) -> HttpResponseBase:
    """Send a plot of a run to everyone who may see the run."""
    artefact = queries.artefact_for(pk, f"{name}.svg", request.user)
    if artefact is None:
        raise Http404
    try:
        stored = artefact.file.open("rb")
    except FileNotFoundError as error:
        raise Http404 from error
    return private_file(stored, f"run-{pk}-{name}.svg", "image/svg+xml")
