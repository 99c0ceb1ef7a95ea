"""Shows configuration boards, which compare structures under configurations on the workloads of one family of boards.

A structure is an index without transactions and locks; a configuration says how Keydrome adds these. The *loss* of
an entry on a workload says how many times worse its result is than the best result shown: 1 for the best one. An entry
is robust if its largest loss is small.
The page, the CSV and the JSON show the same rows. The URL's query has the filters, the chosen workloads and the order,
so an address can be shared. leaderboard/configuration_board.py reads the entries, and results/robustness.py computes
the losses.
"""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from leaderboard.boards import FAMILIES
from leaderboard.configuration_board import Filters, boards_of, configuration_board
from results.robustness import LEAST_SESSIONS, best_levels, heat, robustness
from web import jinja
from web.boards.rows import entry_name
from web.copies import copied
from web.http import spreadsheet_cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.http import HttpRequest

    from leaderboard.boards import Board
    from leaderboard.configuration_board import ConfigurationBoard, Variant
    from leaderboard.models import BoardEntry
    from results.robustness import Robustness

SCHEMA = "keydrome.configuration_board.v1"
BY_ROBUSTNESS = "robustness"
COMPARED = 6  # the largest number of runs that the page of comparisons shows


@dataclass(frozen=True, slots=True)
class Cell:
    """An entry's result on one workload. `loss` says how many times worse it is than the best result shown.

    `ratio` is the median of the ratios to the control library (the baseline). `low` and `high` are its interval.
    """

    board: str
    loss: float
    ratio: float
    low: float
    high: float
    sessions: int
    run_id: int

    @property
    def heat(self) -> int:
        """Return the number of the cell's colour: 0 for the smallest losses, 4 for the largest."""
        return heat(self.loss)

    @property
    def best(self) -> bool:
        """Return True if no shown entry is better on this workload."""
        return self.loss == 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """A structure under a configuration, or a whole library. A workload without a result has no cell (None).

    `robustness` is None unless the entry has a result on every shown workload.
    """

    name: str
    variant: str
    user: str
    digest: str
    submission_id: int
    provisional: bool
    cells: tuple[Cell | None, ...]
    robustness: Robustness | None

    @property
    def measured(self) -> int:
        """Return the number of workloads with a result."""
        return sum(cell is not None for cell in self.cells)

    @property
    def largest_loss(self) -> float:
        """Return the largest known loss."""
        return max(cell.loss for cell in self.cells if cell is not None)

    @property
    def rank(self) -> str:
        """Return the interval of ranks by robustness as text, or an empty text if the row has no robustness."""
        found = self.robustness
        return jinja.rank_range(found.rank.low, found.rank.high) if found else ""


def _costs(entry: BoardEntry | None, board: Board) -> tuple[float, ...]:
    """Return the ratios of an entry, or 1 / ratio if larger ratios are better."""
    if entry is None:
        return ()
    return tuple(entry.ratios if board.lower_is_better else [1 / ratio for ratio in entry.ratios])


def rows(found: ConfigurationBoard) -> list[Row]:
    """Return the rows. Rows with results on more workloads come first, then those with a smaller largest loss.

    Executes no SQL.
    """
    table = [
        tuple(_costs(variant.entries.get(board.slug), board) for board in found.boards)
        for variant in found.variants
    ]
    best = tuple(level or 1.0 for level in best_levels(table))
    complete = [index for index, row in enumerate(table) if all(row)]
    robust = robustness(tuple(table[index] for index in complete), best)
    by_index = dict(zip(complete, robust, strict=True))
    shown = [
        _row(variant, found.boards, best, by_index.get(index))
        for index, variant in enumerate(found.variants)
    ]
    return sorted(shown, key=_by_robustness)


def _by_robustness(row: Row) -> tuple[float, float, str, str]:
    return (-row.measured, row.largest_loss, row.name, row.variant)


def _row(
    variant: Variant, boards: Sequence[Board], best: Sequence[float], robust: Robustness | None
) -> Row:
    run = variant.newest_run
    submission = run.submission
    name, configuration = entry_name(submission.file_name, submission.configuration)
    some = next(iter(variant.entries.values()))
    return Row(
        name=name,
        variant=configuration,
        user=jinja.printable(some.user.get_username()),
        digest=some.blob_sha256,
        submission_id=submission.pk,
        provisional=any(entry.provisional for entry in variant.entries.values()),
        cells=tuple(
            _cell(variant.entries.get(board.slug), board, least)
            for board, least in zip(boards, best, strict=True)
        ),
        robustness=robust,
    )


def _cell(entry: BoardEntry | None, board: Board, best: float) -> Cell | None:
    if entry is None:
        return None
    level = entry.score if board.lower_is_better else 1 / entry.score
    return Cell(
        board=board.slug,
        loss=max(level / best, 1.0),
        ratio=entry.score,
        low=entry.score_low,
        high=entry.score_high,
        sessions=len(entry.ratios),
        run_id=entry.run_id,
    )


