"""Decides which benchmark version a board (a ranking of libraries) shows, and switches a board to a newer one.

When a benchmark gets a newer version, the board of the older version stays as it was. Its entries are run again with
the newer version, which is the *staged* one. When all these runs have ended, an organiser compares the ranks and makes
the staged version live.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Exists, Min, OuterRef, Q
from django.utils import timezone

from leaderboard import catalogue
from leaderboard.boards import all_boards
from leaderboard.contests.progress import Progress, progress
from leaderboard.contests.visibility import hidden_runs, unseen_runs
from leaderboard.models import FINAL_STATES, BoardEntry, LiveVersion, Run, State
from leaderboard.ranking import board_entries
from leaderboard.services import Refused
from results.counts import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from django.contrib.auth.models import User

    from leaderboard.boards import Board
    from leaderboard.viewer import Viewer


def live_versions() -> dict[str, int]:
    """Return, for the slug of every board, the benchmark version that the board shows. 1 SQL statement."""
    newest = {board.slug: catalogue.current_version(board.benchmark) or 0 for board in all_boards()}
    stored = LiveVersion.objects.order_by("pk").values_list("board", "version")
    return {**newest, **{slug: version for slug, version in stored if slug in newest}}


def versions_at(boards: Iterable[Board], moment: datetime) -> dict[str, int]:
    """Return, for the slugs of these boards, the version that each board showed at a moment. 1 SQL statement.

    If the first row of LiveVersion of a board was stored only after this moment, its version is returned.
    """
    shown = {board.slug: catalogue.current_version(board.benchmark) or 0 for board in boards}
    noted = set()
    stored = LiveVersion.objects.filter(board__in=shown).order_by("pk")
    for slug, version, since in stored.values_list("board", "version", "since"):
        if since <= moment or slug not in noted:
            shown[slug] = version
        noted.add(slug)
    return shown


def live_sections(boards: Iterable[Board], live: dict[str, int]) -> Q:
    """Return the condition that an entry is on one of these boards, at the version that the board shows."""
    found = Q(pk__in=())
    for board in boards:
        found |= Q(board=board.slug, benchmark_version=live[board.slug])
    return found


def note_live_versions() -> list[LiveVersion]:
    """Store the live version of each board that has ranked entries but no live version yet; return the new rows.

    The live version is the oldest one with ranked entries. 1 SQL statement if there is no such board.

    A background process calls this every few seconds. So a board has a row long before its benchmark has a newer
    version.
    """
    known = Exists(LiveVersion.objects.filter(board=OuterRef("board")))
    first = (
        BoardEntry.objects.filter(~known, position__isnull=False)
        .values("board")
        .annotate(version=Min("benchmark_version"))
        .order_by("board")
    )
    now = timezone.now()
    rows = [LiveVersion(board=row["board"], version=row["version"], since=now) for row in first]
    return LiveVersion.objects.bulk_create(rows, ignore_conflicts=True) if rows else []


@dataclass(frozen=True, slots=True)
class RankChange:
    """An entry in the comparison of two versions: its ranks (empty: none), and the reason if it has no new rank."""

    entry: BoardEntry
    old: str
    new: str
    reason: str


@dataclass(frozen=True, slots=True)
class Staging:
    """A board and its staged version.

    - `live`, `staged`: the benchmark version that the board shows now, and the newest one.
    - `entries`: how many entries are ranked at the live version. All of them must be run again.
    - `missing`: how many of these entries lack a timed run with the staged version, or have a run that has not ended.
    - `unqueued`: how many of these entries have no timed run with the staged version, not even a queued one.
    - `changes`: the changes of rank for each machine class (processor, number of CPUs, memory). Entries of the live
      version come first.
    - `contests`: how far the entries of running contests have been run again.
    """

    board: Board
    live: int
    staged: int
    entries: int
    missing: int
    unqueued: int
    changes: dict[str, tuple[RankChange, ...]]
    contests: Progress

    @property
    def complete(self) -> bool:
        """Return True if the staged version can be made live."""
        return self.missing == 0 and self.contests.missing == 0

    @property
    def unqueued_runs(self) -> int:
        """Return how many runs with the staged version are not even in the queue."""
        return self.unqueued + self.contests.unqueued


def staging(board: Board, viewer: Viewer) -> Staging | None:
    """Return the staged version of a board as an organiser sees it; None if the board shows the newest version.

    5 SQL statements.
    """
    live = live_versions()[board.slug]
    staged = catalogue.current_version(board.benchmark) or 0
    if staged == live:
        return None
    hidden = hidden_runs(
        submission="run__submission", finished_at="run__finished_at", viewer=viewer
    )
    both = BoardEntry.objects.filter(
        ~hidden, board=board.slug, benchmark_version__in=(live, staged)
    ).select_related("run__submission", "user")
    loaded = list(both.defer("ratios", "advisories").order_by("machine_class", "position", "pk"))
    ranked = [e for e in loaded if e.benchmark_version == live and e.position is not None]
    new = {_key(e): e for e in loaded if e.benchmark_version == staged}
    runs = _staged_runs(board, staged, ranked, viewer)
    return Staging(
        board,
        live,
        staged,
        len(ranked),
        sum(_is_open(runs.get(_key(entry), [])) for entry in ranked),
        sum(all(run.is_gate for run in runs.get(_key(entry), [])) for entry in ranked),
        _changes(board, ranked, new, runs),
        progress(board, live=live, staged=staged),
    )


_Key = tuple[str, int, str, str]


def _key(entry: BoardEntry) -> _Key:
    return entry.machine_class, entry.user_id, entry.blob_sha256, entry.configuration


def _staged_runs(
    board: Board, version: int, entries: Sequence[BoardEntry], viewer: Viewer
) -> dict[_Key, list[Run]]:
    """Return the runs of these entries with the staged version, and their unfinished gates, oldest first.

    1 SQL statement.

    A gate is a correctness test that the board requires. The runs of gates count for all machine classes. A timed run
    that has no machine yet counts for the class that it must run on.
    """
    timed = Q(benchmark=board.benchmark, instance=board.instance, benchmark_version=version)
    gates = Q(benchmark__in=board.gates) & ~Q(state__in=FINAL_STATES)
    runs = Run.objects.filter(
        timed | gates,
        ~unseen_runs(viewer),
        verified=False,
        submission__blob_sha256__in={entry.blob_sha256 for entry in entries},
        submission__deleted_at=None,
    )
    classes = {entry.machine_class for entry in entries}
    found: dict[_Key, list[Run]] = {}
    for run in runs.select_related("submission", "machine").defer("seeds").order_by("pk"):
        one = run.submission
        own = {run.machine.machine_class if run.machine else run.wanted_class}
        for name in classes if run.is_gate else own:
            key = (name, one.owner_id, one.blob_sha256, one.configuration)
            found.setdefault(key, []).append(run)
    return found


def _is_open(runs: list[Run]) -> bool:
    """Return True if an entry's staged runs and gates include no timed run, or include a run that has not ended."""
    return all(run.is_gate for run in runs) or any(run.state not in FINAL_STATES for run in runs)


