"""Shows the list of boards (rankings of libraries), and a single board as a page, as CSV and as JSON, and its history.

leaderboard/board_page.py reads the entries. leaderboard/ranking/rank_intervals.py has computed their ranks.
"""

from __future__ import annotations

import csv
from dataclasses import fields
from typing import TYPE_CHECKING

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard import board_page, overview
from leaderboard.boards import FAMILIES, all_boards, board_named
from web.boards.axis import axis_for
from web.boards.choice import Choice, options
from web.boards.groups import groups_of, single_rows
from web.boards.leads import lead_rows
from web.boards.rows import Row, entry_name, result_column, rows
from web.copies import copied
from web.http import number, spreadsheet_cell

if TYPE_CHECKING:
    from django.http import HttpRequest

    from leaderboard.board_page import Standings
    from leaderboard.boards import Board


def _standings(request: HttpRequest, slug: str) -> Standings:
    """Return the board's entries that were measured on one machine class (processor, number of CPUs, memory).

    `machine` in the URL's query names the class; the default is the class of the newest run. `version` names an older
    version of the benchmark.
    """
    return board_page.standings(
        _board(slug), request.GET.get("machine"), number(request, "version"), request.user
    )


def _board(slug: str) -> Board:
    """Return the board with this slug. Responds 404 if it does not exist."""
    found = board_named(slug)
    if found is None:
        raise Http404
    return found


@require_safe
@copied
def every_board(request: HttpRequest) -> HttpResponse:
    """Show all boards: first the main boards (those of a contest), then the others, each group sorted by title."""
    found = sorted(all_boards(), key=lambda board: (not board.main, board.title.casefold()))
    lead, axis = lead_rows(overview.leads(found))
    return render(request, "boards/all.html", {"rows": lead, "axis": axis, "families": FAMILIES})


@require_safe
@copied
def board(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the page of one board."""
    found = _standings(request, slug)
    every = rows(found)
    choice = Choice.of(request)
    shown = choice.rows(every)
    groups = groups_of(found, every)
    context = {
        "board": found.board,
        "version": found.benchmark_version,
        "versions": found.versions,
        "found": found,
        "choice": choice,
        **_links(choice, found),
        "options": options(every),
        "entries": len(every),
        "machine_class": found.machine_class,
        "classes": found.classes,
        "provisional": found.provisional,
        "column": result_column(found.board),
        "groups": groups if choice.whole else single_rows(shown),
        "axis": axis_for(
            [(row.ratio_low, row.ratio_high) for row in every],
            lower_is_better=found.board.lower_is_better,
        ),
    }
    return render(request, "boards/board.html", context)


def _links(choice: Choice, found: Standings) -> dict[str, dict[str, str]]:
    """Return fields of the URL's query for links: all of them, all but the order, and all but the order and filters."""
    version = {} if found.is_live else {"version": str(found.benchmark_version)}
    query = {**choice.query, **version}
    machine = {"machine": found.machine_class} if found.machine_class else {}
    return {
        "query": query,
        "unsorted": {name: value for name, value in query.items() if name != "sort"},
        "unfiltered": {**version, **machine},
    }


@require_safe
def history(request: HttpRequest, slug: str) -> HttpResponse:
    """Show who led a board from when to when, and the boards of older benchmark versions."""
    found = board_page.board_history(
        _board(slug), request.GET.get("machine"), number(request, "before")
    )
    named = [
        (reign, *entry_name(submission.file_name, submission.configuration))
        if (submission := reign.change and reign.change.run and reign.change.run.submission)
        else (reign, "", "")
        for reign in found.reigns
    ]
    context = {"board": found.board, "found": found, "reigns": named}
    return render(request, "boards/history.html", context)


@require_safe
def export_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the chosen rows as CSV, with one column per field and one for the URL of the run's page."""
    found = Choice.of(request).rows(rows(_standings(request, slug)))
    names = [field.name for field in fields(Row) if field.name != "hidden_until"]
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
    """Return the board and the chosen rows as JSON."""
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
            "rows": [row.plain() for row in Choice.of(request).rows(rows(found))],
        }
    )
