"""Every read that pages, exports and commands need. Each function states its number of SQL statements.

What a viewer may see is decided here: `RunPage.private` is None for those who are neither the owner nor organisers,
and a deleted submission exists for organisers only.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

from django.db.models import Count, Max, Min, Prefetch
from django.db.models.functions import Coalesce
from django.utils import timezone

from leaderboard import catalogue, claims
from leaderboard.audits import Comparison, comparisons
from leaderboard.boards import Board, all_boards, boards_for, main_boards
from leaderboard.eligibility import has_only_stale_reads
from leaderboard.machines import limits
from leaderboard.models import (
    ACTIVE_STATES,
    Announcement,
    Artefact,
    BoardEntry,
    ControlSeries,
    Machine,
    Run,
    RunDetail,
    State,
    Submission,
)
from leaderboard.waits import MACHINE_LOST_SECONDS, Wait, waits
from runner.contract import Severity, Verdict
from runner.witness import Witness
from runner.witness_picture import witness_svg

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.contrib.auth.models import AnonymousUser, User

    from leaderboard.steadiness import Limits

    Viewer: TypeAlias = User | AnonymousUser

STALLED_SECONDS = 60
PAGE_ROWS = 50

# What the column "unit tests" of a submission can say.
GATE_WAITING = "waiting"
GATE_PASSED = "passed"
GATE_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Standings:
    """A board as it is shown: its best entries on one class of machines.

    `rows` come by position with `run` (and its `submission` and `machine`) and `user` loaded. `classes` are all
    machine classes with entries, the one with the newest run first. Without entries `machine_class` is None.
    """

    board: Board
    benchmark_version: int | None
    machine_class: str | None
    classes: tuple[str, ...]
    rows: tuple[BoardEntry, ...]

    @property
    def provisional(self) -> bool:
        """Whether these numbers are only a demonstration."""
        return self.board.provisional or any(row.provisional for row in self.rows)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stands: on which board, and which ranks cannot be told apart."""

    board: Board
    low: int
    high: int

    def __str__(self) -> str:
        ranks = str(self.low) if self.low == self.high else f"{self.low}-{self.high}"
        return f"{ranks} on {self.board.title}"


