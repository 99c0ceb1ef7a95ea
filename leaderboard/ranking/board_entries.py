"""Keeps the entries of the boards up to date when runs change. A board is a ranking on one benchmark instance.

`refresh` has three steps: decide which runs may be ranked, choose each user's entries, compute the ranks. services.py
calls `lock` and then `refresh` inside the transaction that changed a run. `rebuild` recomputes all entries from the
runs. Only this module writes Run.eligible, Run.ranked_on, Run.why_not and BoardEntry.

A *gate* is a correctness benchmark that a board requires. An *audit* repeats runs in verified mode, in which a trusted
process makes every call. A binary that fails one of them may lose its ranks.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.db.models import Max, Min, Q

from leaderboard import catalogue
from leaderboard.boards import Board, all_boards, boards_for
from leaderboard.contests.hidden_board import board_of
from leaderboard.models import BoardEntry, Run, State
from leaderboard.ranking import rank_intervals
from leaderboard.ranking.board_advisories import advisories_of
from leaderboard.ranking.eligibility import GateFacts, GateRun, RunFacts, named, reasons_against
from runner.terms import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet

    from leaderboard.models import Submission

# The key of PostgreSQL's advisory lock that serialises refreshes. The value has no meaning.
_LOCK_KEY = 0x6B657964
NO_BOARD = "no board ranks this benchmark instance"
# Verdicts that say nothing about the library, because it was not executed or the site failed. A run with such a verdict
# does not exclude other runs of the same binary, because a refusal may depend on the user or on the machine.
NOT_JUDGED = (Verdict.INFRASTRUCTURE, Verdict.REFUSED)


@dataclass(frozen=True, slots=True, order=True)
class _Section:
    """The part of a board whose entries can be compared: the entries of one benchmark version on one machine class.

    A machine class is the processor model, the number of processors and the size of memory.
    """

    board: str
    benchmark_version: int
    machine_class: str

    @property
    def superseded(self) -> bool:
        """Return True if the benchmark has a newer version. The entries then stay as they were."""
        return self.benchmark_version != catalogue.current_version(_board(self).benchmark)


def lock() -> None:
    """Keep other processes from refreshing boards until this transaction ends.

    Call this before the transaction locks any row; otherwise two transactions may deadlock. SQLite needs no lock,
    because its transactions are IMMEDIATE, so only one transaction at a time can write.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_KEY])


def refresh(changed: Iterable[Run]) -> None:
    """Update eligibility and boards after these runs changed. Call this inside a transaction, after `lock`."""
    affected: dict[int, Run] = {}
    for run in changed:
        affected[run.pk] = run
        if run.is_gate or run.verified:
            affected.update((ranked.pk, ranked) for ranked in _depending_on(run))
    touched: set[tuple[_Section, int]] = set()
    for run in affected.values():
        _decide(run)
        touched |= _affected_entries(run)
    for section, user_id in sorted(touched):
        if section.superseded:
            _drop_deleted(section, user_id)
        else:
            _refill_user(section, user_id)
    for section in sorted({section for section, _ in touched}):
        _update_ranks(section)


def rebuild() -> int:
    """Recompute every board from the runs in one long transaction; return the number of entries.

    Boards of older benchmark versions stay as they were, because today's rules would leave them empty.
    """
    with transaction.atomic():
        lock()
        for board in all_boards():
            version = catalogue.current_version(board.benchmark) or 0
            BoardEntry.objects.filter(board=board.slug, benchmark_version=version).delete()
        refresh(_with_submission(Run.objects.filter(state=State.DONE, kind="performance")))
        return BoardEntry.objects.count()


