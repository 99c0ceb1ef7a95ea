"""Defines the tables of the history of boards: who led, and which benchmark version was shown."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models


class LeadChange(models.Model):
    """A change of the public leader of a board (a ranking) on one machine class. lead_history.py writes these rows.

    A machine class is the processor model, the number of processors and the size of memory.
    `run` is the newest run of the entry that leads from `since` on. It is empty if the board has no entry from then on.
    """

    board = models.CharField(max_length=64)
    benchmark_version = models.PositiveIntegerField()
    machine_class = models.CharField(max_length=100)
    run = models.ForeignKey(
        "leaderboard.Run",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="lead_changes",
    )
    score = models.FloatField(
        null=True, blank=True, help_text="the entry's score when it took the lead"
    )
    since = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [
            # This index finds the changes of a board's history page, newest first.
            models.Index(fields=["board", "machine_class", "-id"], name="lead_history"),
        ]

    def __str__(self) -> str:
        return f"{self.board} {self.benchmark_version}: run {self.run_id} since {self.since}"


class LiveVersion(models.Model):
    """A version of the benchmark that a board shows from `since` on. live_boards.py writes these rows.

    The newest row of a board counts. A board without a row has never had ranked entries.
    """

    board = models.CharField(max_length=64)
    version = models.PositiveIntegerField()
    since = models.DateTimeField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="the organiser who made this version live; empty for the first version of a board",
    )

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["board", "version"], name="live_once"),
        ]

    def __str__(self) -> str:
        return f"{self.board} version {self.version}"
