"""Reads what the front page, the list of boards, and the pages of users and structures show: leaders, runs, entries.

A structure is a data structure without locks and transactions, to which Keydrome adds them.
Each public function states how many SQL statements it executes. Rules about what a viewer may see are in queries.py;
what this module reads is visible to everyone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Min, OuterRef, Q, Subquery

from leaderboard.boards import all_boards
from leaderboard.configuration_board import file_names, public_entries
from leaderboard.contests.visibility import hidden_runs, unseen_runs
from leaderboard.live_boards import live_sections, live_versions
from leaderboard.models import BoardEntry, Run, State
from leaderboard.ranking.visible_ranks import visible_ranks
from runner.terms import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from typing import Any

    from django.db.models import QuerySet

    from leaderboard.boards import Board


# The largest number of entries on the page of a user or structure.
ENTRIES_MAX = 500


@dataclass(frozen=True, slots=True)
class Lead:
    """The ranked entries of a board on the machine class with the newest ranked run, best first; perhaps none.

    A machine class is the processor model, the number of processors and the size of memory.
    `since` is when the leader's first eligible run on this benchmark instance ended.
    """

    board: Board
    entries: tuple[BoardEntry, ...]
    since: datetime | None


def leads(boards: Sequence[Board]) -> list[Lead]:
    """Return who leads each of these boards, in their order, among the entries that everyone may see.

    4 SQL statements for any number of boards, and 2 more while a contest hides entries; 3 if nothing is ranked.
    """
    live = live_versions()
    wanted = {board.slug: live[board.slug] for board in boards}
    current = Q(board__in=wanted, benchmark_version__in=set(wanted.values()))
    ranks = visible_ranks(current, None)
    found = (
        BoardEntry.objects.filter(
            ~hidden_runs(submission="run__submission", finished_at="run__finished_at"),
            current,
            ranks.ranked(),
        )
        .select_related("run__submission", "user")
        .defer("ratios", "advisories", "run__seeds", "run__submission__facts")
    )
    sections: dict[tuple[str, str], list[BoardEntry]] = defaultdict(list)
    for entry in sorted(ranks.apply(found), key=lambda entry: entry.position or 0):
        if entry.benchmark_version == wanted[entry.board]:
            sections[entry.board, entry.machine_class].append(entry)
    newest = [_newest(board, sections) for board in boards]
    since = _since([entries[0] for entries in newest if entries])
    return [
        Lead(board, tuple(entries), since.get(entries[0].pk) if entries else None)
        for board, entries in zip(boards, newest, strict=True)
    ]


def _since(leaders: Iterable[BoardEntry]) -> dict[int, datetime | None]:
    """Return when the first eligible run of each of these entries ended. 1 SQL statement, or none without leaders."""
    ids = [entry.pk for entry in leaders]
    if not ids:
        return {}
    found = BoardEntry.objects.filter(pk__in=ids).annotate(first=Subquery(first_ranked_at()))
    return dict(found.values_list("pk", "first"))


def first_ranked_at() -> QuerySet[Run, Any]:
    """Return a subquery for a query of board entries: when the entry's first eligible run ended. Executes no SQL."""
    return (
        Run.objects.filter(
            eligible=True,
            benchmark=OuterRef("run__benchmark"),
            instance=OuterRef("run__instance"),
            benchmark_version=OuterRef("benchmark_version"),
            submission__owner_id=OuterRef("user_id"),
            submission__blob_sha256=OuterRef("blob_sha256"),
            submission__configuration=OuterRef("configuration"),
        )
        .order_by()
        .values("benchmark")
        .annotate(first=Min("finished_at"))
        .values("first")
    )


def _newest(board: Board, sections: dict[tuple[str, str], list[BoardEntry]]) -> list[BoardEntry]:
    """Return the entries on the class with the newest ranked run. `sections` has the entries by board and class."""
    classes = [entries for (slug, _), entries in sections.items() if slug == board.slug]
    return max(classes, key=lambda entries: max(entry.run_id for entry in entries), default=[])


def recent_runs(limit: int) -> list[Run]:
    """Return the timed runs that ended last, except audits, refused and deleted ones. 1 SQL statement."""
    ended = Run.objects.exclude(verdict=Verdict.REFUSED).filter(
        ~unseen_runs(),
        state=State.DONE,
        kind="performance",
        verified=False,
        submission__deleted_at__isnull=True,
        finished_at__isnull=False,
    )
    loaded = ended.select_related("submission__owner").defer("seeds", "submission__facts")
    return list(loaded.order_by("-finished_at", "-pk")[:limit])


def entries_of(*, user: str = "", structure: str = "") -> list[BoardEntry]:
    """Return the public ranked entries of a user, or of all files with the name of a structure.

    3 SQL statements, and 2 more while a contest hides entries.

    The entries are sorted by machine class and rank; the caller groups them by board. Only entries of the benchmark
    version that their board shows are returned, and at most ENTRIES_MAX.
    """
    current = live_sections(all_boards(), live_versions())
    ranks = visible_ranks(current, None)
    found = BoardEntry.objects.filter(public_entries(current), ranks.ranked()).select_related(
        "run__submission", "user"
    )
    if user:
        found = found.filter(user__username=user)
    if structure:
        found = found.filter(run__submission__file_name__in=file_names(structure))
    unused = ("ratios", "advisories", "run__seeds", "run__submission__facts")
    shown = ranks.apply(
        found.defer(*unused).order_by("machine_class", "position", "pk")[:ENTRIES_MAX]
    )
    return sorted(shown, key=lambda entry: (entry.machine_class, entry.position or 0, entry.pk))
