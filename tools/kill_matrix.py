"""Which suite finds which mutant: `python -m tools.kill_matrix`, as root, after a build.

Runs every mutant of tests/faulty/mutants.json against every instance of the correctness benchmarks, through the real
referee and jail, and writes docs/reference/kill-matrix.md. A cell says in how many of the seeds the instance refused
the mutant. A suite that finds nothing alone is not worth its time; a mutant that nothing finds is a hole in the gate.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.contract import JailLevel, Progress, Scale, Severity, Verdict
from runner.execute import copy_into, run_file
from runner.manifest import Benchmark, Kind, load_benchmarks
from runner.order import Order
from runner.settings import load_settings

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "kill-matrix.md"
MUTANTS = ROOT / "tests" / "faulty" / "mutants.json"
# As benchmarks/isolation/bodies.cc numbers them.
ROUND_KINDS = (
    "soup",
    "registers",
    "append",
    "duel",
    "cross",
    "blind",
    "transfer",
    "wide",
    "large",
)
FAULTS_OF_LIBRARY = {Verdict.FAILED, Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY}


@dataclass(frozen=True, slots=True)
class Part:
    """One column of the matrix."""

    name: str
    suite: Benchmark
    instance: str
    overrides: dict[str, int]


@dataclass(slots=True)
class Kills:
    """What the instances said about one mutant."""

    number: int
    fault: str
    expected: set[str]
    by_instance: dict[str, int] = field(default_factory=dict)  # refusals
    names: set[str] = field(default_factory=set)  # of required findings
    seeds_found: set[int] = field(default_factory=set)
    fastest_s: float = float("inf")

    @property
    def as_expected(self) -> bool:
        """Whether a finding had one of the names that the mutant may be called."""
        return bool(self.names & self.expected)


def main() -> int:
    """Run what was asked for; 0 when every mutant was found under one of its names in every seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--scale", choices=[s.value for s in Scale], default=Scale.SMOKE.value)
    parser.add_argument("--mutants", help="numbers with commas; default: all")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument(
        "--state", type=Path, help="JSON file: mutants that it holds are not run again"
    )
    options = parser.parse_args()
    numbers = [int(n) for n in options.mutants.split(",")] if options.mutants else []
    mutants = json.loads(MUTANTS.read_text())
    state = _State(options.state)
    rows = []
    for mutant in mutants:
        if "sanitizer" in mutant or (numbers and mutant["number"] not in numbers):
            continue
        kills = state.known(mutant) or judge(mutant, options.seeds, Scale(options.scale))
        state.keep(kills)
        rows.append(kills)
    if options.write:
        PAGE.write_text(page(rows, options.seeds, options.scale))
    whole = all(row.as_expected and len(row.seeds_found) == options.seeds for row in rows)
    return 0 if whole else 1