@dataclass(frozen=True, slots=True)
class RankStatus:
    """Why a run is ranked or not: places, or sentences that complete "not ranked because ..."."""

    places: tuple[Place, ...] = ()
    why_not: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SubmissionRow:
    """A submission with its performance runs and what its gates said, by benchmark name."""

    submission: Submission
    runs: tuple[Run, ...]
    gate_runs: tuple[Run, ...]
    gates: dict[str, str]  # benchmark -> GATE_WAITING, GATE_PASSED or GATE_FAILED
    audits: tuple[Run, ...]  # its runs and gates in verified mode

    @property
    def all_runs(self) -> tuple[Run, ...]:
        """Everything that is or was run of it."""
        return (*self.runs, *self.gate_runs, *self.audits)

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen to any of its runs."""
        return all(run.is_final for run in self.all_runs)


@dataclass(frozen=True, slots=True)
class SubmissionPage:
    """Some submissions of a user, newest first; `next_before` continues the list, None at its end."""

    rows: tuple[SubmissionRow, ...]
    next_before: int | None
    waits: dict[int, Wait]  # of the runs that wait, by id

    @property
    def live_tag(self) -> str:
        """Return a tag that changes whenever the page would."""
        runs = (run for row in self.rows for run in row.all_runs)
        return live_tag(runs, self.waits)


@dataclass(frozen=True, slots=True)
class RefusedUpload:
    """A submission that nothing was run of: why, and what it had been submitted for."""

    submission: Submission
    run: Run  # one of its runs; all of them have these reasons
    reasons: tuple[str, ...]
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrivatePart:
    """What only the owner and organisers see of a run."""

    log: str
    seeds: tuple[str, ...]  # of finished runs only: a seed is a secret until it is spent


@dataclass(frozen=True, slots=True)
class ShownWitness:
    """What shows a finding: the facts, and the same as a picture (SVG text, ours, with everything escaped)."""

    title: str
    witness: Witness
    picture: str


@dataclass(frozen=True, slots=True)
class RunPage:
    """Everything that the page of a run shows."""

    run: Run
    detail: RunDetail | None
    required: tuple[dict[str, Any], ...]  # findings that decided the verdict
    advisory: tuple[dict[str, Any], ...]  # findings that are warnings
    witnesses: tuple[ShownWitness, ...]  # what shows the findings that have a witness
    artefacts: tuple[str, ...]
    status: RankStatus
    forgiven_on: tuple[Board, ...]  # of a gate with stale reads only: the boards that take it
    wait: Wait | None  # None unless it waits
    audits: tuple[Comparison, ...]  # of the submission's timed runs
    may_audit: bool
    private: PrivatePart | None
    may_change: bool


@dataclass(frozen=True, slots=True)
class MachineStatus:
    """A bench machine and whether it has been heard of lately."""

    machine: Machine
    lost: bool


@dataclass(frozen=True, slots=True)
class MachinePage:
    """A bench machine, how steady it may be to rank, and what the control did on it, newest first.

    `series` have `run` and its `submission` loaded.
    """

    machine: Machine
    limits: Limits
    series: tuple[ControlSeries, ...]


@dataclass(frozen=True, slots=True)
class SystemStatus:
    """How the queue does. `stalled`: a run could start for a minute and no worker took it."""

    waiting: int
    active: int
    oldest_wait_seconds: float
    stalled: bool
    machines: tuple[MachineStatus, ...]


def standings(board: Board, machine_class: str | None = None) -> Standings:
    """Return a board's best entries on a class of machines, by default the one with the newest run.

    2 SQL statements, 1 for a board without entries, however many runs there are.
    """
    version = catalogue.current_version(board.benchmark)
    entries = BoardEntry.objects.filter(board=board.slug, benchmark_version=version or 0)
    newest = entries.values("machine_class").annotate(newest=Max("run_id")).order_by("-newest")
    classes = tuple(row["machine_class"] for row in newest)
    chosen = machine_class if machine_class in classes else next(iter(classes), None)
    rows: tuple[BoardEntry, ...] = ()
    if chosen is not None:
        rows = tuple(
            entries.filter(machine_class=chosen, position__isnull=False)
            .select_related("run__submission", "run__machine", "user")
            .order_by("position")
        )
    return Standings(board, version, chosen, classes, rows)


def ranking_status(run: Run) -> RankStatus:
    """Return where the run stands, or why it does not. At most 1 SQL statement; needs `submission` loaded."""
    if run.is_gate:
        return RankStatus()
    if not run.eligible:
        pending = () if run.is_final else ("it has not finished yet",)
        return RankStatus(why_not=tuple(run.why_not) or pending)
    boards = {board.slug: board for board in boards_for(run.benchmark, run.instance)}
    entries = BoardEntry.objects.filter(
        board__in=boards,
        benchmark_version=run.benchmark_version,
        user_id=run.submission.owner_id,
        blob_sha256=run.submission.blob_sha256,
        configuration=run.submission.configuration,
    ).order_by("board")
    places = []
    why_not = []
    for entry in entries:
        board = boards.pop(entry.board)
        if entry.rank_low is None or entry.rank_high is None:
            why_not.append(f"it is not among the {board.top} best of {board.title}")
        else:
            places.append(Place(board, entry.rank_low, entry.rank_high))
    for board in boards.values():
        if board.slug not in run.ranked_on:
            continue  # said in run.why_not
        why_not.append(
            f"its owner has {board.per_user} better entries on {board.title}, the most for one user"
        )
    return RankStatus(tuple(places), (*why_not, *run.why_not))


def my_submissions(
    user: User, *, before: int | None = None, limit: int = PAGE_ROWS
) -> SubmissionPage:
    """Return a user's submissions with an id below `before`, newest first. 2 SQL statements, 6 while some wait."""
    found = Submission.objects.filter(owner_id=user.pk, deleted_at__isnull=True).order_by("-id")
    if before is not None:
        found = found.filter(pk__lt=before)
    runs = Run.objects.select_related("machine").order_by("id")
    page = list(found.prefetch_related(Prefetch("runs", queryset=runs))[: limit + 1])
    rows = tuple(_submission_row(submission) for submission in page[:limit])
    more = len(page) > limit
    shown = [run for row in rows for run in row.all_runs]
    return SubmissionPage(rows, rows[-1].submission.pk if more else None, waits(shown))


