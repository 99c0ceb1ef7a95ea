"""Reads the database for pages, exports and commands. Each function that executes SQL says how many statements.

This module and contests/visibility.py decide what a viewer may see. Only the owner and organisers get
`RunPage.private`; only organisers see a deleted submission. A *board* is a ranking of
libraries. A *gate* is a correctness test that a board requires. An *audit* repeats a run in verified mode, in which a
trusted process makes every call. The *control* is the baseline
library of every timed run.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Count, Exists, F, Min, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from leaderboard.audits.comparison import Comparison, comparisons
from leaderboard.audits.look_ahead import audit_of
from leaderboard.boards import Board, all_boards
from leaderboard.contests.visibility import unseen_runs
from leaderboard.machines.control_history import limits
from leaderboard.models import (
    ACTIVE_STATES,
    Announcement,
    Artefact,
    ControlSeries,
    Machine,
    Run,
    RunDetail,
    State,
    Submission,
)
from leaderboard.queue import claims
from leaderboard.queue.queue_estimate import MACHINE_LOST_SECONDS, Wait, waits
from leaderboard.ranking.eligibility import has_only_stale_reads
from leaderboard.ranking_status import RankStatus, ranking_status
from results.witness_picture import witness_svg
from runner.report import Finding
from runner.terms import Severity, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from django.db.models import QuerySet

    from leaderboard.machines.control_noise import Limits
    from leaderboard.viewer import Viewer
    from results.look_ahead import Audit
    from runner.witness import Witness

STALLED_SECONDS = 60
PAGE_ROWS = 50  # the largest number of rows of a list on one page

# The states of a gate in the list of submissions.
GATE_WAITING = "waiting"
GATE_PASSED = "passed"
GATE_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SubmissionRow:
    """A submission with its timed runs, its gate runs, its audits, and the state of each gate."""

    submission: Submission
    runs: tuple[Run, ...]
    gate_runs: tuple[Run, ...]
    gates: dict[str, str]  # benchmark -> GATE_WAITING, GATE_PASSED or GATE_FAILED
    audits: tuple[Run, ...]  # the repetitions of timed runs and gates in verified mode

    @property
    def all_runs(self) -> tuple[Run, ...]:
        """Return all runs of the submission: timed runs, gates and audits."""
        return (*self.runs, *self.gate_runs, *self.audits)

    @property
    def is_final(self) -> bool:
        """Return True if all runs of the submission have ended and will not be tried again."""
        return all(run.is_final for run in self.all_runs)


@dataclass(frozen=True, slots=True)
class RefusedUpload:
    """A submission whose file was refused at upload, with the reasons and the benchmarks that the user chose."""

    submission: Submission
    run: Run  # one of the submission's runs, which all have the same reasons
    reasons: tuple[str, ...]
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrivatePart:
    """The parts of a run that only the owner and organisers see."""

    log: str
    seeds: tuple[str, ...]  # empty until the run has ended, since seeds are secret until then


# A finding may have a C program that reproduces it. For these names of findings, the table says what the program
# reproduces. The programs of all other findings reproduce a violation.
_REPRODUCES = {
    "crashed": "the crash",
    "exception": "the exception",
    "timed_out": "the call that does not return",
}


@dataclass(frozen=True, slots=True)
class ShownWitness:
    """The witness of a finding: the calls that prove a violation. `picture` is our own SVG, with all text escaped.

    `reproduces` says what its C program reproduces, such as "the crash".
    """

    title: str
    witness: Witness
    picture: str
    reproduces: str


@dataclass(frozen=True, slots=True)
class RunPage:
    """The content of a run's page."""

    run: Run
    detail: RunDetail | None
    required: tuple[Finding, ...]  # findings that decided the verdict
    advisory: tuple[Finding, ...]  # findings that are warnings
    witnesses: tuple[ShownWitness, ...]  # the witnesses of all findings
    artefacts: tuple[str, ...]
    status: RankStatus
    accepted_on: tuple[Board, ...]  # boards that accept this gate although it found stale reads
    wait: Wait | None  # None unless the run is queued
    audits: tuple[Comparison, ...]  # the audits of the submission's timed runs
    audit: Audit | None  # the result of all audited sessions of the binary; None if there are none
    may_audit: bool
    private: PrivatePart | None
    may_change: bool


