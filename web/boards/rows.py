"""Makes the rows of a board, which ranks libraries on one benchmark.

The board's page, CSV and JSON all use these rows, so they show the same values.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.urls import reverse

from leaderboard.models import Kind
from leaderboard.ranking.board_result import result, shown_as
from web import jinja

if TYPE_CHECKING:
    from collections.abc import Callable

    from leaderboard.board_page import Standings
    from leaderboard.boards import Board
    from leaderboard.models import BoardEntry, Submission

WHOLE_LIBRARY = "whole library"


def entry_name(file_name: str, configuration: str) -> tuple[str, str]:
    """Return the two parts of an entry's name: the file's name without its ending, and the runtime configuration.

    A whole library has no configuration, because it brings its own transactions.
    """
    name = jinja.printable(file_name)
    return name.removesuffix(".so") or name, configuration or WHOLE_LIBRARY


def submission_name(submission: Submission) -> tuple[str, str]:
    """Return the two parts of a submission's name: like `entry_name`, but says what a refused file is.

    A refused file can be a bare structure without a configuration, or neither a structure nor a library.
    """
    name, variant = entry_name(submission.file_name, submission.configuration)
    if not submission.configuration and submission.kind != Kind.INDEX:
        variant = submission.get_kind_display()
    return name, variant


@dataclass(frozen=True, slots=True)
class Advisory:
    """An advisory finding, i.e. a warning about a library.

    `text` is the meaning of the finding or the number that it reports; empty if the board shows only the name. `run` is
    the id of the run that found it.
    """

    name: str
    text: str
    run: int


@dataclass(frozen=True, slots=True)
class Row:
    """One entry of a board. It merges those runs of one user's library that the board accepts.

    A session is one repetition of a run in new processes. In each session, the library's result is divided by the
    result of the control library (the baseline). `ratio`, by which the board ranks, is the median of these quotients
    over all sessions of the entry. `ratio_low` and `ratio_high` are the median's confidence interval. `result` is the
    value of the board's metric, such as the time. `result`, `total_ms` and the counts are from the newest run.
    """

    position: int
    rank_low: int
    rank_high: int
    library: str
    description: str
    user: str
    result: float | None
    total_ms: float | None
    ratio: float
    ratio_low: float
    ratio_high: float
    sessions: int
    deadlocks: int | None
    transactions_failed: int | None
    transactions_completed: int | None
    configuration: str
    jail_level: str
    digest: str
    benchmark_version: int
    machine_class: str
    provisional: bool
    audited: bool
    advisories: tuple[Advisory, ...]
    submitted: datetime
    run_id: int
    submission_id: int
    hidden_until: datetime | None = None  # the entry is hidden from others until then; not exported

    @property
    def rank(self) -> str:
        """Return the rank as text, or the interval of ranks that the measurements cannot distinguish."""
        return jinja.rank_range(self.rank_low, self.rank_high)

    @property
    def leads(self) -> bool:
        """Return True if no entry is surely better."""
        return self.rank_low == 1

    @property
    def name(self) -> str:
        """Return the name of the structure or whole library."""
        return entry_name(self.library, self.configuration)[0]

    @property
    def variant(self) -> str:
        """Return the runtime configuration, or that this is a whole library."""
        return entry_name(self.library, self.configuration)[1]

    def plain(self) -> dict[str, Any]:
        """Return the values for an export: numbers unchanged, times as ISO 8601, and the path of the run's page."""
        values = asdict(self)
        del values["hidden_until"]
        values["submitted"] = self.submitted.astimezone(UTC).isoformat(timespec="seconds")
        values["run"] = reverse("submissions:run", args=[self.run_id])
        return values


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """The column of a board with the libraries' values of its metric. `label` names the metric within a sentence."""

    label: str
    heading: str
    write: Callable[[float], str]

    def text(self, value: float | None) -> str:
        """Return the text of a cell."""
        return jinja.UNKNOWN if value is None else self.write(value)


def result_column(board: Board) -> ResultColumn:
    """Return the column for the metric of a board."""
    shown = shown_as(board)
    return ResultColumn(shown.label, shown.heading, shown.text)


def rows(standings: Standings) -> list[Row]:
    """Return the rows of a board. Executes no SQL."""
    return [_row(entry, standings.board) for entry in standings.rows]


def _row(entry: BoardEntry, board: Board) -> Row:
    # An entry has no position if better entries fill the board or the owner's share of it. board_page.standings() in
    # the room leaderboard omits such entries.
    if entry.position is None or entry.rank_low is None or entry.rank_high is None:
        message = (
            f"the entry of run {entry.run_id} on the board {board.title} has no rank, so the board cannot show the "
            "entry: this is a fault of Keydrome; report this message to its developers"
        )
        raise ValueError(message)
    run = entry.run
    submission = run.submission
    return Row(
        position=entry.position,
        rank_low=entry.rank_low,
        rank_high=entry.rank_high,
        library=jinja.printable(submission.file_name),
        description=jinja.printable(submission.description),
        user=jinja.printable(entry.user.get_username()),
        result=result(run, board),
        total_ms=run.total_ms,
        ratio=entry.score,
        ratio_low=entry.score_low,
        ratio_high=entry.score_high,
        sessions=len(entry.ratios),
        deadlocks=run.deadlocks,
        transactions_failed=run.transactions_failed,
        transactions_completed=run.transactions_completed,
        configuration=entry.configuration,
        jail_level=run.jail_level,
        digest=entry.blob_sha256,
        benchmark_version=entry.benchmark_version,
        machine_class=entry.machine_class,
        provisional=entry.provisional,
        audited=entry.audited,
        advisories=tuple(Advisory(**advisory) for advisory in entry.advisories),
        submitted=submission.created_at,
        run_id=run.pk,
        submission_id=submission.pk,
        # `hidden_until` is an annotation of the query, so the type of the entries does not declare it.
        hidden_until=getattr(entry, "hidden_until", None),
    )