def _changes(
    board: Board,
    ranked: list[BoardEntry],
    new: dict[_Key, BoardEntry],
    runs: dict[_Key, list[Run]],
) -> dict[str, tuple[RankChange, ...]]:
    found: dict[str, list[RankChange]] = {}
    for entry in ranked:
        now = new.get(_key(entry))
        reason = _reason(board, now, runs.get(_key(entry), []))
        found.setdefault(entry.machine_class, []).append(
            RankChange(entry, ranks_of(entry), ranks_of(now) if now else "", reason)
        )
    old = {_key(entry) for entry in ranked}
    for key, entry in new.items():
        if key not in old and entry.position is not None:
            change = RankChange(entry, "", ranks_of(entry), "")
            found.setdefault(entry.machine_class, []).append(change)
    return {name: tuple(changes) for name, changes in sorted(found.items())}


def ranks_of(entry: BoardEntry) -> str:
    """Return the rank interval of an entry as text; an empty text if it has none."""
    if entry.position is None:
        return ""
    low, high = entry.rank_low, entry.rank_high
    return f"{low}" if low == high else f"{low}\N{EN DASH}{high}"


def _reason(board: Board, new: BoardEntry | None, runs: list[Run]) -> str:
    """Return why an entry of the old board has no rank on the new one; an empty text if it has one."""
    if new is not None and not new.spare:
        below = f"on the new version, the library is not among the best {board.top}"
        return "" if new.position is not None else below
    if not runs:
        return "the entry has not been run again"
    if _is_open(runs):
        return "the runs of the entry have not ended yet"
    last = runs[-1]
    if last.state == State.CANCELLED:
        return "the run of the entry was cancelled"
    if last.why_not:
        return str(last.why_not[0])
    limit = counted(board.per_user, "better library", "better libraries")
    return f"the owner has {limit}, as many as the board ranks for one user"


def _missing(found: Staging) -> str:
    """Return in words how many entries of the board have not been run again.

    If all of them have, return how many results that unfinished contests use lack the new runs.
    """
    missing, of = found.missing, counted(found.entries, "entry", "entries")
    if not missing:
        of = counted(found.contests.results, "result")
        return (
            f"for {found.contests.missing:,} of {of} that unfinished contests use, the runs with version "
            f"{found.staged} are missing or have not ended"
        )
    return f"{missing:,} of {of} {'has' if missing == 1 else 'have'} not been run again"


def make_live(board: Board, *, by: User) -> LiveVersion:
    """Make the staged version of a board live. Raises PermissionDenied, or Refused if a run is missing."""
    if not by.is_staff:
        message = "only organisers can make a new version of a board live: ask an organiser"
        raise PermissionDenied(message)
    with transaction.atomic():
        board_entries.lock()
        found = staging(board, by)
        if found is None:
            raise Refused(
                ["the board shows the newest version of its benchmark already: reload the page"]
            )
        if not found.complete:
            raise Refused(
                [f"{_missing(found)}: queue the missing runs and wait until all have ended"]
            )
        return LiveVersion.objects.create(
            board=board.slug, version=found.staged, since=timezone.now(), by=by
        )
