"""Defines the tables of the leaderboard: submissions, runs and their results, machines, board entries, news.

This file contains fields, constraints and short properties. Most rows are written by services.py, queue/claims.py and
ranking/board_entries.py; queries.py reads rows for pages. Times are UTC. Large columns are in RunDetail, so that lists
of runs read small rows.
"""

from __future__ import annotations

import math
from statistics import median
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from leaderboard.announcement import Announcement
from leaderboard.lead_change import LeadChange, LiveVersion
from runner.terms import Verdict

__all__ = ["Announcement", "LeadChange", "LiveVersion"]

MAX_DESCRIPTION = 200
MAX_LOG_BYTES = 64 * 1024


class Kind(models.TextChoices):
    """What an uploaded file is: a whole library, a bare structure, or neither.

    A whole library exports the ten functions of the index API (contract A). A bare structure exports the calls of the
    structure API (contract B), and has no transactions or locks of its own.
    """

    INDEX = "index", "whole library"
    STRUCTURE = "structure", "bare structure"
    UNKNOWN = "unknown", "unknown kind"


class State(models.TextChoices):
    """The state of a run in the queue. Only a run in the state done has a verdict."""

    QUEUED = "queued", "queued"
    CLAIMED = "claimed", "claimed"
    RUNNING = "running", "running"
    DONE = "done", "done"
    CANCELLED = "cancelled", "cancelled"


ACTIVE_STATES = (State.CLAIMED, State.RUNNING)
FINAL_STATES = (State.DONE, State.CANCELLED)
VERDICT_CHOICES = [(verdict.value, verdict.value.replace("_", " ")) for verdict in Verdict]


class Machine(models.Model):
    """A machine that executes runs. Results of different machine classes are never compared.

    A machine class is the processor model, the number of processors and the size of memory.
    """

    name = models.CharField(max_length=100, unique=True)
    machine_class = models.CharField(
        max_length=100, help_text="the machine's processor model, number of CPUs and memory"
    )
    facts = models.JSONField(default=dict)
    last_seen = models.DateTimeField(null=True, blank=True)
    last_busy = models.DateTimeField(
        null=True, blank=True, help_text="when this machine last claimed or ended a run"
    )
    refusal = models.TextField(
        blank=True,
        help_text="why the worker of the machine leaves waiting runs to other workers; empty: it takes all runs",
    )
    noise = models.FloatField(
        null=True,
        blank=True,
        help_text="relative difference between two measurements of the same library, 0.05 is 5 %; empty: unknown",
    )
    drift = models.FloatField(
        null=True,
        blank=True,
        help_text="relative change of the control library's results since earlier runs, 0.05 is 5 %; empty: unknown",
    )
    why_excluded = models.TextField(
        blank=True,
        help_text="why the results of the machine are excluded from ranking; empty: they are ranked",
    )

    def __str__(self) -> str:
        return self.name


