"""Compares two to six runs side by side: as a page, as CSV and as JSON. The URL's query names the runs.

`runs` in the query is a list of numbers of runs, such as `runs=47,59`. The name `runs` may also occur several times,
because a form with check boxes sends it once for each box. The response is 404 if the visitor may not see one of the
runs. The page of a single run does the same.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from leaderboard import queries, services
from leaderboard.compared_runs import RUNS_MAX, RUNS_MIN, compared_runs, suggestions
from leaderboard.queue import quotas
from leaderboard.submissions import blocks
from results.counts import counted
from results.stats.family import MARGIN_RATIO, SIGNIFICANCE
from web import jinja
from web.compare import curves, pairs, table
from web.compare.axes import ratio_axis
from web.copies import copied
from web.http import spreadsheet_cell

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest, QueryDict

    from leaderboard.compared_runs import RunComparison
    from web.http import UserRequest

SCHEMA = "keydrome.compared_runs.v1"
# Longer numbers are not ids, and a database might reject them.
_NUMBER = re.compile(r"[0-9]{1,18}")
# A message shows at most this many characters of what the visitor wrote instead of a number.
_SHOWN_MAX = 40


class _WrongRunsError(ValueError):
    """The query's list of runs is wrong. The text tells the visitor what is wrong."""


def _chosen(query: QueryDict) -> list[int]:
    """Return the ids of the chosen runs, without repetitions.

    Raises _WrongRunsError if one is not a number, or if there are more than RUNS_MAX.
    """
    texts = [part.strip() for text in query.getlist("runs") for part in text.split(",")]
    given = [text for text in texts if text]
    wrong = next((text for text in given if not _NUMBER.fullmatch(text)), None)
    if wrong is not None:
        shown = jinja.printable(wrong)[:_SHOWN_MAX]
        raise _WrongRunsError(
            f"“{shown}” is not the number of a run. Choose runs by their numbers, for example 47."
        )
    ids = list(dict.fromkeys(map(int, given)))
    if len(ids) > RUNS_MAX:
        raise _WrongRunsError(
            f"You chose {len(ids)} runs, and at most {RUNS_MAX} can be compared. Choose fewer runs."
        )
    return ids


def _found(ids: list[int], request: HttpRequest) -> RunComparison:
    found = compared_runs(ids, request.user)
    if found is None:
        raise Http404
    return found


def _to_export(request: HttpRequest) -> RunComparison:
    """Return the comparison for an export. Raises _WrongRunsError for a wrong list of runs."""
    ids = _chosen(request.GET)
    if len(ids) < RUNS_MIN:
        raise _WrongRunsError(
            f"You chose {counted(len(ids), 'run')}, and a comparison needs at least {RUNS_MIN}. "
            f"Choose {RUNS_MIN} to {RUNS_MAX} runs by their numbers in the address, for example ?runs=47,59."
        )
    return _found(ids, request)


@require_safe
@copied
def page(request: HttpRequest) -> HttpResponse:
    """Show the comparison, and a form that adds and removes runs."""
    try:
        ids, problem = _chosen(request.GET), ""
    except _WrongRunsError as error:
        ids, problem = [], str(error)
    context: dict[str, Any] = {"problem": problem, "columns": [], "limit": RUNS_MAX}
    if ids:
        found = _found(ids, request)
        shown = table.columns(found)
        context["columns"] = shown
        context["suggestions"] = suggestions(ids, request.user) if len(ids) < RUNS_MAX else []
        if len(ids) >= RUNS_MIN:
            context |= _comparison(found, shown)
            context["extension"] = _extension(found, request)
    return render(
        request,
        "compare/page.html",
        context,
        status=HttpResponseBadRequest.status_code if problem else 200,
    )


def _comparison(found: RunComparison, shown: list[table.Column]) -> dict[str, Any]:
    """Return the context of the comparison itself. Lists of values are in the order of the columns."""
    by_id = {one.run.pk: one for one in found.runs}
    runs = [by_id[column.run.pk] for column in shown]
    bounds = [value for c in shown for value in (c.ratio, c.low, c.high) if value]
    stored = [one.curves for one in runs]
    return {
        "found": found,
        "chosen": ",".join(str(one.run.pk) for one in found.runs),
        "axis": ratio_axis(bounds) if bounds else None,
        "verdict": pairs.verdict(found, shown),
        "method": pairs.method(found),
        "pairs": pairs.pair_rows(found, shown),
        "pair_axis": pairs.pair_axis(found),
        "margin_ratio": MARGIN_RATIO,
        "numbers": table.number_rows(runs, comparable=not found.differences),
        "properties": table.property_rows(runs),
        "throughput": curves.throughput_plot(stored),
        "throughput_table": curves.throughput_table(stored),
        "latency": curves.latency_plots(stored),
    }


