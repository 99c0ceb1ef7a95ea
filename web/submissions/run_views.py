"""The page of a run, its live part, its log and its plots."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from leaderboard import audits, catalogue, queries, reruns, services
from leaderboard.series import latency_rows, throughput_rows
from web import jinja
from web.http import fragment, private_file
from web.submissions import figures

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

    from leaderboard.models import Run
    from leaderboard.queries import RunPage
    from runner.manifest import OwnMetric
    from web.http import UserRequest

# Plots are drawn after the result is recorded. A page waits for them this long, then it stops asking.
DRAWING_TIME = timedelta(seconds=60)


def _page(request: HttpRequest, pk: int) -> RunPage:
    """Return what this visitor may see of a run; 404 if that is nothing."""
    page = queries.run_page(pk, request.user)
    if page is None:
        raise Http404
    return page


def _settled(page: RunPage) -> bool:
    """Whether nothing on the page will change any more, plots included."""
    run = page.run
    if not run.is_final:
        return False
    if page.detail is None or not page.detail.series or run.finished_at is None:
        return True
    drawn = page.detail.drawn_at is not None
    return drawn or timezone.now() - run.finished_at > DRAWING_TIME


def _tag(page: RunPage) -> str:
    """Return a tag that changes whenever the live part of the page would."""
    drawn = page.detail is not None and page.detail.drawn_at is not None
    waits = {page.run.pk: page.wait} if page.wait else {}
    return f"{queries.live_tag([page.run], waits)}-{int(drawn)}"


def _context(request: HttpRequest, page: RunPage) -> dict[str, Any]:
    """Return what the templates of a run show; `seen` is the state that a following page showed last time."""
    run, detail = page.run, page.detail
    word = run.verdict or run.state
    series = detail.series if detail else {}
    return {
        "page": page,
        "run": run,
        "detail": detail,
        "title": _title(run),
        "settled": _settled(page),
        "tag": _tag(page),
        "word": word,
        "announce": request.GET.get("seen", word) != word,
        "figures": figures.figures(run, detail, _own_metrics(run)) if detail else [],
        "sessions": figures.sessions(detail) if detail else [],
        "parameters": figures.parameters(detail) if detail else [],
        "machine": figures.machine_facts(detail) if detail else [],
        "throughput": throughput_rows(series["throughput"]) if "throughput" in series else [],
        "latency": latency_rows(series["latency"]) if "latency" in series else [],
    }


def _own_metrics(run: Run) -> tuple[OwnMetric, ...]:
    benchmark = catalogue.benchmarks().get(run.benchmark)
    return benchmark.own_metrics if benchmark else ()


def _title(run: Run) -> str:
    """Return the run's benchmark and instance in the words of its manifest, or by name when that is gone."""
    benchmark = catalogue.benchmarks().get(run.benchmark)
    if benchmark is None or run.instance not in benchmark.instances:
        return f"{run.benchmark}/{run.instance}"
    return catalogue.full_title(benchmark, benchmark.instances[run.instance])


@require_safe
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a run."""
    return render(request, "submissions/run.html", _context(request, _page(request, pk)))


@require_safe
def state(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the live part of the page, for a page that follows the run."""
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
    """Stop a run that waits or runs; for its owner and organisers."""
    page = _page(request, pk)
    if not page.may_change:
        raise Http404
    if services.cancel(page.run, by=request.user):
        messages.success(request, "The run is being cancelled.")
    else:
        messages.info(request, "The run had already ended.")
    return redirect("submissions:run", pk)


@login_required
@require_POST
def rerun(request: UserRequest, pk: int) -> HttpResponse:
    """Queue a run once more; for its owner and organisers. Show the new run, or say why there is none."""
    page = _page(request, pk)
    if not page.may_change:
        raise Http404
    try:
        again = reruns.rerun(page.run, by=request.user)
    except services.Refused as refused:
        messages.error(request, jinja.sentence(f"not run again: {refused}"))
        return redirect("submissions:run", pk)
    messages.success(request, "Queued again, behind new submissions.")
    return redirect("submissions:run", again.pk)


@login_required
@require_POST
def audit(request: UserRequest, pk: int) -> HttpResponse:
    """Queue an audit of the run's submission; for organisers."""
    page = _page(request, pk)
    if not page.may_audit:
        raise Http404
    try:
        runs = audits.order(page.run.submission, by=request.user)
    except services.Refused as refused:
        messages.error(request, jinja.sentence(f"not audited: {refused}"))
        return redirect("submissions:run", pk)
    messages.success(request, f"Queued an audit of {len(runs)} runs, behind new submissions.")
    return redirect("submissions:run", pk)


@require_safe
def log(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Give the log of a run to its owner and organisers, also of a run that failed."""
    page = _page(request, pk)
    if page.private is None:
        raise Http404
    content = io.BytesIO(page.private.log.encode())
    return private_file(content, f"run-{pk}.log", "text/plain; charset=utf-8")


@require_safe
def plot(request: HttpRequest, pk: int, name: str) -> HttpResponseBase:
    """Give a plot to everybody who may see the run."""
    artefact = queries.artefact_for(pk, f"{name}.svg", request.user)
    if artefact is None:
        raise Http404
    try:
        stored = artefact.file.open("rb")
    except FileNotFoundError as error:
        raise Http404 from error
    return private_file(stored, f"run-{pk}-{name}.svg", "image/svg+xml")
