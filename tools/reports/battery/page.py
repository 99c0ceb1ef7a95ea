"""Writes docs/reference/battery.md, the table of all attacks with expected and actual results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.reports.battery.cases import GROUPS, ROOT

if TYPE_CHECKING:
    from tools.reports.battery.cases import Case
    from tools.reports.battery.chain import Got

PAGE = ROOT / "docs" / "reference" / "battery.md"
_HEAD = """\
# The battery of attacks

Written by `./dev soak` (`python -m tools.reports.battery --write`); do not edit. {made}

An attack is a library that tries to damage the machine or to falsify its own results. Every attack of
[tests/hostile/](../../tests/hostile/cases.json) ran through the whole chain: upload, queue, worker, referee, jail,
verdict, board. Attacks marked *proven by* are played by the named test instead. There are {count} cases, {wrong} of
them with an unexpected result.
They took {seconds:.0f} s.

- *Where* names the moments at which the library attacks. The jail has two stages; the second begins after loading and
  takes away the rights that only loading needs. Only the first stage is in force in a `constructor`, while the library
  is loaded. Both stages are in force at the other moments. `call`: in the first `create`. `thread`, `left thread`: in a
  new thread for which the first `create` waits, or does not wait. `early thread`: in a thread that the constructor
  started. `commit`: in a commit of the timed test. `close`: after the first `closeIndex`. If a case has no such
  moments, the column names the uploaded library or file.
- *Every attempt refused*: the library attacked at each of these moments, and each attempt was refused. An attempt that
  succeeds would log a line that begins with HOLE.
- *No advantage*: attempts may succeed, but the library gained nothing by them. The column *got* then says *tried*.
- *s* is the time of the case in seconds.

After each case no process, control group, mount, file, shared memory or descriptor was left. The worker
executed each run once, and no failed run was ranked. At the end an honest library passed and was ranked.
[The attacker's guide](../explanation/security.md#the-attackers-guide) says how to add a case.
"""


def text(rows: list[tuple[Case, Got]], made: str) -> str:
    """Return the page."""
    wrong = sum(bool(got.faults) for _, got in rows)
    seconds = sum(got.seconds for _, got in rows)
    lines = [_HEAD.format(made=made, count=len(rows), wrong=wrong, seconds=seconds)]
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
    """Return the result of a case as one cell."""
    if got.faults:
        return "; ".join(got.faults)[:300].replace("|", "/").replace("\n", " ")
    if case.must_say:
        return f"{got.verdict}, {'tried' if case.id[0] == 'D' else 'refused'}"
    return got.verdict.replace("_", " ")