def _submission_row(submission: Submission) -> SubmissionRow:
    """Return a row from a submission whose runs are loaded."""
    every = list(submission.runs.all())
    runs = [run for run in every if not run.verified]
    gate_runs = tuple(run for run in runs if run.is_gate)
    names = sorted({run.benchmark for run in gate_runs})
    return SubmissionRow(
        submission=submission,
        runs=tuple(run for run in runs if not run.is_gate),
        gate_runs=gate_runs,
        gates={
            name: gate_state(run for run in gate_runs if run.benchmark == name) for name in names
        },
        audits=tuple(run for run in every if run.verified),
    )


def gate_state(runs: Iterable[Run]) -> str:
    """Return what the runs of one gate say together: failed as soon as one did, passed when all did."""
    verdicts = [run.verdict for run in runs if run.state != State.CANCELLED]
    if any(verdict not in {"", Verdict.PASSED, Verdict.INFRASTRUCTURE} for verdict in verdicts):
        return GATE_FAILED
    if verdicts and all(verdict == Verdict.PASSED for verdict in verdicts):
        return GATE_PASSED
    return GATE_WAITING


def _is_organiser(viewer: Viewer) -> bool:
    """Whether the viewer may see and change everything."""
    return bool(viewer.is_authenticated and viewer.is_staff)


def _may_change(submission: Submission, viewer: Viewer) -> bool:
    """Whether the viewer owns the submission or is an organiser."""
    return _is_organiser(viewer) or (viewer.is_authenticated and viewer.pk == submission.owner_id)


def visible_run(run_id: int, viewer: Viewer) -> Run | None:
    """Return a run with submission, owner and machine, or None when it does not exist for this viewer.

    1 SQL statement.
    """
    runs = Run.objects.select_related("submission__owner", "machine")
    if not _is_organiser(viewer):
        runs = runs.filter(submission__deleted_at__isnull=True)
    return runs.filter(pk=run_id).first()


def own_submission(submission_id: int, viewer: Viewer) -> Submission | None:
    """Return a submission that the viewer may change, or None. 1 SQL statement."""
    submission = Submission.objects.select_related("owner").filter(pk=submission_id).first()
    if submission is None or not _may_change(submission, viewer):
        return None
    if submission.deleted_at is not None and not _is_organiser(viewer):
        return None
    return submission


def refused_upload(submission_id: int, viewer: Viewer) -> RefusedUpload | None:
    """Return a submission of the viewer that was refused when it came in, or None. At most 2 SQL statements."""
    submission = own_submission(submission_id, viewer)
    if submission is None:
        return None
    runs = list(submission.runs.select_related("detail").order_by("-kind", "id"))  # gates last
    if not runs or any(run.verdict != Verdict.REFUSED for run in runs):
        return None
    findings = tuple(finding["detail"] for finding in runs[0].detail.findings)
    return RefusedUpload(
        submission=submission,
        run=runs[0],
        reasons=findings or (runs[0].reason,),
        targets=tuple(f"{run.benchmark}/{run.instance}" for run in runs if not run.is_gate),
    )


def run_page(run_id: int, viewer: Viewer) -> RunPage | None:
    """Return what the page of a run shows to this viewer, or None when there is no such run for them.

    At most 6 SQL statements, 9 for a run that waits, and one for each audit of its submission.
    """
    run = visible_run(run_id, viewer)
    if run is None:
        return None
    detail = RunDetail.objects.filter(pk=run.pk).first()
    findings = detail.findings if detail else []
    may_change = _may_change(run.submission, viewer)
    names = Artefact.objects.filter(run_id=run.pk).order_by("name").values_list("name", flat=True)
    return RunPage(
        run=run,
        detail=detail,
        required=tuple(f for f in findings if f["severity"] == Severity.REQUIRED),
        advisory=tuple(f for f in findings if f["severity"] == Severity.ADVISORY),
        witnesses=tuple(_shown(f) for f in findings if "witness" in f),
        artefacts=tuple(names),
        status=ranking_status(run),
        forgiven_on=forgiving_boards(run),
        wait=waits([run]).get(run.pk),
        audits=() if run.is_gate else tuple(comparisons(run.submission)),
        may_audit=_is_organiser(viewer),
        private=_private_part(run, detail) if may_change else None,
        may_change=may_change,
    )


