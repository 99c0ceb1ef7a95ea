"""Says which ranks a run has for a viewer, and why boards (rankings of libraries) do not rank it.

A *gate* is a correctness test that a board requires. An *audit* repeats a run in a mode in which a process other than
the library's makes every call. A library that fails one of them loses its ranks.

The ranks are those among the entries that the viewer may see, as on the pages of boards. If another run is the cause,
for example a failed correctness test, the reason names that run, but only if the viewer may see it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import OuterRef, Q, Subquery

from leaderboard import catalogue
from leaderboard.boards import boards_for
from leaderboard.models import BoardEntry, LiveVersion, State
from leaderboard.ranking.eligibility import gate_in, names_an_audit
from leaderboard.ranking.visible_ranks import section_of, visible_ranks
from results.counts import counted
from runner.terms import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.db.models import QuerySet

    from leaderboard.boards import Board
    from leaderboard.models import Run, Submission
    from leaderboard.viewer import Viewer


@dataclass(frozen=True, slots=True)
class BoardRank:
    """A run's rank interval on a board. The measurements do not show which rank from `low` to `high` is right.

    `position` is the rank by the median alone.
    """

    board: Board
    low: int
    high: int
    position: int

    def __str__(self) -> str:
        ranks = str(self.low) if self.low == self.high else f"{self.low}-{self.high}"
        return f"{ranks} on {self.board.title}"


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason that completes "not ranked because ...", and the id of the run that is the cause, or None."""

    text: str
    run_id: int | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class RankStatus:
    """The ranks of a run, and the reasons why boards do not rank it."""

    ranks: tuple[BoardRank, ...] = ()
    why_not: tuple[Reason, ...] = ()


def ranking_status(run: Run, viewer: Viewer, visible: QuerySet[Run]) -> RankStatus:
    """Return the run's ranks for this viewer, and why other boards do not rank it.

    `visible` has the runs that the viewer may see. At most 2 SQL statements, and 2 more if a contest hides entries.
    """
    if run.is_gate or counts_on_hidden(run):
        return RankStatus()
    if not may_have_rank(run):
        return RankStatus(why_not=tuple(_with_runs(run, visible)))
    found = status(run, entries_of([run.submission], viewer))
    if run.eligible:
        return RankStatus(found.ranks, (*found.why_not, *_with_runs(run, visible)))
    return found if found.ranks else RankStatus(why_not=tuple(_with_runs(run, visible)))


def counts_on_hidden(run: Run) -> bool:
    """Return True if the board of a contest's hidden instance accepted the run.

    Only pages of the contest show that board and its version, so other pages name neither a rank nor a reason.
    """
    return run.hidden_id is not None and bool(run.ranked_on)


def may_have_rank(run: Run) -> bool:
    """Return True if a board may rank the run.

    This is so if the run is eligible, or if it passed with an older benchmark version, which a board may still show.
    """
    if run.eligible:
        return True
    old = run.benchmark_version != catalogue.current_version(run.benchmark)
    return old and run.verdict == Verdict.PASSED and not run.verified


def entries_of(submissions: Sequence[Submission], viewer: Viewer) -> list[BoardEntry]:
    """Return the entries of the owners of these submissions, with the viewer's ranks and the live version of the board.

    Entries without a rank are returned too: from them, `status` finds out why a run has no rank. The submissions should
    have few owners, because all ranked entries of each owner are read. 2 SQL statements, and 2 more if a contest hides
    entries; 1 if there are no entries.
    """
    live = LiveVersion.objects.filter(board=OuterRef("board")).order_by("-pk")
    entries: list[BoardEntry] = list(
        BoardEntry.objects.annotate(live=Subquery(live.values("version")[:1]))
        .filter(user_id__in={one.owner_id for one in submissions})
        .filter(
            Q(blob_sha256__in={one.blob_sha256 for one in submissions}) | Q(position__isnull=False)
        )
        .defer("ratios", "advisories")
        .order_by("board", "position", "pk")
    )
    if entries:
        visible_ranks({section_of(entry) for entry in entries}, viewer).apply(entries)
    return entries


