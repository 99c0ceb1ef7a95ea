"""Defines the table of changes of the lead of boards. models.py imports it, so that Django finds it."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class LeadChange(models.Model):
    """A change of the public leader of a board on one machine class. lead_history.py writes these rows.

    `run` is the newest run of the entry that leads from `since` on. It is empty if the board no longer had an entry.
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
            # For the history of a board, newest first.
            models.Index(fields=["board", "machine_class", "-id"], name="lead_history"),
        ]

    def __str__(self) -> str:
        return f"{self.board} {self.benchmark_version}: run {self.run_id} since {self.since}"