def _query(request: HttpRequest) -> dict[str, Any]:
    """Return the known fields of the URL's query that are not empty, so that links can repeat them."""
    found: dict[str, Any] = {
        name: request.GET[name]
        for name in (*(one.name for one in fields(Filters)), "sort", "show")
        if request.GET.get(name)
    }
    if chosen := request.GET.getlist("workload"):
        found["workload"] = chosen
    return found


def _found(request: HttpRequest, family: str) -> ConfigurationBoard:
    """Return the board that the URL names, or respond 404."""
    if family not in FAMILIES:
        raise Http404
    query = _query(request)
    filters = Filters(**{one.name: query.get(one.name, "") for one in fields(Filters)})
    return configuration_board(family, filters, query.get("workload", ()))


def _sorted(shown: list[Row], boards: Sequence[Board], slug: str) -> list[Row]:
    """Return the rows sorted by their loss on one workload. Rows without a result on this workload come last."""
    place = next((index for index, board in enumerate(boards) if board.slug == slug), None)
    if place is None:
        return shown

    def loss(row: Row) -> float:
        cell = row.cells[place]
        return float("inf") if cell is None else cell.loss

    return sorted(shown, key=loss)


@require_safe
@copied
def page(request: HttpRequest, family: str) -> HttpResponse:
    """Show a configuration board."""
    found = _found(request, family)
    query = _query(request)
    shown = _sorted(rows(found), found.boards, query.get("sort", BY_ROBUSTNESS))
    context = {
        "family": family,
        "title": FAMILIES[family].title,
        "description": FAMILIES[family].description,
        "families": {name: one.title for name, one in FAMILIES.items()},
        "found": found,
        "rows": shown,
        "best": [
            sum(cell is not None and cell.best for cell in (row.cells[place] for row in shown))
            for place in range(len(found.boards))
        ],
        "query": query,
        "filtered": bool(query.keys() - {"sort", "show", "machine"}),
        "every_board": boards_of(family),
        "chosen": query.get("workload") or [board.slug for board in boards_of(family)],
        "all_provisional": bool(shown) and all(row.provisional for row in shown),
        "compare": _comparisons(shown, found.boards),
        "undecided": any(row.robustness and row.robustness.low is None for row in shown),
        "least_sessions": LEAST_SESSIONS,
    }
    return render(request, "boards/configurations.html", context)


def _comparisons(shown: Sequence[Row], boards: Sequence[Board]) -> list[tuple[Board, str]]:
    """Return each workload with the ids of the runs of its first COMPARED rows, for a link that compares these runs.

    Workloads with fewer than two results are left out.
    """
    found = []
    for place, board in enumerate(boards):
        cells = [cell for row in shown if (cell := row.cells[place]) is not None]
        if len(cells) > 1:
            found.append((board, ",".join(str(cell.run_id) for cell in cells[:COMPARED])))
    return found


def _plain(row: Row) -> dict[str, Any]:
    """Return the values of a row for an export, except its cells."""
    robust = row.robustness
    return {
        "name": row.name,
        "configuration": row.variant,
        "user": row.user,
        "digest": row.digest,
        "submission": reverse("submissions:detail", args=[row.submission_id]),
        "provisional": row.provisional,
        "robustness": robust.value if robust else None,
        "robustness_low": robust.low if robust else None,
        "robustness_high": robust.high if robust else None,
        "rank_low": robust.rank.low if robust else None,
        "rank_high": robust.rank.high if robust else None,
    }


@require_safe
def export_csv(request: HttpRequest, family: str) -> HttpResponse:
    """Return the board as CSV: one line for each cell, with the values of the cell and of its row."""
    found = _found(request, family)
    lines = [
        {**_plain(row), **asdict(cell)}
        for row in rows(found)
        for cell in row.cells
        if cell is not None
    ]
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{family}.csv"'
    names = [
        *("name", "configuration", "user", "digest", "submission", "provisional"),
        *("robustness", "robustness_low", "robustness_high", "rank_low", "rank_high"),
        *(one.name for one in fields(Cell)),
    ]
    writer = csv.DictWriter(response, names)
    writer.writeheader()
    for line in lines:
        writer.writerow({name: spreadsheet_cell(value) for name, value in line.items()})
    return response


@require_safe
def export_json(request: HttpRequest, family: str) -> JsonResponse:
    """Return the board with its rows and cells."""
    found = _found(request, family)
    return JsonResponse(
        {
            "schema": SCHEMA,
            "family": family,
            "machine_class": found.machine,
            "boards": [board.slug for board in found.boards],
            "rows": [
                {
                    **_plain(row),
                    "cells": [asdict(cell) for cell in row.cells if cell is not None],
                }
                for row in rows(found)
            ],
        }
    )