def _extension(found: RunComparison, request: HttpRequest) -> Extension | None:
    """Return the offer to queue further sessions.

    Returns None if the visitor may not queue them, or if no pair of runs is undecided. Also returns None if
    leaderboard/submissions/blocks.py has a reason against further sessions of these runs.
    """
    runs = [one.run for one in found.runs]
    wanted = pairs.sessions_wanted(found)
    allowed = all(queries.may_change_submission(run.submission, request.user) for run in runs)
    if not wanted or not allowed or blocks.reason_against_blocks(runs):
        return None
    user = cast("User", request.user)  # an anonymous visitor may change nothing
    return Extension(wanted, blocks.SESSIONS_MAX, len(runs), quotas.repetitions_left(user))


@dataclass(frozen=True, slots=True)
class Extension:
    """The offer to queue `sessions` further sessions of each of `runs` runs.

    `most` is the largest number of sessions that the visitor may choose. `left` is the number of sessions that the
    quota of the visitor still allows; None means no limit.
    """

    sessions: int
    most: int
    runs: int
    left: int | None


@login_required
@require_POST
def queue_sessions(request: UserRequest) -> HttpResponse:
    """Queue further sessions (repetitions) of the compared runs as new runs, and show the comparison of the new runs.

    Only organisers and the owner of all runs may do this; for others the response is 404.
    """
    try:
        ids = _chosen(request.POST)
    except _WrongRunsError as error:
        return HttpResponseBadRequest(str(error), content_type="text/plain; charset=utf-8")
    found = {run.pk: run for run in queries.visible_runs(request.user).filter(pk__in=ids)}
    if not ids or len(found) != len(ids):
        raise Http404
    runs = [found[run_id] for run_id in ids]
    if not all(queries.may_change_submission(run.submission, request.user) for run in runs):
        raise Http404
    text = request.POST.get("sessions", "")
    sessions = int(text) if _NUMBER.fullmatch(text) else 0
    try:
        new = blocks.queue_blocks(runs, sessions, by=request.user)
    except services.Refused as refused:
        messages.error(request, jinja.sentence(f"no sessions were queued: {refused}"))
        return redirect(jinja.url("compare:page", runs=",".join(map(str, ids))))
    messages.success(
        request,
        f"Queued {counted(sessions, 'session')} of each of {counted(len(new), 'run')}. "
        "This page compares the new runs when they have ended.",
    )
    return redirect(jinja.url("compare:page", runs=",".join(str(run.pk) for run in new)))


def _rows(found: RunComparison) -> list[dict[str, Any]]:
    """Return the values of each run for an export: exact numbers, not rounded, and the path of the run's page."""
    by_id = {one.run.pk: number for number, one in enumerate(found.runs)}
    metrics = table.metrics(found.runs)
    return [
        {
            "run_id": column.run.pk,
            "run": reverse("submissions:run", args=[column.run.pk]),
            "library": column.library,
            "configuration": column.run.submission.configuration,
            "user": column.user,
            "digest": column.run.submission.blob_sha256,
            "benchmark": column.run.benchmark,
            "benchmark_version": column.run.benchmark_version,
            "instance": column.run.instance,
            "scale": column.run.scale,
            "machine_class": column.run.machine.machine_class if column.run.machine else "",
            "verdict": column.run.verdict,
            "rank_low": column.rank.low if column.rank else None,
            "rank_high": column.rank.high if column.rank else None,
            "ratio": column.ratio,
            "ratio_low": column.low,
            "ratio_high": column.high,
            "sessions": column.sessions,
            "metrics": {name: row[by_id[column.run.pk]] for name, row in metrics.items()},
        }
        for column in table.columns(found)
    ]


@require_safe
def export_csv(request: HttpRequest) -> HttpResponse:
    """Return one line for each run, with one column for each metric that any of the runs reported."""
    try:
        rows = _rows(_to_export(request))
    except _WrongRunsError as error:
        return HttpResponseBadRequest(str(error), content_type="text/plain; charset=utf-8")
    flat = [{**row, **row.pop("metrics")} for row in rows]
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="compare.csv"'
    writer = csv.DictWriter(response, list(flat[0]))
    writer.writeheader()
    for row in flat:
        writer.writerow({name: spreadsheet_cell(value) for name, value in row.items()})
    return response


@require_safe
def export_json(request: HttpRequest) -> HttpResponse:
    """Return the runs, the results of the statistical tests for each pair, and their significance level and margin.

    Differences within the margin count as none.
    """
    try:
        found = _to_export(request)
    except _WrongRunsError as error:
        return HttpResponseBadRequest(str(error), content_type="text/plain; charset=utf-8")
    by_id = {one.run.pk: one for one in found.runs}
    rows = _rows(found)
    for row in rows:
        one = by_id[row["run_id"]]
        row["configuration_fields"] = table.configuration(one.run)
        row["ratios"] = list(one.ratios.values())
    return JsonResponse(
        {
            "schema": SCHEMA,
            "rules": {"significance": SIGNIFICANCE, "margin_ratio": MARGIN_RATIO},
            "differences": found.differences,
            "paired": found.paired,
            "shared_seeds": found.shared,
            "runs": rows,
            "pairs": [pair.to_json() for pair in found.comparison.pairs]
            if found.comparison
            else [],
        }
    )