def status(run: Run, entries: Iterable[BoardEntry]) -> RankStatus:
    """Return the ranks of a run that may have ranks, and why other boards do not rank it. Needs `run.submission`.

    `entries` has all entries of the owner that `entries_of` returns. Executes no SQL.
    """
    current = catalogue.current_version(run.benchmark)
    ranks: list[BoardRank] = []
    why_not: list[Reason] = []
    for board in boards_for(run.benchmark, run.instance):
        if run.benchmark_version == current and board.slug not in run.ranked_on:
            continue  # run.why_not already has the reason for this board
        here = [entry for entry in entries if entry.board == board.slug]
        # `live` is an annotation of the query, which the type of the rows does not have.
        live = next((found for one in here if (found := getattr(one, "live", None))), current)
        found = _place(run, board, [one for one in here if one.benchmark_version == live], live)
        if isinstance(found, BoardRank):
            ranks.append(found)
        else:
            why_not.append(found)
    return RankStatus(tuple(ranks), tuple(why_not))


def _place(
    run: Run, board: Board, entries: Sequence[BoardEntry], live: int | None
) -> BoardRank | Reason:
    """Return the rank of a run on a board, or why it has none.

    `entries` has the owner's entries on this board for the live benchmark version, which the board shows.
    """
    current = catalogue.current_version(run.benchmark)
    if run.benchmark_version != live:
        if run.benchmark_version == current:
            return Reason(
                f"the run used version {current} of the benchmark, and the board {board.title} still shows version "
                f"{live}: when all entries of the board have been run again, an organiser can switch the board to "
                f"version {current}, and the board can then rank the run"
            )
        return Reason(_old(run, current))
    submission = run.submission
    binary = (submission.owner_id, submission.blob_sha256, submission.configuration)
    own = [one for one in entries if (one.user_id, one.blob_sha256, one.configuration) == binary]
    placed = next((entry for entry in own if entry.position is not None), None)
    if not run.eligible and not (placed and placed.run_id == run.pk) and len(run.why_not) != 1:
        return Reason(_old(run, current))
    if placed is not None:
        return BoardRank(board, placed.rank_low or 0, placed.rank_high or 0, placed.position or 0)
    if own and not own[0].spare:
        return Reason(f"the library is not among the best {board.top} on {board.title}")
    limit = counted(board.per_user, "better library", "better libraries")
    text = f"the owner has {limit} on {board.title}, as many as the board ranks for one user"
    better = [entry for entry in entries if entry.position is not None]
    return Reason(text, better[0].run_id if better else None)


def _old(run: Run, current: int | None) -> str:
    return (
        f"the run used version {run.benchmark_version} of the benchmark; "
        f"the newest is version {current}: repeat the run"
    )


def _with_runs(run: Run, visible: QuerySet[Run]) -> list[Reason]:
    """Return the stored reasons, each with the run of the gate or audit that it names. At most 1 SQL statement.

    The gate or audit may be of any user, since gates and audits count for all users' submissions of the same binary.
    """
    texts = list(run.why_not) or ([] if run.is_final else ["the run has not finished yet"])
    gates = {gate for text in texts if (gate := gate_in(text))}
    audits = any(names_an_audit(text) for text in texts)
    if not gates and not audits:
        return [Reason(text) for text in texts]
    wanted = Q(kind="correctness", benchmark__in=gates, verified=False)
    if audits:
        wanted |= Q(verified=True, benchmark=run.benchmark, instance=run.instance)
    candidates = list(
        visible.filter(
            wanted,
            submission__blob_sha256=run.submission.blob_sha256,
            submission__configuration=run.submission.configuration,
        )
        .exclude(verdict__in=[Verdict.PASSED, Verdict.REFUSED, Verdict.INFRASTRUCTURE])
        .exclude(state=State.CANCELLED)
        .order_by("pk")
    )
    return [Reason(text, _deciding(text, candidates)) for text in texts]


def _deciding(text: str, candidates: Iterable[Run]) -> int | None:
    """Return the id of the run that is the cause of a reason: the first one that has ended, or else the first one."""
    gate = gate_in(text)
    if not gate and not names_an_audit(text):
        return None
    found = [
        one
        for one in candidates
        if (one.benchmark == gate and not one.verified if gate else one.verified)
    ]
    found.sort(key=lambda one: one.state != State.DONE)
    return found[0].pk if found else None