@dataclass(frozen=True, slots=True)
class MachineStatus:
    """A bench machine, and the time of its last sign of life (None: it has shown none).

    `lost` is True if the machine has shown no sign of life for MACHINE_LOST_SECONDS.
    """

    machine: Machine
    last_sign: datetime | None
    lost: bool


@dataclass(frozen=True, slots=True)
class MachinePage:
    """A bench machine, and the control library's results on it, newest first.

    `last_sign` is the time of the machine's last sign of life. `limits` are those of noise and drift for ranking.
    """

    machine: Machine
    last_sign: datetime | None
    limits: Limits
    series: tuple[ControlSeries, ...]


@dataclass(frozen=True, slots=True)
class SystemStatus:
    """The state of the queue and of the machines.

    `stalled` is True if a run has been ready for STALLED_SECONDS while no worker claimed or executed a run.
    """

    waiting: int
    active: int
    oldest_wait_seconds: float
    stalled: bool
    machines: tuple[MachineStatus, ...]

    @property
    def live_tag(self) -> str:
        """Return a tag for an ETag header, which changes whenever the status page would show something else."""
        machines = [
            (
                one.machine.pk,
                one.machine.noise,
                one.machine.drift,
                one.machine.why_excluded,
                one.machine.refusal,
                one.last_sign and one.last_sign.replace(microsecond=0),
                one.lost,
            )
            for one in self.machines
        ]
        shown = (self.waiting, self.active, round(self.oldest_wait_seconds), self.stalled, machines)
        return hashlib.sha256(repr(shown).encode()).hexdigest()[:32]


def submission_row(submission: Submission) -> SubmissionRow:
    """Return the row of a submission whose runs are loaded."""
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
    """Return a gate's state: failed if one of its runs did not pass, passed if all passed, and otherwise waiting.

    Cancelled runs do not count. A run that failed because of the site (infrastructure) counts as waiting.
    """
    verdicts = [run.verdict for run in runs if run.state != State.CANCELLED]
    if any(verdict not in {"", Verdict.PASSED, Verdict.INFRASTRUCTURE} for verdict in verdicts):
        return GATE_FAILED
    if verdicts and all(verdict == Verdict.PASSED for verdict in verdicts):
        return GATE_PASSED
    return GATE_WAITING


def is_organiser(viewer: Viewer) -> bool:
    """Return True if the viewer is an organiser of the site, who may change everything.

    This function ignores contests. If an organiser is in a team of a contest, contests/visibility.py hides the same
    things from the organiser as from the other contestants.
    """
    return bool(viewer.is_authenticated and viewer.is_staff)


def may_change_submission(submission: Submission, viewer: Viewer) -> bool:
    """Return True if the viewer owns the submission or is an organiser."""
    return is_organiser(viewer) or (viewer.is_authenticated and viewer.pk == submission.owner_id)


def visible_runs(viewer: Viewer) -> QuerySet[Run]:
    """Return the runs that the viewer may see, with submission, owner and machine. Executes no SQL itself.

    Only the site's organisers see the runs of deleted submissions.
    """
    runs = Run.objects.select_related("submission__owner", "machine")
    seen = runs.filter(~unseen_runs(viewer))
    return seen if is_organiser(viewer) else seen.filter(submission__deleted_at__isnull=True)


def own_submission(submission_id: int, viewer: Viewer) -> Submission | None:
    """Return a submission that the viewer may change, or None. Only organisers get a deleted one. 1 SQL statement."""
    submission = Submission.objects.select_related("owner").filter(pk=submission_id).first()
    if submission is None or not may_change_submission(submission, viewer):
        return None
    if submission.deleted_at is not None and not is_organiser(viewer):
        return None
    return submission


