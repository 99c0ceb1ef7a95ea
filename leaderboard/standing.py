"""Keeping the materialised boards true: who may be ranked, each user's slots, everybody's places.

Called by services.py inside the transaction that changed a run, after `lock`. Only these functions
write Run.eligible, Run.ranked_on, Run.why_not and BoardEntry. `rebuild` makes everything anew from the runs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection, transaction
from django.db.models import Q

from leaderboard import catalogue, ranking
from leaderboard.boards import Board, all_boards, boards_for
from leaderboard.eligibility import GateFacts, GateRun, RunFacts, reasons_against
from leaderboard.models import BoardEntry, Run, State
from runner.contract import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet

    from leaderboard.models import Submission

# Any constant: the key of the advisory lock that makes refreshes follow one another on PostgreSQL.
_LOCK_KEY = 0x6B657964
NO_BOARD = "no board ranks this benchmark instance"
# Nothing ran. A refusal may rest on more than the binary (who submitted it, on which machine), so it is not held
# against the same binary of somebody else.
NOT_JUDGED = (Verdict.INFRASTRUCTURE, Verdict.REFUSED)


@dataclass(frozen=True, slots=True, order=True)
class _Column:
    """One list of comparable entries: a board at one benchmark version on one class of machines."""

    board: str
    benchmark_version: int
    machine_class: str


def lock() -> None:
    """Let refreshes follow one another until the transaction ends; take it first, before any row.

    SQLite needs nothing: its transactions are IMMEDIATE, so there is one writer anyway.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_KEY])


def refresh(changed: Iterable[Run]) -> None:
    """Bring eligibility and boards up to date after these runs changed. Call inside a transaction, after `lock`."""
    affected: dict[int, Run] = {}
    for run in changed:
        affected[run.pk] = run
        if run.is_gate or run.verified:
            affected.update((ranked.pk, ranked) for ranked in _behind_gate(run))
    touched: set[tuple[_Column, int]] = set()
    for run in affected.values():
        _decide(run)
        touched |= _places_of(run)
    for column, user_id in sorted(touched):
        _refill_slots(column, user_id)
    for column in sorted({column for column, _ in touched}):
        _give_places(column)


def rebuild() -> int:
    """Make every board anew from the runs and return the number of entries. One long transaction."""
    with transaction.atomic():
        lock()
        BoardEntry.objects.all().delete()
        refresh(_with_submission(Run.objects.filter(state=State.DONE, kind="performance")))
        return BoardEntry.objects.count()


