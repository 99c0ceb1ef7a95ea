"""Reads a board (a ranking of libraries): its entries on one machine class, and the history of its leaders.

A machine class is the processor model, the number of processors and the size of memory. A contest may hide runs from
everyone except the team and the contest's organisers and jury. Each viewer gets the ranks among the entries that the
viewer may see, so no gap reveals a hidden entry. The history is the same for all viewers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max, Q, Subquery

from leaderboard import catalogue
from leaderboard.contests.visibility import hidden_runs, hidden_until
from leaderboard.models import BoardEntry, LeadChange, LiveVersion
from leaderboard.ranking.board_result import with_results
from leaderboard.ranking.visible_ranks import ranks_in

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

    from leaderboard.boards import Board
    from leaderboard.viewer import Viewer

HISTORY_ROWS = 50


@dataclass(frozen=True, slots=True)
class Standings:
    """A board as a page shows it: the best entries on one machine class.

    - `benchmark_version`: the benchmark version of the shown entries, by default `live_version`.
    - `live_version`: the version that the board shows by default (live_boards.py). For an empty board, it is the
      newest version; None if the benchmark does not exist.
    - `machine_class`: the class of the machines that executed the shown runs; None if the board has no entries.
    - `classes`: all machine classes with entries of this version; the class with the newest run comes first.
    - `rows`: the entries by rank, with `user`, `run`, `run.submission`, `run.machine` and their results loaded.
    - `versions`: the benchmark versions with entries, the newest one first.
    """

    board: Board
    benchmark_version: int | None
    machine_class: str | None
    classes: tuple[str, ...]
    rows: tuple[BoardEntry, ...]
    versions: tuple[int, ...] = ()
    live_version: int | None = None

    @property
    def is_live(self) -> bool:
        """Return True if these are the entries that the board shows by default."""
        return self.live_version is None or self.benchmark_version == self.live_version

    @property
    def superseded(self) -> bool:
        """Return True if the benchmark has a newer version than the shown entries."""
        return self.benchmark_version != catalogue.current_version(self.board.benchmark)

    @property
    def provisional(self) -> bool:
        """Return True if the board is a demonstration, or an entry is provisional (smallest scale or few sessions)."""
        return self.board.provisional or any(row.provisional for row in self.rows)


def standings(
    board: Board,
    machine_class: str | None = None,
    version: int | None = None,
    viewer: Viewer | None = None,
) -> Standings:
    """Return a board's best entries on a machine class, by default on the class with the newest run.

    `version` chooses the benchmark version. If it is None or has no visible entries, the live version is shown.
    Without a viewer, the entries are those that everyone may see. Each row has `hidden_until`: when the public will
    see the entry, or None. 2 SQL statements for any number of runs, 1 for a board without entries, and 2 more while a
    contest hides entries from this viewer.
    """
    entries = BoardEntry.objects.filter(board=board.slug)
    hidden = Q(
        hidden_runs(submission="run__submission", finished_at="run__finished_at", viewer=viewer)
    )
    # Only ranked entries are read here, because a large board has thousands of unranked ones.
    found = list(
        entries.filter(position__isnull=False)
        .values_list("benchmark_version", "machine_class")
        .annotate(
            newest=Max("run_id", filter=~hidden),
            gaps=Count("pk", filter=hidden),
            live=Subquery(_live_version(board)),
        )
        .order_by("benchmark_version", "machine_class")
    )
    ranks = ranks_in({(board.slug, one, name) for one, name, _, gaps, _ in found if gaps}, viewer)
    # A section of a board is one benchmark version on one machine class. If the viewer may see none of its entries, the
    # section does not exist for the viewer.
    sections = sorted(
        (
            (newest or 0, one, name)
            for one, name, newest, _, _ in found
            if newest or ranks.sections.get((board.slug, one, name))
        ),
        reverse=True,
    )
    versions = tuple(sorted({one for _, one, _ in sections}, reverse=True))
    stored = found[0][-1] if found else None
    live_version = stored or catalogue.current_version(board.benchmark)
    shown_version = version if version in versions else live_version
    classes = tuple(name for _, one, name in sections if one == shown_version)
    chosen = machine_class if machine_class in classes else next(iter(classes), None)
    rows: tuple[BoardEntry, ...] = ()
    if chosen is not None and shown_version is not None:
        shown = entries.filter(
            ~hidden, ranks.ranked(), benchmark_version=shown_version, machine_class=chosen
        ).annotate(
            hidden_until=hidden_until(submission="run__submission", finished_at="run__finished_at")
        )
        loaded = shown.select_related("run__submission", "run__machine", "user")
        rows = tuple(
            sorted(ranks.apply(with_results(loaded, board)), key=lambda row: row.position or 0)
        )
    return Standings(board, shown_version, chosen, classes, rows, versions, live_version)


def _live_version(board: Board) -> QuerySet[LiveVersion, Any]:
    """Return the query for the version that the board shows. Executes no SQL."""
    return LiveVersion.objects.filter(board=board.slug).order_by("-pk").values("version")[:1]


@dataclass(frozen=True, slots=True)
class Reign:
    """A time in which one entry led the board. `until` is None if the entry still leads.

    `change` is None if the entry was deleted since, or a contest hides it now.
    """

    change: LeadChange | None
    benchmark_version: int
    since: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class BoardHistory:
    """The leaders of a board on one machine class, newest first, and the versions of its benchmark with ranked entries.

    `versions` maps a version to the number of ranked entries, and `live` is the version that the board shows.
    `next_before` is the argument `before` of board_history for the next page; None if there is no next page.
    """

    board: Board
    machine_class: str | None
    classes: tuple[str, ...]
    reigns: tuple[Reign, ...]
    versions: dict[int, int]
    next_before: int | None
    live: int | None = None


def board_history(
    board: Board,
    machine_class: str | None = None,
    before: int | None = None,
    limit: int = HISTORY_ROWS,
) -> BoardHistory:
    """Return the leaders of a board, by default on the machine class with the newest run. 2 SQL statements at most.

    `before` is the id of the change of lead that began the oldest reign of the previous page. The same change ended the
    newest reign of this page.
    """
    public = ~hidden_runs(submission="run__submission", finished_at="run__finished_at")
    sections = list(
        BoardEntry.objects.filter(public, board=board.slug)
        .values_list("benchmark_version", "machine_class")
        .annotate(
            newest=Max("run_id"), ranked=Count("position"), live=Subquery(_live_version(board))
        )
        .order_by("-newest")
    )
    classes = tuple(dict.fromkeys(name for _, name, *_ in sections))
    chosen = machine_class if machine_class in classes else next(iter(classes), None)
    if chosen is None:
        return BoardHistory(board, None, (), (), {}, None)
    versions = {version: ranked for version, name, _, ranked, _ in sections if name == chosen}
    changes = LeadChange.objects.filter(board=board.slug, machine_class=chosen)
    if before is not None:
        changes = changes.filter(pk__lte=before)
    # Read one more row on each side: the newer row ended the first reign, and an older row shows that there is a next
    # page.
    found = list(
        changes.annotate(public=public)
        .select_related("run__submission__owner")
        .defer("run__seeds", "run__submission__facts")
        .order_by("-pk")[: limit + 2]
    )
    ends = [None, *found] if before is None else found
    pairs = list(zip(found if before is None else found[1:], ends, strict=False))
    return BoardHistory(
        board,
        chosen,
        classes,
        tuple(_reign(change, newer) for change, newer in pairs[:limit] if change.run_id),
        dict(sorted(versions.items(), reverse=True)),
        pairs[limit - 1][0].pk if len(pairs) > limit else None,
        sections[0][-1] or catalogue.current_version(board.benchmark),
    )


def _reign(change: LeadChange, newer: LeadChange | None) -> Reign:
    run = change.run
    # `public` is an annotation of the query, which the type of the rows does not have.
    shown = (
        run is not None and run.submission.deleted_at is None and getattr(change, "public", False)
    )
    return Reign(
        change if shown else None,
        change.benchmark_version,
        change.since,
        newer.since if newer else None,
    )