class _State:
    """Results of an earlier call, so that a long run can be cut short and taken up again."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        known = path is not None and path.exists()
        self._rows: dict[str, Any] = json.loads(path.read_text()) if path and known else {}

    def known(self, mutant: dict[str, Any]) -> Kills | None:
        row = self._rows.get(str(mutant["number"]))
        if row is None:
            return None
        expected, names = set(mutant["names"]), set(row["names"])
        found = set(row["seeds_found"])
        return Kills(
            mutant["number"],
            mutant["fault"],
            expected,
            row["by_instance"],
            names,
            found,
            row["fastest_s"],
        )

    def keep(self, kills: Kills) -> None:
        self._rows[str(kills.number)] = {
            "by_instance": kills.by_instance,
            "names": sorted(kills.names),
            "seeds_found": sorted(kills.seeds_found),
            "fastest_s": kills.fastest_s,
        }
        if self._path is not None:
            self._path.write_text(json.dumps(self._rows, indent=1))


def parts() -> list[Part]:
    """Return every instance of the correctness benchmarks; the kinds of recorded rounds one by one."""
    found = []
    for suite in load_benchmarks(ROOT).values():
        if suite.name == "isolation":
            found += [
                Part(f"isolation {kind}", suite, suite.name, {"only": number})
                for number, kind in enumerate(ROUND_KINDS, 1)
            ]
        elif suite.kind is Kind.CORRECTNESS:
            found += [
                Part(name if name == suite.name else f"{suite.name} {name}", suite, name, {})
                for name in suite.instances
            ]
    return found


def judge(mutant: dict[str, Any], seeds: int, scale: Scale) -> Kills:
    """Run every instance on a mutant and say on a line what came of it."""
    kills = Kills(mutant["number"], mutant["fault"], set(mutant["names"]))
    for part in parts():
        for seed in range(seeds):
            _judge_once(kills, part, scale, seed)
    found = ", ".join(f"{name} {count}" for name, count in kills.by_instance.items() if count)
    names = ", ".join(sorted(kills.names)) or "nothing"
    mark = "ok" if kills.as_expected else "MISSED"
    sys.stdout.write(f"M{kills.number} {mark}: {names} [{found}] {kills.fastest_s:.2f} s\n")
    sys.stdout.flush()
    return kills


def _judge_once(kills: Kills, part: Part, scale: Scale, seed: int) -> None:
    name = part.name
    settings = load_settings()
    library = settings.build / "lib" / "faulty" / f"mutant_{kills.number:02d}.so"
    order = Order(
        benchmark=part.suite,
        instance=part.instance,
        scale=scale,
        overrides=part.overrides,
        seeds=(f"{seed + 1:016x}",),
        plain=False,
        require=JailLevel.FULL,
        control=False,
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        copy = copy_into(Path(folder), library)
        work = Path(folder) / "work"
        work.mkdir(mode=0o700)
        start = time.monotonic()
        result, _facts = run_file(copy, order, settings, work, _go_on)
    kills.by_instance.setdefault(name, 0)
    if result.verdict not in FAULTS_OF_LIBRARY:
        return
    kills.by_instance[name] += 1
    kills.seeds_found.add(seed)
    kills.fastest_s = min(kills.fastest_s, time.monotonic() - start)
    kills.names |= {f.name for f in result.findings if f.severity is Severity.REQUIRED}
    if not result.findings:
        kills.names.add(result.verdict.value)


def _go_on(_progress: Progress) -> bool:
    return True


def page(rows: list[Kills], seeds: int, scale: str) -> str:
    """Return the page."""
    columns = list(rows[0].by_instance)
    sanitized = [m for m in json.loads(MUTANTS.read_text()) if "sanitizer" in m]
    by_sanitizer = " and ".join(f"M{m['number']} ({m['sanitizer']})" for m in sanitized)
    lines = [
        "# Kill matrix",
        "",
        "Made by `python -m tools.kill_matrix --write`; do not edit. Which correctness suite refuses",
        "which mutant ([tests/faulty/mutants.json](../../tests/faulty/mutants.json)),",
        f"{scale} scale, {seeds} seeds each: a number says in how many seeds the suite refused the",
        "mutant, an empty cell in none. *Found as* are the names of the findings; bold ones are among",
        f"those that the mutant may be called. {by_sanitizer} are left to the sanitizers' builds",
        "([tests/sanitized/](../../tests/sanitized/CMakeLists.txt)).",
        "",
        "| mutant | fault | " + " | ".join(columns) + " | found as | fastest s |",
        "|---|---|" + "---|" * (len(columns) + 2),
    ]
    for row in rows:
        cells = [str(row.by_instance[c]) if row.by_instance[c] else "" for c in columns]
        names = [f"**{n}**" if n in row.expected else n for n in sorted(row.names)]
        fastest = f"{row.fastest_s:.2f}" if row.seeds_found else ""
        lines.append(
            f"| M{row.number} | {row.fault} | {' | '.join(cells)} | {', '.join(names)} | {fastest} |"
        )
    kills = [sum(1 for row in rows if row.by_instance[c]) for c in columns]
    alone = [
        sum(
            1
            for row in rows
            if row.by_instance[c] and sum(map(bool, row.by_instance.values())) == 1
        )
        for c in columns
    ]
    lines += [
        f"| | *mutants found* | {' | '.join(map(str, kills))} | | |",
        f"| | *found by this suite alone* | {' | '.join(map(str, alone))} | | |",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
