"""Tables: what was uploaded, what was run, what came out, and who leads.

Fields and constraints only; every write goes through services.py, claims.py or standing.py, every
read of a page through queries.py. Times are UTC. Wide columns live in RunDetail, so that lists read
narrow rows.
"""

from __future__ import annotations

import math
from statistics import median
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from runner.contract import Verdict

MAX_DESCRIPTION = 200
MAX_LOG_BYTES = 64 * 1024


class Kind(models.TextChoices):
    """What an uploaded file is: a whole library (contract A), a bare structure (contract B), or neither."""

    INDEX = "index", "index"
    STRUCTURE = "structure", "structure"
    UNKNOWN = "unknown", "of unknown kind"


class State(models.TextChoices):
    """Where a run is in the queue. A verdict exists only in state done."""

    QUEUED = "queued", "queued"
    CLAIMED = "claimed", "claimed"
    RUNNING = "running", "running"
    DONE = "done", "done"
    CANCELLED = "cancelled", "cancelled"


ACTIVE_STATES = (State.CLAIMED, State.RUNNING)
FINAL_STATES = (State.DONE, State.CANCELLED)
VERDICT_CHOICES = [(verdict.value, verdict.value.replace("_", " ")) for verdict in Verdict]


class Machine(models.Model):
    """A bench machine. Numbers of different machine classes are never compared."""

    name = models.CharField(max_length=100, unique=True)
    machine_class = models.CharField(max_length=100, help_text="fingerprint of what decides speed")
    facts = models.JSONField(default=dict)
    last_seen = models.DateTimeField(null=True, blank=True)
    last_busy = models.DateTimeField(
        null=True, blank=True, help_text="when a run was last claimed or ended here"
    )
    refusal = models.TextField(
        blank=True, help_text="why its worker leaves runs that wait; empty: it takes all"
    )
    noise = models.FloatField(
        null=True,
        blank=True,
        help_text="share by which equal measurements differ; empty: not known",
    )
    drift = models.FloatField(
        null=True, blank=True, help_text="share by which the control moved from its earlier level"
    )
    unsteady = models.TextField(blank=True, help_text="why its numbers do not rank; empty: they do")

    def __str__(self) -> str:
        return self.name


