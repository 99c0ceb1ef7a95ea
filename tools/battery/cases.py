"""The cases of tests/hostile/cases.json: the one list that CMake, the tests and docs/reference/battery.md read."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from runner.contract import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[2]
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
    """One attack and what must come of it.

    Exactly one of these says what is run: `attack` (of `source`, at the places `where`), a `library` of the build,
    a `file` that tools/battery/files.py makes, `many_jails`; or `proof` says where it is proven instead.
    """

    id: str
    title: str
    source: str = ""
    attack: str = ""
    where: tuple[str, ...] = ()  # as attack.h names them
    library: str = ""  # below build/PRESET/lib
    file: str = ""
    many_jails: int = 0
    proof: str = ""
    expect: tuple[str, ...] = (Verdict.PASSED,)  # verdicts, each right
    findings: tuple[str, ...] = ()  # all of them must be there
    findings_any: tuple[str, ...] = ()  # one of them must be there
    words: str = ""  # in the reason
    benchmark: str = "sigmod2009"
    parameters: dict[str, int] = field(default_factory=dict)
    deadline_ms: int = 0  # of a phase; 0: the battery's
    seed: str = ""  # of the session; empty: a secret one
    runs: int = 1  # one after the other
    fast: bool = False  # part of `./dev test`
    note: str = ""

    @property
    def path(self) -> str:
        """Which library of the build is uploaded, below lib/; empty: none."""
        return f"battery/{self.id}" if self.attack else self.library

    @property
    def must_say(self) -> tuple[str, ...]:
        """What the library says in its log when an attempt was made; only one that survives its attack can."""
        survives = bool(self.attack) and self.expect == (Verdict.PASSED,)
        returns = [place for place in self.where if place != "left thread"]
        return tuple(f"{self.id} {place}: tried" for place in returns) if survives else ()

    @property
    def expected(self) -> str:
        """What must come of it, in words."""
        if self.proof or self.many_jails:
            return "nothing is left" if self.many_jails else ""
        verdict = " or ".join(word.replace("_", " ") for word in self.expect)
        if self.must_say:
            return f"{verdict}, {'no advantage' if self.id[0] == 'D' else 'every attempt refused'}"
        names = ", ".join(self.findings) or " or ".join(self.findings_any) or self.words
        return f"{verdict}: {names}" if names else verdict


def load(only: Sequence[str] = (), *, fast: bool = False) -> list[Case]:
    """Return the cases in order; `only` those of these ids or first letters, or the `fast` ones."""
    cases = [_case(entry) for entry in json.loads(CASES.read_text())]
    known = {case.id for case in cases} | set(GROUPS)
    if unknown := set(only) - known:
        raise SystemExit(f"no case or group is called {', '.join(sorted(unknown))}: see {CASES}")
    return [
        case
        for case in cases
        if (not only or {case.id, case.id[0]} & set(only)) and (case.fast or not fast)
    ]


def _case(entry: dict[str, object]) -> Case:
    values = {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}
    return Case(**values)  # type: ignore[arg-type] # the table is ours; a wrong field is a TypeError