def refused_upload(submission_id: int, viewer: Viewer) -> RefusedUpload | None:
    """Return a submission if its file was refused and the viewer may change it, or None. At most 2 SQL statements."""
    submission = own_submission(submission_id, viewer)
    if submission is None:
        return None
    every = submission.runs.filter(hidden=None).select_related("detail")
    runs = list(every.order_by("-kind", "id"))  # gates last
    if not runs or any(run.verdict != Verdict.REFUSED for run in runs):
        return None
    findings = tuple(finding.detail for finding in _findings(runs[0].detail))
    return RefusedUpload(
        submission=submission,
        run=runs[0],
        reasons=findings or (runs[0].reason,),
        targets=tuple(f"{run.benchmark}/{run.instance}" for run in runs if not run.is_gate),
    )


def run_page(run_id: int, viewer: Viewer) -> RunPage | None:
    """Return the content of a run's page for this viewer, or None if the viewer may not see the run.

    At most 7 SQL statements, or 9 for a queued run. 2 more if a contest hides entries of boards on which the run's
    owner has entries, and one more for each audit of the run's submission.
    """
    visible = visible_runs(viewer)
    run = visible.select_related("detail", "hidden").filter(pk=run_id).first()
    if run is None:
        return None
    detail: RunDetail | None = getattr(run, "detail", None)
    findings = _findings(detail)
    may_change = may_change_submission(run.submission, viewer)
    names = Artefact.objects.filter(run_id=run.pk).order_by("name").values_list("name", flat=True)
    return RunPage(
        run=run,
        detail=detail,
        required=tuple(f for f in findings if f.severity is Severity.REQUIRED),
        advisory=tuple(f for f in findings if f.severity is Severity.ADVISORY),
        witnesses=tuple(_shown(f, f.witness) for f in findings if f.witness is not None),
        artefacts=tuple(names),
        status=ranking_status(run, viewer, visible),
        accepted_on=accepting_boards(run),
        wait=waits([run]).get(run.pk),
        audits=() if run.is_gate else tuple(comparisons(run.submission)),
        audit=audit_of(run),
        may_audit=is_organiser(viewer),
        # Seeds are secret until the run has ended.
        private=PrivatePart(detail.log if detail else "", tuple(run.seeds) if run.is_final else ())
        if may_change
        else None,
        may_change=may_change,
    )


def accepting_boards(run: Run) -> tuple[Board, ...]:
    """Return the boards that accept this gate although it found stale reads (reads of an older state). No SQL."""
    if not run.is_gate or not has_only_stale_reads(run.verdict, run.decisive_findings):
        return ()
    return tuple(b for b in all_boards() if run.benchmark in b.gates and not b.strict)


def _findings(detail: RunDetail | None) -> list[Finding]:
    stored = detail.findings if detail else []
    return [Finding.from_json(finding) for finding in stored]


def _shown(finding: Finding, witness: Witness) -> ShownWitness:
    reproduces = _REPRODUCES.get(finding.name, "the violation")
    return ShownWitness(
        f"{finding.suite}: {finding.name}", witness, witness_svg(witness), reproduces
    )


def artefact_for(run_id: int, name: str, viewer: Viewer) -> Artefact | None:
    """Return a file about a run, or None if the file does not exist or the viewer may not see it. 1 SQL statement."""
    return Artefact.objects.filter(
        run__in=visible_runs(viewer).filter(pk=run_id), name=name
    ).first()


def artefacts_for(run: Run) -> list[Artefact]:
    """Return the files about a run, by name. The viewer must be allowed to see the run. 1 SQL statement."""
    return list(Artefact.objects.filter(run=run).order_by("name"))