class Submission(models.Model):
    """An uploaded file with its owner. The file itself lies in the blob store under its SHA-256."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    description = models.CharField(max_length=MAX_DESCRIPTION, blank=True)
    file_name = models.CharField(
        max_length=100, help_text="as the uploader called it; for display, never a path"
    )
    blob_sha256 = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices)
    configuration = models.CharField(
        max_length=64, blank=True, help_text="runtime configuration; only for a structure"
    )
    facts = models.JSONField(default=dict, help_text="what the inspection found")
    trusted = models.BooleanField(
        default=False, help_text="reference library: may need more shared objects"
    )
    reference = models.BooleanField(
        default=False, help_text="of the organisers, for comparison: no limit per user on boards"
    )
    deleted_at = models.DateTimeField(
        null=True, blank=True, help_text="gone from the pages; files are kept for organisers"
    )

    class Meta:
        indexes: ClassVar = [
            # "My submissions", newest first.
            models.Index(fields=["owner", "-id"], name="submission_mine"),
            # Gates and merging look for the same binary under the same configuration.
            models.Index(fields=["blob_sha256", "configuration"], name="submission_blob"),
        ]

    def __str__(self) -> str:
        return f"{self.file_name} of {self.created_at:%Y-%m-%d %H:%M}"


class Run(models.Model):
    """One submission on one benchmark instance at one scale. This row *is* the queue entry."""

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="runs")
    benchmark = models.CharField(max_length=64)
    benchmark_version = models.PositiveIntegerField()
    kind = models.CharField(
        max_length=12, choices=[("correctness", "correctness"), ("performance", "performance")]
    )
    instance = models.CharField(max_length=64)
    scale = models.CharField(max_length=10)
    sessions = models.PositiveSmallIntegerField(help_text="sessions wanted")
    seeds = models.JSONField(help_text="secret: one seed per session, 16 hexadecimal digits")
    verified = models.BooleanField(
        default=False,
        help_text="an audit: driven from outside of the library's process, never ranked",
    )

    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    priority = models.SmallIntegerField(default=0, help_text="lower runs first")
    virtual_time = models.BigIntegerField(
        default=0, help_text="place among runs of one priority, see fairness.py"
    )
    not_before = models.DateTimeField(null=True, blank=True)
    wanted_class = models.CharField(
        max_length=100, blank=True, help_text="class of machine it must run on; empty: any"
    )
    machine = models.ForeignKey(
        Machine, on_delete=models.PROTECT, null=True, blank=True, related_name="runs"
    )
    slot = models.PositiveSmallIntegerField(null=True, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    progress = models.FloatField(default=0.0, help_text="share of the work done, 0 to 1")
    progress_note = models.CharField(max_length=200, blank=True)

    verdict = models.CharField(max_length=16, choices=VERDICT_CHOICES, blank=True)
    reason = models.TextField(blank=True, help_text="why it did not pass, for the owner")
    jail_level = models.CharField(max_length=8, blank=True)
    score = models.FloatField(
        null=True, blank=True, help_text="median over sessions of candidate / control"
    )
    score_low = models.FloatField(null=True, blank=True)
    score_high = models.FloatField(null=True, blank=True)
    total_ms = models.FloatField(null=True, blank=True, help_text="median over sessions")
    deadlocks = models.BigIntegerField(null=True, blank=True)
    transactions_failed = models.BigIntegerField(null=True, blank=True)
    transactions_completed = models.BigIntegerField(null=True, blank=True)
    transactions_planned = models.BigIntegerField(null=True, blank=True)
    provisional = models.BooleanField(default=False)
    faults = models.JSONField(
        default=list, help_text="names of the required findings, and stale_read in any case"
    )
    unsteady = models.TextField(
        blank=True, help_text="why its machine did not rank when it ended; empty: it did"
    )
    eligible = models.BooleanField(default=False, help_text="for at least one board")
    ranked_on = models.JSONField(default=list, help_text="slugs of the boards whose rules it keeps")
    why_not = models.JSONField(default=list, help_text="sentences: why it is not ranked")

    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [
            # The claim: first of the queue. The sweep uses one_active_run_per_slot below; an index on the lease
            # would make every heartbeat write to all indexes (no heap-only update on PostgreSQL).
            models.Index(
                fields=["priority", "virtual_time", "id"],
                name="run_queue",
                condition=Q(state="queued"),
            ),
            # The virtual clock: the latest start time that was claimed.
            models.Index(
                fields=["priority", "-virtual_time"],
                name="run_clock",
                condition=Q(attempt__gt=0),
            ),
            # How long runs took lately.
            models.Index(fields=["-finished_at"], name="run_ended", condition=Q(state="done")),
            # A user's slots on a board are chosen from these.
            models.Index(
                fields=["benchmark", "benchmark_version", "instance", "score"],
                name="run_board",
                condition=Q(eligible=True),
            ),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["machine", "slot"],
                condition=Q(state__in=["claimed", "running"]),
                name="one_active_run_per_slot",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["claimed", "running"])
                | Q(machine__isnull=False, slot__isnull=False, lease_until__isnull=False),
                name="active_run_has_a_lease",
            ),
            models.CheckConstraint(
                condition=(Q(state="done") & ~Q(verdict="")) | (~Q(state="done") & Q(verdict="")),
                name="verdict_when_done",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}: {self.benchmark} {self.instance} {self.scale}"

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen to this run."""
        return self.state in FINAL_STATES

    @property
    def is_gate(self) -> bool:
        """Whether this run only decides if others may be ranked."""
        return self.kind == "correctness"