class Submission(models.Model):
    """An uploaded file and its owner. The content is stored outside the database, in a file named by its SHA-256.

    An upload with several configurations makes one submission for each configuration. `upload` of the further ones
    refers to the first one; `upload` of the first one is empty.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    description = models.CharField(max_length=MAX_DESCRIPTION, blank=True)
    file_name = models.CharField(
        max_length=100, help_text="name of the uploaded file; only shown, never used as a path"
    )
    blob_sha256 = models.CharField(max_length=64)
    size_bytes = models.BigIntegerField()
    kind = models.CharField(max_length=10, choices=Kind.choices)
    configuration = models.CharField(
        max_length=64, blank=True, help_text="configuration of a structure, else empty"
    )
    upload = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="variants",
        help_text="the first submission of the same upload; empty: this is the first one",
    )
    facts = models.JSONField(default=dict, help_text="what the inspection of the file found")
    trusted = models.BooleanField(
        default=False, help_text="whether the library may link shared objects that others may not"
    )
    reference = models.BooleanField(
        default=False,
        help_text="submitted by the organisers for comparison; the limit of entries per user does not apply",
    )
    deleted_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="when the submission was deleted from the pages; organisers still see it",
    )

    class Meta:
        indexes: ClassVar = [
            # This index finds the submissions that a page of a user's list shows, newest first.
            models.Index(fields=["owner", "-id"], name="submission_mine"),
            # This index finds all submissions of one binary under one configuration. If one of these submissions has
            # passed a gate (a required correctness test), the gate counts for all of them. A board entry merges one
            # user's runs of the binary.
            models.Index(fields=["blob_sha256", "configuration"], name="submission_blob"),
        ]

    def __str__(self) -> str:
        return f"{self.file_name}, {self.created_at:%Y-%m-%d %H:%M}"


class Run(models.Model):
    """A run: the request to judge one submission on one benchmark instance at one scale, and the result.

    The columns are in three groups. docs/decisions/0006-queue-is-a-table.md explains why one table has all of them.

    - The request, from `submission` to `hidden`, says what to run. These columns are written when the run is created,
      and never change.
    - The queue entry, from `state` to `live`, says which worker executes the run now. queue/claims.py and
      services.py write these columns. `slot` is the number of the jail (sandbox) on `machine` in which the run
      executes.
    - The result, from `verdict` to `why_not`, has the verdict, the measurements and the ranking. These columns are
      written when the run ends. `eligible`, `ranked_on` and `why_not` are written again in two cases: another gate or
      audit of the same binary ends, or a board's rules change. A gate is a required correctness test. An audit repeats
      a run in a mode in which a trusted process makes every call. When the benchmark gets a newer version, `ranked_on`
      keeps its value, but the run is no longer eligible.
    """

    # The request.
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="runs")
    benchmark = models.CharField(max_length=64)
    benchmark_version = models.PositiveIntegerField()
    kind = models.CharField(
        max_length=12, choices=[("correctness", "correctness"), ("performance", "performance")]
    )
    instance = models.CharField(max_length=64)
    scale = models.CharField(max_length=10)
    sessions = models.PositiveSmallIntegerField(help_text="number of sessions to run")
    seeds = models.JSONField(
        help_text="one seed per session, 16 hexadecimal digits; secret until the run ends"
    )
    verified = models.BooleanField(
        default=False,
        help_text="whether the run is an audit, whose calls come from another process; such a run is never ranked",
    )
    hidden = models.ForeignKey(
        "contests.HiddenInstance",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="runs",
        help_text="the contest's hidden instance that the run plays; empty: it plays a public instance",
    )

    # The queue entry.
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    priority = models.SmallIntegerField(default=0, help_text="runs with a lower number start first")
    virtual_time = models.BigIntegerField(
        default=0, help_text="order among runs of the same priority: the smallest number is first"
    )
    not_before = models.DateTimeField(null=True, blank=True)
    wanted_class = models.CharField(
        max_length=100, blank=True, help_text="machine class that must execute the run; empty: any"
    )
    machine = models.ForeignKey(
        Machine, on_delete=models.PROTECT, null=True, blank=True, related_name="runs"
    )
    slot = models.PositiveSmallIntegerField(null=True, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    progress = models.FloatField(default=0.0, help_text="share of the run done, from 0 to 1")
    progress_note = models.CharField(max_length=200, blank=True)
    live = models.JSONField(
        null=True, blank=True, help_text="throughput of the running session over time"
    )

    # The result.
    verdict = models.CharField(max_length=16, choices=VERDICT_CHOICES, blank=True)
    reason = models.TextField(blank=True, help_text="why the run did not pass, for its owner")
    jail_level = models.CharField(max_length=8, blank=True)
    score = models.FloatField(
        null=True, blank=True, help_text="median over sessions: result / control library's result"
    )
    score_low = models.FloatField(null=True, blank=True)
    score_high = models.FloatField(null=True, blank=True)
    total_ms = models.FloatField(null=True, blank=True, help_text="median time of a session, in ms")
    deadlocks = models.BigIntegerField(null=True, blank=True)
    transactions_failed = models.BigIntegerField(null=True, blank=True)
    transactions_completed = models.BigIntegerField(null=True, blank=True)
    transactions_planned = models.BigIntegerField(null=True, blank=True)
    provisional = models.BooleanField(default=False)
    decisive_findings = models.JSONField(
        default=list, help_text="names of the required findings, and stale_read also as a warning"
    )
    why_excluded = models.TextField(
        blank=True,
        help_text="why the machine of the run was excluded from ranking when the run ended; empty: it was not excluded",
    )
    eligible = models.BooleanField(default=False, help_text="whether a board may rank the run")
    ranked_on = models.JSONField(
        default=list, help_text="names of the boards that may rank the run, as in their addresses"
    )
    why_not = models.JSONField(
        default=list, help_text='why the run is not ranked; completes "not ranked because ..."'
    )

    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes: ClassVar = [
            # A claim takes the first row of this index. A lease is a worker's right to execute a run until the time
            # `lease_until`, which each heartbeat moves. The column `lease_until` has no index. If it had one,
            # PostgreSQL could not do heap-only updates, and every heartbeat would write to all indexes. The search for
            # runs with an expired lease uses the index of one_active_run_per_slot below.
            models.Index(
                fields=["priority", "virtual_time", "id"],
                name="run_queue",
                condition=Q(state="queued"),
            ),
            # This index finds the virtual clock of a priority: the largest virtual time of all its runs that were ever
            # claimed (see Share).
            models.Index(
                fields=["priority", "-virtual_time"],
                name="run_clock",
                condition=Q(attempt__gt=0),
            ),
            # This index finds the runs that ended last, from which the mean duration of a run is computed.
            models.Index(fields=["-finished_at"], name="run_ended", condition=Q(state="done")),
            # This index finds the runs from which a user's entries on a board are chosen.
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
        """Return True if the run has ended and will not be tried again."""
        return self.state in FINAL_STATES

    @property
    def is_gate(self) -> bool:
        """Return True if this run is a correctness test, which must pass before timed runs may be ranked."""
        return self.kind == "correctness"


class Share(models.Model):
    """A user's share of the queue at one priority.

    Virtual time orders the runs of a priority, so that users share the machines fairly. A run takes one unit of virtual
    time for each of its sessions (repetitions). `finish` is the virtual time at which the user's runs end. The user's
    next run gets the virtual time `finish`, or the largest virtual time of a claimed run if that is later
    (queue/fairness.py).
    """

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
    """The full results of a finished run. Only the owner and organisers may see the log."""

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="detail"
    )
    findings = models.JSONField(
        default=list, help_text="list of {suite, name, severity, detail} as in the report"
    )
    sessions = models.JSONField(
        default=list, help_text="list of {seed, candidate_first, candidate, control, ratio}"
    )
    ratios = models.JSONField(default=list, help_text="per session: result / control's result")
    series = models.JSONField(
        default=dict,
        help_text="throughput and latency of the session whose time is nearest the median",
    )
    log = models.TextField(blank=True)
    machine_facts = models.JSONField(default=dict)
    library_facts = models.JSONField(default=dict)
    drawn_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="when the plots of the run were drawn; also set if there was nothing to draw",
    )

    class Meta:
        indexes: ClassVar = [
            # This index finds the runs whose plots are not drawn yet.
            models.Index(fields=["run"], name="detail_to_draw", condition=Q(drawn_at=None)),
        ]

    def __str__(self) -> str:
        return f"detail of run {self.pk}"


class ControlSeries(models.Model):
    """The control library's results in the sessions (repetitions) of one timed run.

    The control library is the baseline, which every timed run measures too. The control library's results show how
    noisy the machine is, because they do not depend on the submitted library.
    """

    run = models.OneToOneField(
        Run, on_delete=models.CASCADE, primary_key=True, related_name="control_series"
    )
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="control_series")
    level = models.FloatField(help_text="median over the sessions of the control library's result")
    changes = models.JSONField(
        default=list,
        help_text="for each session that ran the control twice: logarithm of the second result divided by the first",
    )
    recorded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "control series"
        indexes: ClassVar = [
            models.Index(fields=["machine", "-recorded_at"], name="control_history"),
        ]

    def __str__(self) -> str:
        return f"control of run {self.run_id}"

    @property
    def change(self) -> float | None:
        """Return the median size of the changes as a fraction, or None if no session ran the control twice."""
        sizes = [abs(change) for change in self.changes]
        return math.expm1(median(sizes)) if sizes else None


class Artefact(models.Model):
    """A file about a run, for example a plot. The file has no public URL: a view checks access and sends the file."""

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
    """A user's entry on a board (a ranking of libraries): all the user's eligible runs of one binary, merged.

    Runs of the binary under another configuration form another entry. ranking/board_entries.py computes the entries
    from the runs and can rebuild them at any time. Board pages read only this table. `user_rank` counts only the
    user's own entries. `position`, `rank_low` and `rank_high` count the entries of all users.
    """

    board = models.CharField(max_length=64)
    benchmark_version = models.PositiveIntegerField()
    machine_class = models.CharField(max_length=100)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="board_entries"
    )
    user_rank = models.PositiveSmallIntegerField(
        help_text="number of the user's own entries that are better; 0: this entry is the best"
    )
    run = models.ForeignKey(
        Run,
        on_delete=models.CASCADE,
        related_name="board_entries",
        help_text="the newest of the runs that this entry combines",
    )
    blob_sha256 = models.CharField(max_length=64)
    configuration = models.CharField(max_length=64, blank=True)
    score = models.FloatField(help_text="median of all sessions: result / control library's result")
    score_low = models.FloatField()
    score_high = models.FloatField()
    ratios = models.JSONField(default=list)
    provisional = models.BooleanField()
    spare = models.BooleanField(
        default=False,
        help_text="entry beyond the user's limit; ranked only for viewers who may not see all better ones of the user",
    )
    audited = models.BooleanField(
        default=False, help_text="whether this file passed an audit on the board's instance"
    )
    advisories = models.JSONField(
        default=list,
        help_text="advisory findings about this binary that the board shows: list of {name, text, run}",
    )
    position = models.PositiveIntegerField(
        null=True, blank=True, help_text="place by median score, 1 is the best; empty: not shown"
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
            # This index finds the best entries of a board, when ranks are computed.
            models.Index(
                fields=["board", "benchmark_version", "machine_class", "score"],
                name="entry_scores",
            ),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["board", "benchmark_version", "machine_class", "user", "user_rank"],
                name="one_entry_per_user_rank",
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
