"""Chooses which finding of `keydrome check` to read first, and returns its text.

A finding is a fault or a warning that a suite (a correctness benchmark) reports. Its witness, if there is one, contains
the calls that prove it. The text of a finding is the easiest to read if it shows calls, and few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.check_tally import LEAK
from cli.output.crash_text import CRASHED
from results.witness_text import witness_text
from runner.terms import Severity
from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.report import Finding

# The suite whose findings are the easiest to read: it shrinks a failure to a few calls of one thread.
_SHRINKS = "differential"
_PROOF_LINES_MIN = 3  # a shorter text is a statement without calls
_LEFT_OUT = "(not shown: "  # begins a line about what a text leaves out, which is no call


def smallest_proof(findings: Iterable[Finding]) -> Finding | None:
    """Return the required finding whose text is the easiest to read, or None if there is no required finding."""
    required = [f for f in findings if f.severity is Severity.REQUIRED]
    return min(required, key=_effort, default=None)


def _effort(finding: Finding) -> tuple[bool, bool, int, str, str]:
    """Return the sort key: texts with calls first, shrunk ones before others, then by length."""
    lines = proof_lines(finding)
    count = len(lines)
    return not _has_calls(lines), finding.suite != _SHRINKS, count, finding.suite, finding.name


def proof_lines(finding: Finding) -> list[str]:
    """Return the text of a finding as lines: its detail, or if this contains no calls, the calls of its witness."""
    lines = finding.detail.splitlines()
    if not _has_calls(lines) and finding.witness is not None and finding.witness.transactions:
        calls = witness_text(finding.witness).splitlines()
        # The summary of a witness may repeat the finding.
        lines = calls if lines and lines[0] in calls[0] else [*lines[:1], *calls]
    return [printable(line) for line in lines]


def is_explained(finding: Finding) -> bool:
    """Return whether the guide to witnesses explains the finding: it shows calls, or has no advice of its own."""
    return finding.witness is not None or finding.name not in {CRASHED, LEAK}


def _has_calls(lines: list[str]) -> bool:
    return sum(not line.startswith(_LEFT_OUT) for line in lines) >= _PROOF_LINES_MIN


def heading(finding: Finding, between: str = " ") -> str:
    """Return suite and name of a finding. The suite `phantom` has a finding of the same name, which is written once."""
    suite, name = finding.suite, finding.name
    return name if suite == name else f"{suite}{between}{name}"