class Share(models.Model):
    """Where a user's next run of a priority is put in the queue: the virtual time at which the earlier ones end."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="shares"
    )
    priority = models.SmallIntegerField()
    finish = models.BigIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "priority"], name="one_share_per_priority"),
        ]

    def __str__(self) -> str:
        return f"share of {self.user_id} at priority {self.priority}: {self.finish}"


class RunDetail(models.Model):
    """What a finished run showed, in full. The log is for the owner and organisers only."""

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="detail"
    )
    findings = models.JSONField(
        default=list, help_text="list of {suite, name, severity, detail} as in the report"
    )
    sessions = models.JSONField(
        default=list, help_text="list of {seed, candidate_first, candidate, control, ratio}"
    )
    ratios = models.JSONField(default=list, help_text="candidate / control, one per session")
    series = models.JSONField(
        default=dict, help_text="throughput and latency of the session nearest the median"
    )
    log = models.TextField(blank=True)
    machine_facts = models.JSONField(default=dict)
    library_facts = models.JSONField(default=dict)
    drawn_at = models.DateTimeField(
        null=True, blank=True, help_text="when the results worker looked for curves to draw"
    )

    class Meta:
        indexes: ClassVar = [
            # What the results worker has still to draw.
            models.Index(fields=["run"], name="detail_to_draw", condition=Q(drawn_at=None)),
        ]

    def __str__(self) -> str:
        return f"detail of run {self.pk}"


class ControlSeries(models.Model):
    """What the control library did beside one timed run: a machine's history, and nothing about the candidate."""

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="control_series"
    )
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="control_series")
    level = models.FloatField(help_text="median in the benchmark's metric")
    changes = models.JSONField(
        default=list, help_text="logarithms of after / before, one per session that has both"
    )
    recorded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "control series"
        indexes: ClassVar = [
            models.Index(fields=["machine", "-recorded_at"], name="control_history"),
        ]

    def __str__(self) -> str:
        return f"control beside run {self.run_id}"

    @property
    def change(self) -> float | None:
        """The median size of its changes as a share; None where it ran once."""
        sizes = [abs(change) for change in self.changes]
        return math.expm1(median(sizes)) if sizes else None


class Artefact(models.Model):
    """A file about a run, for example a plot. No URL leads there: views check access and stream it."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="artefacts")
    name = models.CharField(max_length=64, help_text="throughput.svg or latency.svg")
    file = models.FileField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "name"], name="one_artefact_per_name"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of run {self.run_id}"


class BoardEntry(models.Model):
    """A user's entry on a board: all ranked runs of one binary under one configuration, merged.

    Derived from runs by standing.py and rebuildable at any time; pages read nothing else.
    """

    board = models.CharField(max_length=64)
    benchmark_version = models.PositiveIntegerField()
    machine_class = models.CharField(max_length=100)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="board_entries"
    )
    slot = models.PositiveSmallIntegerField(help_text="0 is the user's best")
    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="board_entries", help_text="the newest merged"
    )
    blob_sha256 = models.CharField(max_length=64)
    configuration = models.CharField(max_length=64, blank=True)
    score = models.FloatField(help_text="median over all sessions of candidate / control")
    score_low = models.FloatField()
    score_high = models.FloatField()
    ratios = models.JSONField(default=list)
    provisional = models.BooleanField()
    audited = models.BooleanField(
        default=False, help_text="an audit of this binary on the board's target passed"
    )
    position = models.PositiveIntegerField(
        null=True, blank=True, help_text="1 is the best median; empty: not among the shown"
    )
    rank_low = models.PositiveIntegerField(null=True, blank=True)
    rank_high = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "board entries"
        indexes: ClassVar = [
            models.Index(
                fields=["board", "benchmark_version", "machine_class", "position"],
                name="entry_standings",
            ),
            # The best of a board, when places are given anew.
            models.Index(
                fields=["board", "benchmark_version", "machine_class", "score"],
                name="entry_scores",
            ),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["board", "benchmark_version", "machine_class", "user", "slot"],
                name="one_entry_per_slot",
            ),
            models.UniqueConstraint(
                fields=[
                    "board",
                    "benchmark_version",
                    "machine_class",
                    "user",
                    "blob_sha256",
                    "configuration",
                ],
                name="one_entry_per_binary",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.board} {self.position}: run {self.run_id}"


class Announcement(models.Model):
    """News of the organisers; the body is Markdown, cleaned when it is shown."""

    title = models.CharField(max_length=200)
    body = models.TextField(help_text="Markdown")
    published_at = models.DateTimeField(
        null=True, blank=True, help_text="empty: a draft; in the future: not shown yet"
    )

    class Meta:
        ordering: ClassVar = ["-published_at", "-id"]

    def __str__(self) -> str:
        return self.title
