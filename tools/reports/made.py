"""Writes and reads the line of a generated page that says at which commit and on which day the page was made.

The line is "Made at commit 1a2b3c4 on 2026-11-25." A plus sign after the commit means local changes. The program
tools/reports/stale.py reads the line, and compares the commit with the history of the measured code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from tools.reports.gate_run import commit

_LINE = re.compile(r"Made at commits? ([0-9a-f+, \n]+?)\s+on (\d{4}-\d\d-\d\d)")


@dataclass(frozen=True, slots=True)
class Made:
    """When a page was made. A page of several measurements has several commits; `day` is the last day."""

    commits: tuple[str, ...]  # without the plus signs
    day: str


def made_line(commits: list[str] | None = None) -> str:
    """Return the line for a page that is made now, at this commit or from measurements at these commits."""
    found = commits or [commit()]
    noun = "commits" if len(found) > 1 else "commit"
    return f"Made at {noun} {', '.join(found)} on {datetime.now(UTC).date()}."


def read_made(text: str) -> Made | None:
    """Return when the page with this text was made, or None if no line says so."""
    found = _LINE.findall(text)
    if not found:
        return None
    commits = [one.rstrip("+") for listed, _ in found for one in listed.replace(",", " ").split()]
    return Made(tuple(dict.fromkeys(commits)), max(day for _, day in found))
