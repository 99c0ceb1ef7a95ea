"""Prints the findings of `keydrome check`: one of them in full, then one line for each other.

The text of a finding with the calls that show the fault is its *proof*. One fault of a library often causes many
findings, so only the smallest proof, the easiest to read, is printed in full.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from cli.output.check_proof import heading, proof_lines, smallest_proof
from cli.output.paragraph import COLUMNS_MAX
from results.counts import counted
from runner.terms import Severity
from runner.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from runner.report import Finding


# Where a finding happened, such as: phase "run", thread 1, operation 5, or: index A, transaction 4 of thread 1 in phase
# "run". A colon follows.
_PLACE = re.compile(
    r"^(?:phase [^:]+, thread \d+, operation \d+|index [^:]+, transaction \d+ [^:]+): "
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How many lines the proof has, how many other findings are listed, and how many warnings are printed in full.

    Warnings are printed in full only if there is no required finding. `rest` says where to find what was left out.
    """

    proof: int = 19
    others: int = 9
    warnings: int = 5
    rest: str = "--witness DIR writes all findings to files"


ALL = Limits()


def show_findings(out: Console, findings: Sequence[Finding], limits: Limits = ALL) -> None:
    """Print the smallest proof, one line for each other required finding, and the names of the warnings.

    If there is no required finding, print what each warning says.
    """
    first = smallest_proof(findings)
    if first is not None:
        _show_proof(out, first, limits)
    others = [f for f in findings if f.severity is Severity.REQUIRED and f is not first]
    if others:
        _line(out, "")
        _line(out, "Other findings (several may have the same cause):")
        cut = [_one_line(out, finding) for finding in others[: limits.others]]
        more = f"and {len(others) - limits.others} more " if len(others) > limits.others else ""
        if more or any(cut):
            cut_off = "… marks a line that is cut off; " if any(cut) else ""
            _line(out, f"  {more}({cut_off}{limits.rest})")
    warnings = [f for f in findings if f.severity is Severity.ADVISORY]
    if warnings and first is None:
        _show_warnings(out, warnings, limits)
    elif warnings:
        names = dict.fromkeys(f.name for f in warnings)
        _line(out, "")
        _fitted(out, f"Warnings (they do not fail the library): {', '.join(names)}")


def _show_warnings(out: Console, warnings: Sequence[Finding], limits: Limits) -> None:
    _line(out, "Warnings (they do not fail the library):")
    for finding in warnings[: limits.warnings]:
        first = (finding.detail.splitlines() or [""])[0]
        for line in _wrapped(
            printable(f"{heading(finding)}: {first}"), min(out.width, COLUMNS_MAX)
        ):
            _line(out, line)
    if len(warnings) > limits.warnings:
        _line(out, f"  and {len(warnings) - limits.warnings} more")


def _show_proof(out: Console, finding: Finding, limits: Limits) -> None:
    out.print(Text(heading(finding, ": "), style="bold"))
    lines = [
        part
        for line in proof_lines(finding)
        for part in _wrapped(line, min(out.width, COLUMNS_MAX))
    ]
    for line in lines[: limits.proof]:
        _line(out, line)
    if len(lines) > limits.proof:
        _line(
            out,
            f"  ... {counted(len(lines) - limits.proof, 'more line')}; {limits.rest}",
        )


def _wrapped(line: str, width: int) -> list[str]:
    """Return a line of the proof, indented, and divided at spaces if it is wider than the console."""
    indent = " " * (2 + len(line) - len(line.lstrip()))
    return textwrap.wrap(
        line.strip(), width, initial_indent=indent, subsequent_indent=f"{indent}  "
    ) or [""]


def _one_line(out: Console, finding: Finding) -> bool:
    """Print what happened, without the place, so that the decisive words are seldom cut off.

    Return whether the line was cut off.
    """
    first = (finding.detail.splitlines() or [""])[0]
    return _fitted(out, f"  {heading(finding)}: {_PLACE.sub('', first)}")


def _fitted(out: Console, text: str) -> bool:
    """Print a line, cut off at the width of the console. Return whether it was cut off."""
    line = Text(printable(text), no_wrap=True)
    width = min(out.width, COLUMNS_MAX)
    cut = line.cell_len > width
    line.truncate(width, overflow="ellipsis")
    out.print(line)
    return cut


def _line(out: Console, text: str) -> None:
    out.print(Text(text), soft_wrap=True)
