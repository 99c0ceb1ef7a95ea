"""Computes the boards of a contest from the runs of its entries.

A board of a contest has the rules of one of the site's boards, but it ranks only the contest's entries, and treats each
team as one user. Each hidden instance, i.e. benchmark instance with secret parameters, has a board, too. The public
board of a frozen contest shows the state at the freeze: it counts only entries that were made, and runs that ended, by
that time. Disqualified and deleted submissions never count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.db.models import Q

from leaderboard.boards import Board, board_named
from leaderboard.contests.combined import TeamScore, combine
from leaderboard.contests.hidden_board import board_of
from leaderboard.models import Run
from leaderboard.ranking import rank_intervals
from leaderboard.ranking.visible_ranks import CACHE_SECONDS, cached_ranks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from leaderboard.contests.models import Contest, Team
    from results.stats.family import Rank


@dataclass(frozen=True, slots=True)
class Played:
    """A counted run of a contest's entry. A team is ranked like one user, so `candidate.user_id` is the team's id."""

    candidate: rank_intervals.Candidate
    submission_id: int
    file_name: str


@dataclass(frozen=True, slots=True)
class BoardRuns:
    """All that decides a board of a contest: its counted runs. They are of one benchmark version and machine class.

    A machine class is the processor model, the number of processors and the size of memory.
    `counts` is True if the combined score counts the board.
    """

    board: Board
    machine_class: str
    runs: tuple[Played, ...]
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Standing:
    """A row of a contest's board: a team's entry, merged from its runs of one binary, and the ranks it may have.

    `entry.run_id` is the newest of these runs.
    """

    team: Team
    file_name: str
    entry: rank_intervals.Entry
    rank: Rank


@dataclass(frozen=True, slots=True)
class ContestBoard:
    """A board of a contest with its rows, best first. `machine_class` is empty if there are no rows.

    `rows` has as many entries as the site's board shows. `best` has the best entry of every team.
    """

    board: Board
    machine_class: str
    rows: tuple[Standing, ...]
    best: tuple[tuple[Team, rank_intervals.Entry], ...]
    counts: bool = True

    @property
    def provisional(self) -> bool:
        """Return True if a row has too few sessions (repetitions of its runs), or too small a scale."""
        return any(row.entry.provisional for row in self.rows)


@dataclass(frozen=True, slots=True)
class CombinedRow:
    """A team and its score over all boards of a contest."""

    team: Team
    score: TeamScore


def boards_of(contest: Contest) -> list[Board]:
    """Return the boards of a contest in the contest's order, without the boards of hidden instances.

    A board that the site no longer has is left out.
    """
    return [board for slug in contest.boards if (board := board_named(slug)) is not None]


def contest_boards(
    contest: Contest, *, live: bool = False, secret: bool = False
) -> list[ContestBoard]:
    """Return all boards of a contest, computed from the runs. With `live`, the freeze does not apply.

    With `secret`, the boards of hidden instances that are not public yet are included. 5 SQL statements, or 2 if there
    are no runs.
    """
    found, teams = counted_runs(contest, live=live, secret=secret)
    return [rank_board(runs, teams) for runs in found]


def counted_runs(
    contest: Contest, *, live: bool = False, secret: bool = False, disqualified: bool = False
) -> tuple[list[BoardRuns], dict[int, Team]]:
    """Return the runs that decide each board of a contest, and the teams by id.

    With `disqualified`, the runs of disqualified entries are included. At most 5 SQL statements.
    """
    boards = dict.fromkeys(boards_of(contest), True)
    for hidden in contest.hidden_instances.all():
        if hidden.is_public or (secret and hidden.removed_at is None):
            boards[board_of(hidden)] = hidden.counts
    runs = _runs(contest, boards, live=live, disqualified=disqualified)
    teams = {run.pk: _team(contest, run) for run in runs}
    return [
        replace(_board_runs(board, runs, teams), counts=counts) for board, counts in boards.items()
    ], {team.pk: team for team in teams.values()}


def _runs(
    contest: Contest, boards: Iterable[Board], *, live: bool, disqualified: bool
) -> list[Run]:
    """Return the eligible runs of the contest's entries, with the teams. At most 4 SQL statements."""
    wanted = Q(pk__in=[])
    for board in boards:
        wanted |= Q(benchmark=board.benchmark, instance=board.instance)
    # One filter, so that all conditions are about the same entry.
    counted = Q(submission__contest_entries__contest=contest)
    if not disqualified:
        counted &= Q(submission__contest_entries__disqualified_at__isnull=True)
    if contest.is_frozen and not live:
        counted &= Q(
            submission__contest_entries__entered_at__lte=contest.freezes_at,
            finished_at__lte=contest.freezes_at,
        )
    runs = Run.objects.filter(
        wanted, counted, eligible=True, submission__deleted_at__isnull=True
    ).order_by("pk")
    if contest.machine_class:
        runs = runs.filter(machine__machine_class=contest.machine_class)
    loaded = runs.select_related("submission__owner", "machine", "detail").prefetch_related(
        "submission__contest_entries__team__contest"
    )
    unused = ("findings", "sessions", "series", "log", "machine_facts", "library_facts")
    return list(loaded.defer("seeds", *(f"detail__{name}" for name in unused)))