def forgiving_boards(run: Run) -> tuple[Board, ...]:
    """Return the boards for which this gate counts as passed though it failed. No SQL."""
    if not run.is_gate or not has_only_stale_reads(run.verdict, run.faults):
        return ()
    return tuple(b for b in all_boards() if run.benchmark in b.gates and not b.strict)


def _shown(finding: dict[str, Any]) -> ShownWitness:
    witness = Witness.from_json(finding["witness"], finding["name"])
    title = f"{finding['suite']}: {finding['name']}"
    return ShownWitness(title, witness, witness_svg(witness))


def _private_part(run: Run, detail: RunDetail | None) -> PrivatePart:
    """Return what only the owner and organisers see."""
    return PrivatePart(
        log=detail.log if detail else "", seeds=tuple(run.seeds) if run.is_final else ()
    )


def artefact_for(run_id: int, name: str, viewer: Viewer) -> Artefact | None:
    """Return a file about a run that the viewer may see, or None. 1 SQL statement."""
    found = Artefact.objects.filter(run_id=run_id, name=name)
    if not _is_organiser(viewer):
        found = found.filter(run__submission__deleted_at__isnull=True)
    return found.first()


def live_tag(runs: Iterable[Run], waits: Mapping[int, Wait]) -> str:
    """Return a tag, fit for an ETag, that changes whenever what is shown of these runs and waits does. No SQL."""
    digest = hashlib.sha256()
    for run in runs:
        shown = (
            run.pk,
            run.state,
            run.attempt,
            run.verdict,
            run.eligible,
            round(run.progress, 3),
            run.progress_note,
            run.cancel_requested_at,
            tuple(run.why_not),
            str(waits.get(run.pk, "")),
        )
        digest.update(repr(shown).encode())
    return digest.hexdigest()[:32]


def announcements(limit: int = PAGE_ROWS) -> list[Announcement]:
    """Return what organisers have published so far, newest first. 1 SQL statement."""
    return list(Announcement.objects.filter(published_at__lte=timezone.now())[:limit])


def home_boards(top: int = 3) -> list[Standings]:
    """Return every main board with its best few rows. 2 SQL statements per board."""
    found = []
    for board in main_boards():
        whole = standings(board)
        found.append(
            Standings(
                board, whole.benchmark_version, whole.machine_class, whole.classes, whole.rows[:top]
            )
        )
    return found


def _last_sign(machine: Machine, beats: dict[int, datetime]) -> datetime:
    """Return when a machine was last heard of, in the year 1 if never."""
    signs = (machine.last_seen, machine.last_busy, beats.get(machine.pk))
    return max((sign for sign in signs if sign), default=datetime.min.replace(tzinfo=UTC))


def machine_page(machine_id: int) -> MachinePage | None:
    """Return what is known about a machine, or None when there is no such. 2 SQL statements."""
    machine = Machine.objects.filter(pk=machine_id).first()
    if machine is None:
        return None
    series = machine.control_series.select_related("run__submission").order_by(
        "-recorded_at", "-pk"
    )
    return MachinePage(machine, limits(), tuple(series[:PAGE_ROWS]))


def system_status() -> SystemStatus:
    """Return how the queue and the machines do. 3 SQL statements."""
    now = timezone.now()
    waiting = claims.claimable().aggregate(
        count=Count("pk"), since=Min(Coalesce("not_before", "created_at"))
    )
    active = Run.objects.filter(state__in=ACTIVE_STATES).values_list("machine_id", "heartbeat_at")
    beats = {machine_id: beat for machine_id, beat in active if beat is not None}
    oldest = (now - waiting["since"]).total_seconds() if waiting["since"] else 0.0
    machines = list(Machine.objects.order_by("name"))
    signs = [*beats.values(), *(machine.last_busy for machine in machines)]
    last_sign = max((sign for sign in signs if sign is not None), default=None)
    silent = last_sign is None or (now - last_sign).total_seconds() > STALLED_SECONDS
    lost_before = now - timedelta(seconds=MACHINE_LOST_SECONDS)
    return SystemStatus(
        waiting=waiting["count"],
        active=len(active),
        oldest_wait_seconds=max(oldest, 0.0),
        stalled=waiting["count"] > 0 and oldest > STALLED_SECONDS and silent,
        machines=tuple(
            MachineStatus(machine, lost=_last_sign(machine, beats) < lost_before)
            for machine in machines
        ),
    )
