"""Computes the boards of a contest from the runs of its entries.

A board of a contest has the rules of one of the site's boards, but it ranks only the contest's entries, and treats each
team as one user. Each hidden instance, i.e. benchmark instance with secret parameters, has a board, too. The public
board of a frozen contest shows the state at the freeze: it counts only entries that were made, and runs that ended, by
that time. Disqualified and deleted submissions never count.

A contest's board shows the same benchmark version as the site's board, even if runs of a newer version have ended. So
it switches when an organiser of the site makes the newer version live (live_boards.py). A frozen board keeps the
version that was live at the freeze. A closed contest keeps the version that was live at its end. hidden_board.py says
which version a hidden instance's board shows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.db.models import Q
from django.utils import timezone

from leaderboard import catalogue
from leaderboard.boards import Board, board_named
from leaderboard.contests.combined import TeamScore, combine
from leaderboard.contests.hidden_board import board_of, shown_version
from leaderboard.contests.models import Phase
from leaderboard.live_boards import versions_at
from leaderboard.models import Run, State
from leaderboard.ranking import rank_intervals
from leaderboard.ranking.board_entries import NOT_JUDGED
from leaderboard.ranking.visible_ranks import CACHE_SECONDS, cached_ranks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from leaderboard.contests.models import Contest, Entry, Team
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
    `version` is the benchmark version; 0 if it is unknown, because an older result does not contain it. `staged` is the
    newer version that the entries are being run with, and 0 if there is none or the board no longer changes. `counts`
    is True if the combined score counts the board.
    """

    board: Board
    machine_class: str
    runs: tuple[Played, ...]
    counts: bool = True
    version: int = 0
    staged: int = 0


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

    `rows` has as many entries as the site's board shows. `best` has the best entry of every team. `version` and
    `staged` have the same meaning as in BoardRuns.
    """

    board: Board
    machine_class: str
    rows: tuple[Standing, ...]
    best: tuple[tuple[Team, rank_intervals.Entry], ...]
    counts: bool = True
    version: int = 0
    staged: int = 0

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

    With `secret`, the boards of hidden instances that are not public yet are included. 6 SQL statements, or 3 if there
    are no runs.
    """
    found, teams = counted_runs(contest, live=live, secret=secret)
    return [rank_board(runs, teams) for runs in found]


def counted_runs(
    contest: Contest, *, live: bool = False, secret: bool = False, disqualified: bool = False
) -> tuple[list[BoardRuns], dict[int, Team]]:
    """Return the runs that decide each board of a contest, and the teams by id.

    With `disqualified`, the runs of disqualified entries are included. At most 6 SQL statements.
    """
    boards = dict.fromkeys(boards_of(contest), True)
    versions = versions_at(boards, _shown_at(contest, live=live))
    for hidden in contest.hidden_instances.all():
        if hidden.is_public or (secret and hidden.removed_at is None):
            boards[board_of(hidden)] = hidden.counts
    runs = _runs(contest, boards, live=live, disqualified=disqualified)
    teams = {run.pk: _entry(contest, run).team for run in runs}
    changes = contest.phase is not Phase.CLOSED and (live or not contest.is_frozen)
    found = []
    for board, counts in boards.items():
        version = versions.get(board.slug)
        if version is None:
            version = _hidden_version(contest, board, runs)
        one = _board_runs(board, runs, teams, version)
        newest = catalogue.current_version(board.benchmark) or 0
        staged = newest if changes and newest > one.version > 0 else 0
        found.append(replace(one, counts=counts, staged=staged))
    return found, {teams[run.pk].pk: teams[run.pk] for run in runs if run.ranked_on}


def _shown_at(contest: Contest, *, live: bool) -> datetime:
    """Return the moment whose state the boards show: now, the freeze, or the end of the contest."""
    if contest.is_frozen and not live:
        return contest.freezes_at
    return min(timezone.now(), contest.results_at)


def _runs(
    contest: Contest, boards: Iterable[Board], *, live: bool, disqualified: bool
) -> list[Run]:
    """Return the runs of the contest's entries that boards accepted, with the teams. At most 4 SQL statements.

    Of hidden instances, all judged runs are returned.
    """
    wanted = Q(pk__in=[])
    for board in boards:
        wanted |= Q(benchmark=board.benchmark, instance=board.instance)
    # All conditions are in one call of filter(): Django lets two calls match different entries of the submission.
    counted = Q(submission__contest_entries__contest=contest)
    if not disqualified:
        counted &= Q(submission__contest_entries__disqualified_at__isnull=True)
    if contest.is_frozen and not live:
        counted &= Q(
            submission__contest_entries__entered_at__lte=contest.freezes_at,
            finished_at__lte=contest.freezes_at,
        )
    judged = Q(hidden__isnull=False, state=State.DONE) & ~Q(verdict__in=NOT_JUDGED)
    runs = Run.objects.filter(
        wanted,
        counted,
        ~Q(ranked_on=[]) | judged,
        verified=False,
        submission__deleted_at__isnull=True,
    ).order_by("pk")
    if contest.machine_class:
        runs = runs.filter(machine__machine_class=contest.machine_class)
    loaded = runs.select_related("submission__owner", "machine", "detail").prefetch_related(
        "submission__contest_entries__team__contest"
    )
    unused = ("findings", "sessions", "series", "log", "machine_facts", "library_facts")
    return list(loaded.defer("seeds", *(f"detail__{name}" for name in unused)))


def _entry(contest: Contest, run: Run) -> Entry:
    """Return the entry of the run's submission."""
    return next(
        entry for entry in run.submission.contest_entries.all() if entry.contest_id == contest.pk
    )


def _hidden_version(contest: Contest, board: Board, runs: Iterable[Run]) -> int:
    """Return the version that the board of a hidden instance shows. Disqualified entries do not hold up its switch."""
    judged = [run for run in runs if run.instance == board.instance]
    counted = [run for run in judged if board.slug in run.ranked_on]
    honest = [run for run in counted if _entry(contest, run).disqualified_at is None]
    return shown_version(honest or counted, judged)


def _board_runs(
    board: Board, runs: Iterable[Run], teams: Mapping[int, Team], version: int
) -> BoardRuns:
    """Return the runs that decide one board.

    These are the counted runs with the shown benchmark version, and of them only those on the machine class with the
    most runs.
    """
    found = [
        run
        for run in runs
        if board.slug in run.ranked_on and run.machine is not None and run.detail.ratios
    ]
    found = [run for run in found if run.benchmark_version == version]
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
        version=version,
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
        found.version,
        found.staged,
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