def _team(contest: Contest, run: Run) -> Team:
    """Return the team that entered the run's submission."""
    return next(
        entry.team
        for entry in run.submission.contest_entries.all()
        if entry.contest_id == contest.pk
    )


def _board_runs(board: Board, runs: Iterable[Run], teams: Mapping[int, Team]) -> BoardRuns:
    """Return the runs that decide one board.

    These are the counted runs with the newest benchmark version, and of them only those on the machine class with the
    most runs.
    """
    found = [
        run
        for run in runs
        if board.slug in run.ranked_on and run.machine is not None and run.detail.ratios
    ]
    newest = max((run.benchmark_version for run in found), default=0)
    found = [run for run in found if run.benchmark_version == newest]
    classes = Counter(run.machine.machine_class for run in found if run.machine)
    chosen = min(classes, key=lambda name: (-classes[name], name), default="")
    return BoardRuns(
        board,
        chosen,
        tuple(
            Played(
                rank_intervals.Candidate(
                    run_id=run.pk,
                    user_id=teams[run.pk].pk,
                    blob_sha256=run.submission.blob_sha256,
                    configuration=run.submission.configuration,
                    ratios=tuple(run.detail.ratios),
                    provisional=run.provisional or board.provisional,
                ),
                run.submission_id,
                run.submission.file_name,
            )
            for run in found
            if run.machine and run.machine.machine_class == chosen
        ),
    )


def rank_board(found: BoardRuns, teams: Mapping[int, Team]) -> ContestBoard:
    """Return the board with its rows. `teams` has the teams by id. Executes no SQL."""
    board = found.board
    names = {run.candidate.run_id: run.file_name for run in found.runs}
    entries = rank_intervals.choose(
        [run.candidate for run in found.runs],
        per_user=board.per_user,
        lower_is_better=board.lower_is_better,
    )
    best = {entry.user_id: (teams[entry.user_id], entry) for entry in reversed(entries)}
    shown = entries[: board.top]
    ranks = cached_ranks([entry.ratios for entry in shown], lower_is_better=board.lower_is_better)
    rows = [
        Standing(teams[entry.user_id], names[entry.run_id], entry, rank)
        for entry, rank in zip(shown, ranks, strict=True)
    ]
    return ContestBoard(
        board,
        found.machine_class if rows else "",
        tuple(rows),
        tuple(best.values()),
        found.counts,
    )


def combined_standing(boards: list[ContestBoard]) -> list[CombinedRow]:
    """Return the teams by their score over all boards that count, best first. Executes no SQL."""
    teams: dict[int, Team] = {}
    speeds: dict[int, list[tuple[float, ...]]] = defaultdict(list)
    boards = [found for found in boards if found.counts]
    for found in boards:
        for team, entry in found.best:
            teams[team.pk] = team
            lower = found.board.lower_is_better
            speeds[team.pk].append(
                tuple(1 / ratio for ratio in entry.ratios) if lower else entry.ratios
            )
    samples = tuple((team, tuple(found)) for team, found in sorted(speeds.items()))
    key = f"contest-scores:{hash((len(boards), samples))}"
    scores: list[TeamScore] | None = cache.get(key)
    if scores is None:
        scores = combine(speeds, max(1, len(boards)))
        cache.set(key, scores, CACHE_SECONDS)
    return [CombinedRow(teams[score.team], score) for score in scores]
