"""docs/reference/battery.md and the table on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.battery.cases import GROUPS, ROOT

if TYPE_CHECKING:
    from tools.battery.cases import Case
    from tools.battery.chain import Got

PAGE = ROOT / "docs" / "reference" / "battery.md"
_HEAD = """\
# The battery

Written by `./dev soak` (`python -m tools.battery --write`) on commit {commit}; not edited by hand. (A plus sign: with
local changes.) Every attack that [tests/hostile/](../../tests/hostile/cases.json) knows, through the whole chain:
upload, queue, worker, referee, jail, verdict, board. {count} cases, {wrong} of them not as expected, {seconds:.0f} s.

*Every attempt refused* means that the library tried at each of the places named, said so in its log, and was refused
each time; where not, the log has a line that begins with HOLE. *Where*: in the constructor only the first stage of
the jail holds; an early thread is one that the constructor started; the rest is behind both stages. After each case
there was no process, control group, mount, file, shared memory or descriptor left, the run had one attempt, and nothing
that failed was ranked. At the end an honest library passed and was ranked.
[The attacker's guide](../explanation/security.md#the-attackers-guide) tells how to add a case.
"""


def text(rows: list[tuple[Case, Got]], commit: str) -> str:
    """Return the page."""
    wrong = sum(bool(got.faults) for _, got in rows)
    seconds = sum(got.seconds for _, got in rows)
    lines = [_HEAD.format(commit=commit, count=len(rows), wrong=wrong, seconds=seconds)]
    for letter, title in GROUPS.items():
        chosen = [(case, got) for case, got in rows if case.id[0] == letter]
        if not chosen:
            continue
        lines += [
            f"## {title}",
            "",
            "| case | attack | where | expected | got | s |",
            "|---|" + "---|" * 5,
        ]
        lines += [_row(case, got) for case, got in chosen] + [""]
    return "\n".join(lines)


def _row(case: Case, got: Got) -> str:
    title = case.title + (f" ({case.note})" if case.note else "")
    where = ", ".join(case.where) or (f"`{case.library}`" if case.library else case.file)
    if case.proof:
        return f"| {case.id} | {title} | | proven by {case.proof} | | |"
    return f"| {case.id} | {title} | {where} | {case.expected} | {outcome(case, got)} | {got.seconds:.1f} |"


def outcome(case: Case, got: Got) -> str:
    """Return what came of a case, in one cell."""
    if got.faults:
        return "; ".join(got.faults)[:300].replace("|", "/").replace("\n", " ")
    if case.must_say:
        return f"{got.verdict}, {'tried' if case.id[0] == 'D' else 'refused'}"
    return got.verdict.replace("_", " ")