def live_tag(runs: Iterable[Run], waits: Mapping[int, Wait], more: str = "") -> str:
    """Return a tag for an ETag header. It changes whenever the page would show something else about these runs. No SQL.

    `more` contains further texts that the page shows.
    """
    digest = hashlib.sha256(more.encode())
    for run in runs:
        shown = (
            run.pk,
            run.state,
            run.attempt,
            run.verdict,
            run.eligible,
            round(run.progress, 3),
            run.progress_note,
            run.live and run.live["session"],
            run.cancel_requested_at,
            tuple(run.why_not),
            str(waits.get(run.pk, "")),
        )
        digest.update(repr(shown).encode())
    return digest.hexdigest()[:32]


def announcements(limit: int = PAGE_ROWS) -> list[Announcement]:
    """Return the published announcements, newest first. 1 SQL statement."""
    return list(Announcement.objects.filter(published_at__lte=timezone.now())[:limit])


def _last_sign(machine: Machine) -> datetime | None:
    """Return the time of the last sign of life of a machine of _machines(), or None if there was none.

    A worker updates the machine's row only between two runs. During a run it updates the run's heartbeat.
    """
    heartbeat: datetime | None = machine.heartbeat_at  # type: ignore[attr-defined] # annotated by _machines()
    signs = (machine.last_seen, machine.last_busy, heartbeat)
    return max((sign for sign in signs if sign), default=None)


def _machines() -> QuerySet[Machine]:
    """Return all machines with the newest heartbeat of their active runs. Executes no SQL itself."""
    active = Run.objects.filter(machine=OuterRef("pk"), state__in=ACTIVE_STATES)
    newest = active.order_by(F("heartbeat_at").desc(nulls_last=True)).values("heartbeat_at")[:1]
    return Machine.objects.annotate(heartbeat_at=Subquery(newest))


def last_sign_of_machine(machine_id: int) -> datetime | None:
    """Return the time of a machine's last sign of life. Raises Machine.DoesNotExist. 1 SQL statement."""
    return _last_sign(_machines().get(pk=machine_id))


def machine_page(machine_id: int, viewer: Viewer) -> MachinePage | None:
    """Return the content of a machine's page for this viewer, or None if the machine does not exist. 2 SQL statements.

    Runs that a contest hides from this viewer are left out, because the list shows when each run ended. For a hidden
    instance, whose parameters only officials know, the control's times would also reveal how large the instance is.
    """
    machine = _machines().filter(pk=machine_id).first()
    if machine is None:
        return None
    shown = Exists(Run.objects.filter(~unseen_runs(viewer), pk=OuterRef("run_id")))
    series = (
        machine.control_series.filter(shown)
        .select_related("run__submission")
        .order_by("-recorded_at", "-pk")
    )
    return MachinePage(machine, _last_sign(machine), limits(), tuple(series[:PAGE_ROWS]))


def system_status() -> SystemStatus:
    """Return the state of the queue and of the machines. 3 SQL statements."""
    now = timezone.now()
    waiting = claims.claimable().aggregate(
        count=Count("pk"), since=Min(Coalesce("not_before", "created_at"))
    )
    heartbeats = list(
        Run.objects.filter(state__in=ACTIVE_STATES).values_list("heartbeat_at", flat=True)
    )
    oldest = (now - waiting["since"]).total_seconds() if waiting["since"] else 0.0
    machines = [(machine, _last_sign(machine)) for machine in _machines().order_by("name")]
    signs = [*heartbeats, *(machine.last_busy for machine, _ in machines)]
    last_sign = max((sign for sign in signs if sign is not None), default=None)
    silent = last_sign is None or (now - last_sign).total_seconds() > STALLED_SECONDS
    lost_before = now - timedelta(seconds=MACHINE_LOST_SECONDS)
    return SystemStatus(
        waiting=waiting["count"],
        active=len(heartbeats),
        oldest_wait_seconds=max(oldest, 0.0),
        stalled=waiting["count"] > 0 and oldest > STALLED_SECONDS and silent,
        machines=tuple(
            MachineStatus(machine, sign, lost=sign is None or sign < lost_before)
            for machine, sign in machines
        ),
    )