def _with_submission(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Load what a refresh reads along with the runs."""
    return runs.select_related("submission", "machine")


def _behind_gate(gate: Run) -> QuerySet[Run]:
    """Return the finished performance runs of the same binary under the same configuration."""
    return _with_submission(_done_of_binary(gate.submission).filter(kind="performance"))


def _done_of_binary(submission: Submission) -> QuerySet[Run]:
    """Return the finished runs of the same binary under the same configuration, whoever submitted it."""
    return Run.objects.filter(
        submission__blob_sha256=submission.blob_sha256,
        submission__configuration=submission.configuration,
        submission__deleted_at__isnull=True,
        state=State.DONE,
    )


def _places_of(run: Run) -> set[tuple[_Column, int]]:
    """Return the lists, with the owner, that this run may stand on or vanish from."""
    if run.machine is None:
        return set()
    return {
        (
            _Column(board.slug, run.benchmark_version, run.machine.machine_class),
            run.submission.owner_id,
        )
        for board in boards_for(run.benchmark, run.instance)
    }


def _decide(run: Run) -> None:
    """Write on which boards the run may be ranked, and why not: on the first board or, if on some, on the others."""
    boards = boards_for(run.benchmark, run.instance)
    verdicts = {board.slug: reasons_of(run, board) for board in boards}
    ranked_on = [slug for slug, reasons in verdicts.items() if not reasons]
    if run.is_gate:
        why_not = []
    elif ranked_on:
        why_not = [
            f"{reasons[0]} ({board.title})" for board in boards if (reasons := verdicts[board.slug])
        ]
    else:
        why_not = next(iter(verdicts.values()), [NO_BOARD])
    decided = {"eligible": bool(ranked_on), "ranked_on": ranked_on, "why_not": why_not}
    if any(getattr(run, name) != value for name, value in decided.items()):
        for name, value in decided.items():
            setattr(run, name, value)
        Run.objects.filter(pk=run.pk).update(**decided)


def reasons_of(run: Run, board: Board) -> list[str]:
    """Return why this run is not ranked on this board, reading its gates and audits. At most 2 SQL statements."""
    facts = RunFacts(
        benchmark_version=run.benchmark_version,
        current_version=catalogue.current_version(run.benchmark),
        scale=run.scale,
        state=run.state,
        verdict=run.verdict,
        sessions=run.sessions,
        score=run.score,
        transactions_failed=run.transactions_failed,
        transactions_completed=run.transactions_completed,
        transactions_planned=run.transactions_planned,
        jail_level=run.jail_level,
        faults=tuple(run.faults),
        deleted=run.submission.deleted_at is not None,
        verified=run.verified,
        unsteady=run.unsteady,
        audit_verdict=_failed_audit(run),
    )
    return reasons_against(facts, board, _gates(run, board))


def _failed_audit(run: Run) -> str:
    """Return the verdict of an audit of the same binary on the same target that failed. 1 SQL statement.

    As with gates, a binary that failed once is not saved by passing another time.
    """
    if run.verified:
        return ""
    audits = _done_of_binary(run.submission).filter(
        verified=True,
        benchmark=run.benchmark,
        instance=run.instance,
        benchmark_version=run.benchmark_version,
    )
    failed = audits.exclude(verdict__in=[*NOT_JUDGED, Verdict.PASSED])
    return failed.order_by("pk").values_list("verdict", flat=True).first() or ""


def _gates(run: Run, board: Board) -> list[GateFacts]:
    """Return how the same binary under the same configuration did in the board's gates. 1 SQL statement."""
    targets = [target for target in catalogue.gate_targets() if target.benchmark in board.gates]
    judged: dict[str, list[GateRun]] = defaultdict(list)
    if targets:
        wanted = Q()
        for target in targets:
            wanted |= Q(
                benchmark=target.benchmark,
                instance=target.instance,
                benchmark_version=catalogue.current_version(target.benchmark),
                scale=catalogue.run_scale(target, run.scale),
            )
        done = _done_of_binary(run.submission).filter(wanted).exclude(verdict__in=NOT_JUDGED)
        found = done.order_by("pk").values_list("benchmark", "instance", "verdict", "faults")
        for benchmark, instance, verdict, faults in found:
            judged[benchmark].append(GateRun(instance, verdict, tuple(faults)))
    return [
        GateFacts(
            benchmark=gate,
            instances=tuple(t.instance for t in targets if t.benchmark == gate),
            runs=tuple(judged[gate]),
        )
        for gate in board.gates
    ]


def _board(column: _Column) -> Board:
    """Return the board of a list."""
    return next(board for board in all_boards() if board.slug == column.board)


def _entries(column: _Column) -> QuerySet[BoardEntry]:
    """Return the entries of a list."""
    return BoardEntry.objects.filter(
        board=column.board,
        benchmark_version=column.benchmark_version,
        machine_class=column.machine_class,
    )


def _refill_slots(column: _Column, user_id: int) -> None:
    """Choose this user's entries anew from the eligible runs. 4 SQL statements."""
    board = _board(column)
    runs = Run.objects.filter(
        benchmark=board.benchmark,
        instance=board.instance,
        benchmark_version=column.benchmark_version,
        machine__machine_class=column.machine_class,
        scale__in=board.scales,
        eligible=True,
        submission__owner_id=user_id,
    ).values_list(
        "pk",
        "submission__blob_sha256",
        "submission__configuration",
        "submission__reference",
        "detail__ratios",
        "provisional",
        "ranked_on",
    )
    candidates = [
        ranking.Candidate(
            run_id=pk,
            user_id=user_id,
            blob_sha256=digest,
            configuration=configuration,
            ratios=tuple(ratios),
            provisional=provisional or board.provisional,
            reference=reference,
        )
        for pk, digest, configuration, reference, ratios, provisional, ranked_on in runs
        if board.slug in ranked_on
    ]
    chosen = ranking.choose(
        candidates, per_user=board.per_user, lower_is_better=board.lower_is_better
    )
    audited = _audited(column, [entry.blob_sha256 for entry in chosen])
    _entries(column).filter(user_id=user_id).delete()
    BoardEntry.objects.bulk_create(
        _row(column, slot, entry, audited=(entry.blob_sha256, entry.configuration) in audited)
        for slot, entry in enumerate(chosen)
    )


def _audited(column: _Column, digests: list[str]) -> set[tuple[str, str]]:
    """Return which binaries, under which configuration, passed an audit on the board's target. 1 SQL statement."""
    board = _board(column)
    passed = Run.objects.filter(
        verified=True,
        benchmark=board.benchmark,
        instance=board.instance,
        benchmark_version=column.benchmark_version,
        scale__in=board.scales,
        verdict=Verdict.PASSED,
        submission__blob_sha256__in=digests,
        submission__deleted_at__isnull=True,
    )
    return set(passed.values_list("submission__blob_sha256", "submission__configuration"))


def _row(column: _Column, slot: int, entry: ranking.Entry, *, audited: bool) -> BoardEntry:
    """Return the row of an entry, without a place yet."""
    return BoardEntry(
        board=column.board,
        benchmark_version=column.benchmark_version,
        machine_class=column.machine_class,
        user_id=entry.user_id,
        slot=slot,
        run_id=entry.run_id,
        blob_sha256=entry.blob_sha256,
        configuration=entry.configuration,
        score=entry.score,
        score_low=entry.low,
        score_high=entry.high,
        ratios=list(entry.ratios),
        provisional=entry.provisional,
        audited=audited,
    )


def _give_places(column: _Column) -> None:
    """Rank the best entries of a list and take the place of those that fell out. 3 SQL statements."""
    board = _board(column)
    order = ("score", "run_id") if board.lower_is_better else ("-score", "run_id")
    shown = list(_entries(column).order_by(*order)[: board.top])
    ranks = ranking.rank([entry.ratios for entry in shown], lower_is_better=board.lower_is_better)
    for entry, place in zip(shown, ranks, strict=True):
        entry.position, entry.rank_low, entry.rank_high = place.position, place.low, place.high
    _entries(column).filter(position__isnull=False).update(
        position=None, rank_low=None, rank_high=None
    )
    BoardEntry.objects.bulk_update(shown, ["position", "rank_low", "rank_high"])
