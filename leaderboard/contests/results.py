"""Stores the result of a contest when it closes, and reads it. Later changes of runs do not change a stored result.

For each board (ranking) of the contest, the content of a result has the benchmark version, the counted runs, the final
rows, and the best entry of each team. For each session (repetition) of a run, the content has the library's result
divided by that of the control library (the baseline). The content also has the combined ranking and the names of the
teams. `schema` names the format.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F, Max, Q
from django.utils import timezone

from leaderboard.boards import Board
from leaderboard.contests.combined import TeamScore
from leaderboard.contests.models import Contest, Phase, Result, Team
from leaderboard.contests.standings import (
    BoardRuns,
    CombinedRow,
    ContestBoard,
    Played,
    Standing,
    boards_of,
    combined_standing,
    contest_boards,
    counted_runs,
    rank_board,
)
from leaderboard.live_boards import versions_at
from leaderboard.models import FINAL_STATES, Run
from leaderboard.ranking.rank_intervals import Candidate, Entry
from results.stats.family import Rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SCHEMA = "keydrome.contest_result.v1"


@dataclass(frozen=True, slots=True)
class ContestStanding:
    """The boards of a contest and the combined ranking. They come from the stored `result` if it is not None."""

    boards: list[ContestBoard]
    combined: list[CombinedRow]
    result: Result | None


def contest_standing(
    contest: Contest, *, live: bool = False, secret: bool = False
) -> ContestStanding:
    """Return the stored result of a closed contest, and otherwise the current boards.

    `live` and `secret` have the same meaning as for `contest_boards` in standings.py. 1 SQL statement for a stored
    result, and otherwise at most 7.
    """
    result = newest_result(contest)
    if result is not None:
        return _from_content(contest, result)
    boards = contest_boards(contest, live=live, secret=secret)
    return ContestStanding(boards, combined_standing(boards), None)


def newest_result(contest: Contest) -> Result | None:
    """Return the result that counts; None if the contest is not closed or has no result yet. At most 1 SQL statement.

    A result that was stored before the end date does not count, because the organisers have moved the date since then.
    """
    if contest.phase is not Phase.CLOSED:
        return None
    return contest.results.filter(stored_at__gte=contest.results_at).first()


def store_due_results() -> list[Result]:
    """Store the results of contests that have closed and whose timed runs have ended; return the new results.

    1 SQL statement if there is nothing to do. Several processes may call this at the same time.
    """
    closed = Contest.objects.filter(results_at__lte=timezone.now()).annotate(
        last=Max("results__stored_at")
    )
    due = closed.filter(Q(last=None) | Q(last__lt=F("results_at")))
    return [result for contest in due if (result := _store_once(contest.pk)) is not None]


def _store_once(contest_id: int) -> Result | None:
    with transaction.atomic():
        contest = Contest.objects.select_for_update().get(pk=contest_id)
        if newest_result(contest) is not None or open_runs(contest):
            return None
        found, teams = counted_runs(contest, disqualified=True)
        return _store(contest, found, teams, "")


def open_runs(contest: Contest) -> int:
    """Return how many timed runs of the contest were queued before its end and have not ended. 2 SQL statements.

    Runs of a version that was not live at the end of the contest are left out, because no board counts them.
    """
    boards = boards_of(contest)
    versions = versions_at(boards, contest.results_at)
    staged = Q(pk__in=())
    for board in boards:
        staged |= Q(
            benchmark=board.benchmark,
            instance=board.instance,
            benchmark_version__gt=versions[board.slug],
        )
    return (
        Run.objects.filter(
            submission__contest_entries__contest=contest,
            submission__deleted_at__isnull=True,
            kind="performance",
            verified=False,
            created_at__lt=contest.results_at,
        )
        .exclude(state__in=FINAL_STATES)
        .exclude(staged)
        .count()
    )


def correct(contest: Contest, reason: str) -> Result | None:
    """Store a further version of the result after the jury disqualified or restored an entry.

    The new version ranks the runs that the first version counted, without disqualified entries. Returns None if no
    result is stored yet.
    """
    with transaction.atomic():
        contest = Contest.objects.select_for_update().get(pk=contest.pk)
        result = newest_result(contest)
        if result is None:
            return None
        teams = _teams(contest, result.content)
        found = [_board_runs(board) for board in result.content["boards"]]
        return _store(contest, found, teams, reason)


def _store(
    contest: Contest, found: Iterable[BoardRuns], teams: Mapping[int, Team], reason: str
) -> Result:
    excluded = set(
        contest.entries.filter(disqualified_at__isnull=False).values_list(
            "submission_id", flat=True
        )
    )
    every = list(found)
    boards = [
        rank_board(
            replace(one, runs=tuple(r for r in one.runs if r.submission_id not in excluded)), teams
        )
        for one in every
    ]
    newest = contest.results.aggregate(newest=Max("version"))["newest"] or 0
    content = {
        "schema": SCHEMA,
        "teams": {
            str(team.pk): {"number": team.number, "name": team.name} for team in teams.values()
        },
        "boards": [
            {
                "board": asdict(runs.board),
                "benchmark_version": runs.version,
                "machine_class": runs.machine_class,
                "counts": runs.counts,
                "runs": [asdict(run) for run in runs.runs],
                "rows": [
                    {
                        "team": row.team.pk,
                        "file_name": row.file_name,
                        "entry": asdict(row.entry),
                        "rank": asdict(row.rank),
                    }
                    for row in ranked.rows
                ],
                "best": [{"team": team.pk, "entry": asdict(entry)} for team, entry in ranked.best],
            }
            for runs, ranked in zip(every, boards, strict=True)
        ],
        "combined": [asdict(row.score) for row in combined_standing(boards)],
    }
    return Result.objects.create(
        contest=contest, version=newest + 1, reason=reason, content=content
    )


def _teams(contest: Contest, content: dict[str, Any]) -> dict[int, Team]:
    """Return the teams, made from the stored names that they had at the end, not read from the table of teams."""
    return {
        int(pk): Team(pk=int(pk), contest=contest, **team) for pk, team in content["teams"].items()
    }


def _from_content(contest: Contest, result: Result) -> ContestStanding:
    teams = _teams(contest, result.content)
    boards = [_contest_board(board, teams) for board in result.content["boards"]]
    combined = [
        CombinedRow(teams[score["team"]], TeamScore(**{**score, "rank": Rank(**score["rank"])}))
        for score in result.content["combined"]
    ]
    return ContestStanding(boards, combined, result)


def _contest_board(stored: dict[str, Any], teams: Mapping[int, Team]) -> ContestBoard:
    rows = tuple(
        Standing(teams[row["team"]], row["file_name"], _entry(row["entry"]), Rank(**row["rank"]))
        for row in stored["rows"]
    )
    best = tuple((teams[one["team"]], _entry(one["entry"])) for one in stored["best"])
    return ContestBoard(
        _board(stored["board"]),
        stored["machine_class"] if rows else "",
        rows,
        best,
        stored.get("counts", True),  # older results lack this field and the next one
        stored.get("benchmark_version", 0),
    )


def _board_runs(stored: dict[str, Any]) -> BoardRuns:
    runs = [
        Played(Candidate(**_with_tuple(run["candidate"])), run["submission_id"], run["file_name"])
        for run in stored["runs"]
    ]
    return BoardRuns(
        _board(stored["board"]),
        stored["machine_class"],
        tuple(runs),
        stored.get("counts", True),
        stored.get("benchmark_version", 0),
    )


def _board(stored: dict[str, Any]) -> Board:
    """Return the board with the rules that it had at the end, even if the site has no such board any more."""
    values: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in stored.items()
    }
    return Board(**values)


def _entry(stored: dict[str, Any]) -> Entry:
    return Entry(**_with_tuple(stored))


def _with_tuple(stored: dict[str, Any]) -> dict[str, Any]:
    return {**stored, "ratios": tuple(stored["ratios"])}
