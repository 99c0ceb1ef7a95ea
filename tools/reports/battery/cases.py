"""Reads the cases of the battery, the attacks that Keydrome must withstand, from tests/hostile/cases.json.

CMake, the tests and docs/reference/battery.md share this list. Most attacks run as a library in the jail (a sandbox).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from runner.terms import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "tests" / "hostile" / "cases.json"
GROUPS = {
    "A": "Files and privileges",
    "B": "Processes and resources",
    "C": "Surface of the kernel",
    "D": "Integrity of the numbers",
    "E": "The machine afterwards",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One attack and the expected result.

    Exactly one of these fields says what the case runs:
     - `attack`: a C function in the file `source`, called at the moments `where`;
     - `library`: a library of the build;
     - `file`: a file that tools/reports/battery/files.py writes;
     - `many_jails`: this number of jails with an empty session;
     - `proof`: nothing; the field names another test that proves the defence.
    """

    id: str
    title: str
    source: str = ""
    attack: str = ""
    where: tuple[str, ...] = ()  # names of attack.h: constructor, early thread, call, ...
    library: str = ""  # below build/PRESET/lib
    file: str = ""
    many_jails: int = 0
    proof: str = ""
    expect: tuple[str, ...] = (Verdict.PASSED,)  # accepted verdicts
    findings: tuple[str, ...] = ()  # the run must have all of these findings
    findings_any: tuple[str, ...] = ()  # the run must have one of these findings
    words: str = ""  # the run's reason must contain these words
    benchmark: str = "sigmod2009"
    parameters: dict[str, int] = field(default_factory=dict)
    deadline_ms: int = 0  # time limit of a phase; 0: the battery's default
    seed: str = ""  # seed of the session; empty: a random one
    runs: int = 1  # number of jails, one after the other
    fast: bool = False  # part of `./dev test`
    note: str = ""

    @property
    def path(self) -> str:
        """The uploaded library, as a path below lib/ of the build; empty if the case uploads no built library."""
        return f"battery/{self.id}" if self.attack else self.library

    @property
    def must_say(self) -> tuple[str, ...]:
        """The lines that the log must contain if the library is expected to pass.

        The library prints one line after each attempt. At the moment "left thread", the attack runs in a thread for
        which the library does not wait. Such attacks never return, so the library prints no line for them.
        """
        survives = bool(self.attack) and self.expect == (Verdict.PASSED,)
        returns = [place for place in self.where if place != "left thread"]
        return tuple(f"{self.id} {place}: tried" for place in returns) if survives else ()

    @property
    def expected(self) -> str:
        """The expected result in words."""
        if self.proof or self.many_jails:
            return "nothing is left" if self.many_jails else ""
        verdict = " or ".join(word.replace("_", " ") for word in self.expect)
        if self.must_say:
            return f"{verdict}, {'no advantage' if self.id[0] == 'D' else 'every attempt refused'}"
        names = ", ".join(self.findings) or " or ".join(self.findings_any) or self.words
        return f"{verdict}: {names}" if names else verdict


def load(only: Sequence[str] = (), *, fast: bool = False) -> list[Case]:
    """Return the cases in order, or only those with these ids or first letters, or only the `fast` ones."""
    cases = [_case(entry) for entry in json.loads(CASES.read_text())]
    known = {case.id for case in cases} | set(GROUPS)
    if unknown := set(only) - known:
        raise SystemExit(
            f"there is no case or group {', '.join(sorted(unknown))}: choose from {CASES}"
        )
    return [
        case
        for case in cases
        if (not only or {case.id, case.id[0]} & set(only)) and (case.fast or not fast)
    ]


def _case(entry: dict[str, object]) -> Case:
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}
    return Case(**values)  # type: ignore[arg-type] # the table is ours; a wrong field is a TypeError
