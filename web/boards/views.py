"""Shows the list of boards (rankings of libraries), and a single board as a page, as CSV and as JSON.

`standings` in leaderboard/queries.py reads the entries. leaderboard/ranking/rank_intervals.py has computed their ranks.
"""

from __future__ import annotations

import csv
from dataclasses import fields
from typing import TYPE_CHECKING

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import overview, queries
from leaderboard.boards import FAMILIES, all_boards, board_named
from web.boards.axis import axis_for
from web.boards.groups import groups_of
from web.boards.leads import lead_rows
from web.boards.rows import Row, result_column, rows
from web.http import spreadsheet_cell

if TYPE_CHECKING:
    from django.http import HttpRequest

    from leaderboard.queries import Standings


def _standings(request: HttpRequest, slug: str) -> Standings:
    """Return the board's entries that were measured on one machine class (processor, number of CPUs, memory).

    `machine` in the URL's query names the class; the default is the class of the newest run. Responds 404 if the board
    does not exist.
    """
    found = board_named(slug)
    if found is None:
        raise Http404
    return queries.standings(found, request.GET.get("machine"))


@require_safe
def every_board(request: HttpRequest) -> HttpResponse:
    """Show all boards: first the main boards (those of a contest), then the others, each group sorted by title."""
    found = sorted(all_boards(), key=lambda board: (not board.main, board.title.casefold()))
    lead, axis = lead_rows(overview.leads(found))
    return render(request, "boards/all.html", {"rows": lead, "axis": axis, "families": FAMILIES})


@require_safe
def board(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the page of one board."""
    found = _standings(request, slug)
    shown = rows(found)
    context = {
        "board": found.board,
        "version": found.benchmark_version,
        "machine_class": found.machine_class,
        "classes": found.classes,
        "provisional": found.provisional,
        "column": result_column(found.board),
        "groups": groups_of(found, shown),
        "axis": axis_for(
            [(row.ratio_low, row.ratio_high) for row in shown],
            lower_is_better=found.board.lower_is_better,
        ),
    }
    return render(request, "boards/board.html", context)


@require_safe
def export_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the board's rows as CSV, with one column per field and one for the URL of the run's page."""
    found = rows(_standings(request, slug))
    names = [field.name for field in fields(Row)]
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}.csv"'
    writer = csv.DictWriter(response, [*names, "run"])
    writer.writeheader()
    for row in found:
        texts = "; ".join(f"{a.name} {a.text}".strip() for a in row.advisories)
        values = {**row.plain(), "advisories": texts}
        writer.writerow({name: spreadsheet_cell(value) for name, value in values.items()})
    return response


@require_safe
def export_json(request: HttpRequest, slug: str) -> JsonResponse:
    """Return the board and its rows as JSON."""
    found = _standings(request, slug)
    return JsonResponse(
        {
            "board": found.board.slug,
            "title": found.board.title,
            "benchmark": found.board.benchmark,
            "instance": found.board.instance,
            "metric": found.board.metric,
            "benchmark_version": found.benchmark_version,
            "machine_class": found.machine_class,
            "provisional": found.provisional,
            "rows": [row.plain() for row in rows(found)],
        }
    )
