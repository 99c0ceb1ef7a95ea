"""Defines the table of the site's news. models.py imports this file, so that Django finds the table."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class Announcement(models.Model):
    """News from the organisers. The body is Markdown; the page converts it to HTML and sanitises the HTML."""

    title = models.CharField(max_length=200)
    body = models.TextField(help_text="The text, in Markdown.")
    published_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the news appears. If the field is empty, the news is a draft, which only organisers see.",
    )

    class Meta:
        ordering: ClassVar = ["-published_at", "-id"]

    def __str__(self) -> str:
        return self.title
