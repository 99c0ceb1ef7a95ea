"""Records when another entry takes the lead of a board, so that the board has a history.

The results worker, a background process, calls `note_leads` after results are stored, and every few seconds. The bench
worker, which executes runs, does not do this, because its database role must not read what contests hide. A *section*
of a board is one benchmark version on one machine class (processor, number of CPUs, memory). Each section has its own
leader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max, Subquery
from django.utils import timezone

from leaderboard.boards import all_boards
from leaderboard.configuration_board import public_entries
from leaderboard.live_boards import live_sections, live_versions
from leaderboard.models import BoardEntry, LeadChange
from leaderboard.overview import first_ranked_at
from leaderboard.ranking import board_entries

if TYPE_CHECKING:
    from datetime import datetime
    from typing import TypeAlias

    Section: TypeAlias = tuple[str, int, str]


def note_leads() -> list[LeadChange]:
    """Store each change of a public leader since the last call; return the new rows.

    3 SQL statements if nothing has changed, and 1 more if something has. PostgreSQL needs 1 more for the lock.
    """
    with transaction.atomic():
        board_entries.lock()
        live = live_versions()
        leaders = _leaders(live)
        known = _known()
        now = timezone.now()
        new = [
            LeadChange(
                board=section[0],
                benchmark_version=section[1],
                machine_class=section[2],
                run_id=entry.run_id,
                score=entry.score,
                since=_since(entry, known.get(section), now),
            )
            for section, entry in sorted(leaders.items())
            if _leader(entry) != _known_leader(known.get(section))
        ]
        new += [
            LeadChange(
                board=last.board,
                benchmark_version=last.benchmark_version,
                machine_class=last.machine_class,
                since=now,
            )
            for section, last in known.items()
            if section not in leaders
            and last.run_id is not None
            and live.get(section[0]) == section[1]
        ]
        return LeadChange.objects.bulk_create(new) if new else []


def _leaders(live: dict[str, int]) -> dict[Section, BoardEntry]:
    """Return the entry that the public sees first in each section of the boards. 1 SQL statement."""
    shown = public_entries(live_sections(all_boards(), live))
    ranked = (
        BoardEntry.objects.filter(shown, position__isnull=False)
        .select_related("run")
        .defer("ratios", "advisories", "run__seeds", "run__why_not", "run__ranked_on")
        .annotate(first=Subquery(first_ranked_at()))
        .order_by("-position")
    )
    return {(entry.board, entry.benchmark_version, entry.machine_class): entry for entry in ranked}


def _known() -> dict[Section, LeadChange]:
    """Return the last stored change of each section. 1 SQL statement."""
    last = (
        LeadChange.objects.values("board", "benchmark_version", "machine_class")
        .annotate(last=Max("pk"))
        .values("last")
    )
    found = LeadChange.objects.filter(pk__in=last).select_related("run__submission")
    return {
        (change.board, change.benchmark_version, change.machine_class): change for change in found
    }


def _leader(entry: BoardEntry) -> tuple[int, str, str]:
    return entry.user_id, entry.blob_sha256, entry.configuration


def _known_leader(change: LeadChange | None) -> tuple[int, str, str] | None:
    if change is None or change.run is None:
        return None
    submission = change.run.submission
    return submission.owner_id, submission.blob_sha256, submission.configuration


def _since(entry: BoardEntry, last: LeadChange | None, now: datetime) -> datetime:
    """Return when the entry took the lead: at the end of its newest run, or now.

    The answer is "now" if the entry gained the lead without a new run, for example because a better entry was deleted.
    The first leader of a section has led since the end of its first ranked run.
    """
    ended = entry.run.finished_at
    if last is None:
        # `first` is an annotation of the query, which the type of the rows does not have.
        return getattr(entry, "first", None) or ended or now
    return ended if ended is not None and ended > last.since else now