def _with_submission(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Return the query with each run's submission and machine loaded, because a refresh needs both."""
    return runs.select_related("submission", "machine")


def _depending_on(gate: Run) -> QuerySet[Run]:
    """Return the finished timed runs whose ranks this gate or audit may affect.

    These are all timed runs of the same binary under the same configuration.
    """
    return _with_submission(_done_of_binary(gate.submission).filter(kind="performance"))


def _done_of_binary(submission: Submission) -> QuerySet[Run]:
    """Return all users' finished runs of this submission's binary and configuration, except deleted runs."""
    return Run.objects.filter(
        submission__blob_sha256=submission.blob_sha256,
        submission__configuration=submission.configuration,
        submission__deleted_at__isnull=True,
        state=State.DONE,
    )


def _affected_entries(run: Run) -> set[tuple[_Section, int]]:
    """Return each board section whose entries this run may change, paired with the id of the run's owner."""
    if run.machine is None:
        return set()
    return {
        (
            _Section(board.slug, run.benchmark_version, run.machine.machine_class),
            run.submission.owner_id,
        )
        for board in boards_for(run.benchmark, run.instance)
    }


def _decide(run: Run) -> None:
    """Store on which boards the run may be ranked, and for each of the other boards the main reason against it.

    If no board may rank the run, store all reasons of the first board instead. For a gate, store no reason.

    For a run on a hidden instance (whose parameters a contest keeps secret), only the contest's own board counts. That
    board reads the runs, and has no rows of BoardEntry.

    A run of an older benchmark version is no longer eligible, but `ranked_on` keeps the boards that accepted it while
    its version was the newest. A contest's board of the older version counts the run as long as it is shown.
    """
    boards = (board_of(run.hidden),) if run.hidden else boards_for(run.benchmark, run.instance)
    verdicts = {board.slug: reasons_of(run, board) for board in boards}
    ranked_on = [slug for slug, reasons in verdicts.items() if not reasons]
    if run.is_gate:
        why_not = []
    elif ranked_on:
        why_not = [
            _on_board(reasons[0], board) for board in boards if (reasons := verdicts[board.slug])
        ]
    else:
        why_not = next(iter(verdicts.values()), [NO_BOARD])
    newest = run.benchmark_version == catalogue.current_version(run.benchmark)
    decided = {
        "eligible": bool(ranked_on),
        "ranked_on": ranked_on if newest else run.ranked_on,
        "why_not": why_not,
    }
    if any(getattr(run, name) != value for name, value in decided.items()):
        for name, value in decided.items():
            setattr(run, name, value)
        Run.objects.filter(pk=run.pk).update(**decided)


def _on_board(reason: str, board: Board) -> str:
    """Return the reason with the title of the board, which most reasons contain already."""
    return reason if named(board) in reason else f"{reason} ({board.title})"


def reasons_of(run: Run, board: Board) -> list[str]:
    """Return why this run is not ranked on this board. At most 2 SQL statements read the gates and audits."""
    facts = RunFacts(
        benchmark_version=run.benchmark_version,
        current_version=catalogue.current_version(run.benchmark),
        scale=run.scale,
        machine_class=run.machine.machine_class if run.machine else "",
        state=run.state,
        verdict=run.verdict,
        sessions=run.sessions,
        score=run.score,
        transactions_failed=run.transactions_failed,
        transactions_completed=run.transactions_completed,
        transactions_planned=run.transactions_planned,
        jail_level=run.jail_level,
        decisive_findings=tuple(run.decisive_findings),
        deleted=run.submission.deleted_at is not None,
        verified=run.verified,
        why_excluded=run.why_excluded,
        audit_verdict=_failed_audit(run),
    )
    return reasons_against(facts, board, _gates(run, board))


def _failed_audit(run: Run) -> str:
    """Return the verdict of the first failed audit of the same binary on the same benchmark instance, or "".

    A binary that failed an audit once stays excluded, even if it passes a later audit. The same rule applies to gates.
    1 SQL statement.
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
    """Return, for each gate of the board, the judged runs of the same binary and configuration. 1 SQL statement."""
    targets = [target for target in catalogue.gate_targets() if target.benchmark in board.gates]
    judged: dict[str, list[GateRun]] = defaultdict(list)
    if targets:
        wanted = Q()
        for target in targets:
            wanted |= Q(
                benchmark=target.benchmark,
                instance=target.instance,
                benchmark_version=catalogue.current_version(target.benchmark),
                scale__in=catalogue.gate_scales(target, run.scale),
            )
        done = _done_of_binary(run.submission).filter(wanted).exclude(verdict__in=NOT_JUDGED)
        found = done.order_by("pk").values_list(
            "benchmark", "instance", "verdict", "decisive_findings"
        )
        for benchmark, instance, verdict, decisive_findings in found:
            judged[benchmark].append(GateRun(instance, verdict, tuple(decisive_findings)))
    return [
        GateFacts(
            benchmark=gate,
            instances=tuple(t.instance for t in targets if t.benchmark == gate),
            runs=tuple(judged[gate]),
        )
        for gate in board.gates
    ]


def _board(section: _Section) -> Board:
    """Return the board that the section belongs to."""
    return next(board for board in all_boards() if board.slug == section.board)


def _entries(section: _Section) -> QuerySet[BoardEntry]:
    """Return the entries of the section, ranked or not."""
    return BoardEntry.objects.filter(
        board=section.board,
        benchmark_version=section.benchmark_version,
        machine_class=section.machine_class,
    )


def _refill_user(section: _Section, user_id: int) -> None:
    """Choose this user's entries again from the eligible runs, and replace the stored ones. 5 SQL statements."""
    board = _board(section)
    runs = Run.objects.filter(
        benchmark=board.benchmark,
        instance=board.instance,
        benchmark_version=section.benchmark_version,
        machine__machine_class=section.machine_class,
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
        rank_intervals.Candidate(
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
    # A contest may hide a user's best entries. Then the public sees the next ones, so twice as many are stored.
    chosen = rank_intervals.choose(
        candidates, per_user=2 * board.per_user, lower_is_better=board.lower_is_better
    )
    spare = rank_intervals.beyond_limit(chosen, board.per_user)
    digests = [entry.blob_sha256 for entry in chosen]
    audited = _audited(section, digests)
    advisories = advisories_of(board, section.benchmark_version, section.machine_class, digests)
    _entries(section).filter(user_id=user_id).delete()
    BoardEntry.objects.bulk_create(
        _row(
            section,
            user_rank,
            entry,
            spare=entry.blob_sha256 in spare,
            audited=(entry.blob_sha256, entry.configuration) in audited,
            advisories=advisories.get((entry.blob_sha256, entry.configuration), []),
        )
        for user_rank, entry in enumerate(chosen)
    )


def _drop_deleted(section: _Section, user_id: int) -> None:
    """On a board of an older benchmark version, delete this user's entries whose runs have all been deleted.

    If the run that an entry links to is deleted but the entry has other runs, the entry then links to the newest of
    them. Scores and ranks stay as they were. 2 SQL statements, and 1 for each changed entry.
    """
    board = _board(section)
    left = Run.objects.filter(
        benchmark=board.benchmark,
        instance=board.instance,
        benchmark_version=section.benchmark_version,
        machine__machine_class=section.machine_class,
        scale__in=board.scales,
        verdict=Verdict.PASSED,
        verified=False,
        submission__owner_id=user_id,
        submission__deleted_at__isnull=True,
    ).order_by("pk")
    newest = {
        (digest, configuration): pk
        for pk, digest, configuration in left.values_list(
            "pk", "submission__blob_sha256", "submission__configuration"
        )
    }
    stored = _entries(section).filter(user_id=user_id, run__submission__deleted_at__isnull=False)
    for entry in stored:
        run_id = newest.get((entry.blob_sha256, entry.configuration))
        if run_id is None:
            entry.delete()
        else:
            BoardEntry.objects.filter(pk=entry.pk).update(run_id=run_id)


def _audited(section: _Section, digests: list[str]) -> set[tuple[str, str]]:
    """Return the (digest, configuration) of each binary that passed an audit on the board's benchmark instance.

    1 SQL statement.
    """
    board = _board(section)
    passed = Run.objects.filter(
        verified=True,
        benchmark=board.benchmark,
        instance=board.instance,
        benchmark_version=section.benchmark_version,
        scale__in=board.scales,
        verdict=Verdict.PASSED,
        submission__blob_sha256__in=digests,
        submission__deleted_at__isnull=True,
    )
    return set(passed.values_list("submission__blob_sha256", "submission__configuration"))


def _row(
    section: _Section,
    user_rank: int,
    entry: rank_intervals.Entry,
    *,
    spare: bool,
    audited: bool,
    advisories: list[dict[str, Any]],
) -> BoardEntry:
    """Return a row with the values of an entry. _update_ranks adds the rank later."""
    return BoardEntry(
        board=section.board,
        benchmark_version=section.benchmark_version,
        machine_class=section.machine_class,
        user_id=entry.user_id,
        user_rank=user_rank,
        run_id=entry.run_id,
        blob_sha256=entry.blob_sha256,
        configuration=entry.configuration,
        score=entry.score,
        score_low=entry.low,
        score_high=entry.high,
        ratios=list(entry.ratios),
        provisional=entry.provisional,
        spare=spare,
        audited=audited,
        advisories=advisories,
    )


def _update_ranks(section: _Section) -> None:
    """Rank the best entries of a section, and clear the ranks of entries that are no longer shown. 4 SQL statements.

    The limit `top` counts binaries. If a binary is shown, so are all its variants, i.e. the user's entries of the same
    binary under other configurations. Entries that are stored only in case a contest hides others get no rank here
    (ranking/visible_ranks.py).
    Only entries whose ranks change are written, because the cost of the last statement grows with its rows.
    """
    board = _board(section)
    best, order = (Min, "score") if board.lower_is_better else (Max, "-score")
    within = _entries(section).filter(spare=False)
    binaries = within.values("user_id", "blob_sha256").annotate(best=best("score"))
    wanted = Q(pk__in=())
    best_first = "best" if board.lower_is_better else "-best"
    for row in binaries.order_by(best_first, "user_id", "blob_sha256")[: board.top]:
        wanted |= Q(user_id=row["user_id"], blob_sha256=row["blob_sha256"])
    shown = list(within.filter(wanted).order_by(order, "run_id"))
    ranks = rank_intervals.rank(
        [entry.ratios for entry in shown], lower_is_better=board.lower_is_better
    )
    changed = []
    for entry, place in zip(shown, ranks, strict=True):
        new = (place.position, place.low, place.high)
        if (entry.position, entry.rank_low, entry.rank_high) != new:
            entry.position, entry.rank_low, entry.rank_high = new
            changed.append(entry)
    dropped = _entries(section).filter(position__isnull=False)
    dropped.exclude(pk__in=[entry.pk for entry in shown]).update(
        position=None, rank_low=None, rank_high=None
    )
    BoardEntry.objects.bulk_update(changed, ["position", "rank_low", "rank_high"])
