"""Which suite finds which mutant: `python -m tools.kill_matrix`, as root, after a build.

Runs every mutant of tests/faulty/mutants.json through the real referee and jail and writes
docs/reference/kill-matrix.md. *Cells*: every instance of the correctness benchmarks once, with `--seeds` seeds. A suite
that finds nothing alone is not worth its time; a mutant that nothing finds is a hole in the gate. *The gate*: with
`--gate-seeds` seeds, the run that mutants.json names and then the other instances, until one refuses the mutant under a
name that it may be called.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.contract import Scale, Severity
from runner.manifest import Benchmark, Kind, load_benchmarks
from tools import gate_run
from tools.gate_run import FAULTS_OF_LIBRARY, ROOT, GateRun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.series import SeriesResult

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
GATE_SEEDS = 20
GATE_FOUND = 19  # of GATE_SEEDS; a fault that needs two threads to meet may escape one seed


@dataclass(frozen=True, slots=True)
class Part:
    """One column of the matrix, or one run of the gate."""

    name: str
    suite: Benchmark
    instance: str
    overrides: dict[str, int]
    scale: Scale
    record: bool = False


@dataclass(slots=True)
class Kills:
    """What was found out about one mutant; all of it goes to the state file."""

    cells: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # by column and seed
    gate: dict[str, list[Any]] = field(default_factory=dict)  # by seed: who refused it, seconds
    commits: list[str] = field(default_factory=list)  # on which it ran

    def refusals(self, column: str) -> int:
        """Return in how many seeds an instance refused the mutant."""
        return sum(bool(names) for names in self.cells[column].values())

    @property
    def names(self) -> set[str]:
        """Return all names under which it was refused."""
        return {name for seeds in self.cells.values() for names in seeds.values() for name in names}

    @property
    def gate_found(self) -> int:
        """Return in how many seeds the gate refused it under one of its names."""
        return sum(bool(part) for part, _seconds in self.gate.values())


@dataclass(frozen=True, slots=True)
class Wanted:
    """How much to run."""

    seeds: int
    gate_seeds: int
    scale: Scale


def main() -> int:
    """Run what was asked for; 0 when every mutant was found under one of its names, in the gate 19 times of 20."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="of each cell; default: 1")
    parser.add_argument("--gate-seeds", type=int, default=0, help="of the gate; default: none")
    parser.add_argument("--scale", choices=[s.value for s in Scale], default=Scale.SMOKE.value)
    parser.add_argument("--mutants", help="numbers with commas; default: all")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument("--state", type=Path, help="JSON file: what it holds is not run again")
    options = parser.parse_args()
    numbers = {int(n) for n in options.mutants.split(",")} if options.mutants else None
    mutants = [
        mutant
        for mutant in json.loads(MUTANTS.read_text())
        if "sanitizer" not in mutant and (numbers is None or mutant["number"] in numbers)
    ]
    wanted = Wanted(options.seeds, options.gate_seeds, Scale(options.scale))
    rows = _run(mutants, wanted, options.state)
    if options.write:
        PAGE.write_text(page(mutants, rows, wanted))
    return 0 if all(is_found(mutant, rows[mutant["number"]]) for mutant in mutants) else 1


def is_found(mutant: dict[str, Any], kills: Kills) -> bool:
    """Say whether the gate found a mutant in nearly all seeds; without its seeds, whether any instance did.

    Either way under one of the names that the mutant may be called.
    """
    if not kills.gate:
        return bool(kills.names & set(mutant["names"]))
    misses = len(kills.gate) * (GATE_SEEDS - GATE_FOUND) // GATE_SEEDS
    return kills.gate_found >= len(kills.gate) - misses


def _run(mutants: list[dict[str, Any]], wanted: Wanted, state: Path | None) -> dict[int, Kills]:
    known = json.loads(state.read_text()) if state is not None and state.exists() else {}
    rows = {m["number"]: Kills(**known.get(str(m["number"]), {})) for m in mutants}
    started = time.monotonic()
    for done, mutant in enumerate(mutants, 1):
        kills = rows[mutant["number"]]
        for _ in _judge(mutant, kills, wanted):
            kills.commits = sorted({*kills.commits, gate_run.commit()})
            if state is not None:
                everything = known | {str(n): asdict(row) for n, row in rows.items()}
                state.write_text(json.dumps(everything))
        mark = "ok" if is_found(mutant, kills) else "MISSED"
        names = ", ".join(sorted(kills.names)) or "nothing"
        sys.stdout.write(
            f"{done} of {len(mutants)}, {time.monotonic() - started:.0f} s: M{mutant['number']} {mark}: {names};"
            f" gate {kills.gate_found} of {len(kills.gate)}\n"
        )
        sys.stdout.flush()
    return rows


def _judge(mutant: dict[str, Any], kills: Kills, wanted: Wanted) -> Iterator[None]:
    """Run what is not known yet; yields after each piece that is worth keeping."""
    for part in parts(wanted.scale):
        seeds = kills.cells.setdefault(part.name, {})
        for seed in map(str, range(1, wanted.seeds + 1)):
            if seed not in seeds:
                seeds[seed] = sorted(_refusals(_play(mutant, part, seed)))
                yield
    for seed in map(str, range(1, wanted.gate_seeds + 1)):
        if seed not in kills.gate:
            kills.gate[seed] = _gate(mutant, wanted.scale, seed)
            yield


def _gate(mutant: dict[str, Any], scale: Scale, seed: str) -> list[Any]:
    """Return the name of the run that refused the mutant rightly ("": none did), and the seconds that it took."""
    start = time.monotonic()
    for part in gate_parts(mutant, scale):
        if _refusals(_play(mutant, part, seed)) & set(mutant["names"]):
            return [part.name, time.monotonic() - start]
    return ["", time.monotonic() - start]


def _play(mutant: dict[str, Any], part: Part, seed: str) -> SeriesResult:
    return gate_run.run(
        GateRun(
            library=f"faulty/mutant_{mutant['number']:02d}.so",
            suite=part.suite,
            instance=part.instance,
            scale=part.scale,
            seed=f"{int(seed):016x}",
            overrides=part.overrides,
            record=part.record,
        )
    )


def _refusals(result: SeriesResult) -> set[str]:
    """Return the names under which a run refused the mutant; how it ended, when there is no other."""
    if result.verdict not in FAULTS_OF_LIBRARY:
        return set()
    names = {f.name for f in result.findings if f.severity is Severity.REQUIRED}
    return names or {result.verdict.value}


def _correctness() -> dict[str, Benchmark]:
    suites = load_benchmarks(ROOT)
    return {name: suite for name, suite in suites.items() if suite.kind is Kind.CORRECTNESS}


def parts(scale: Scale) -> list[Part]:
    """Return every instance of the correctness benchmarks; the kinds of recorded rounds one by one."""
    found = []
    for suite in _correctness().values():
        if suite.name == "isolation":
            found += [
                Part(f"isolation {kind}", suite, suite.name, {"only": number}, scale)
                for number, kind in enumerate(ROUND_KINDS, 1)
            ]
        else:
            found += _instances(suite, scale)
    return found


def gate_parts(mutant: dict[str, Any], scale: Scale) -> list[Part]:
    """Return the runs of the gate, those first that are expected to find the mutant."""
    expected = mutant.get("gate") or {}
    suite = load_benchmarks(ROOT)[expected.get("benchmark", "isolation")]
    instance = expected.get("instance", suite.name)
    timeout_ms = expected.get("phase_timeout_ms")
    if timeout_ms is not None:
        limits = {s: replace(own, phase_timeout_ms=timeout_ms) for s, own in suite.limits.items()}
        suite = replace(suite, limits=limits)
    parameters = expected.get("parameters", {})
    record = expected.get("record", False)
    title = _title(suite, instance) + (", recorded" if record else "")
    first = Part(title, suite, instance, parameters, scale, record)
    others = [part for one in _correctness().values() for part in _instances(one, scale)]
    return [first, *(part for part in others if part != first)]


def _instances(suite: Benchmark, scale: Scale) -> list[Part]:
    return [Part(_title(suite, name), suite, name, {}, scale) for name in suite.instances]


def _title(suite: Benchmark, instance: str) -> str:
    return instance if instance == suite.name else f"{suite.name} {instance}"


def page(mutants: list[dict[str, Any]], rows: dict[int, Kills], wanted: Wanted) -> str:
    """Return the page."""
    columns = [part.name for part in parts(wanted.scale)]
    sanitized = [m for m in json.loads(MUTANTS.read_text()) if "sanitizer" in m]
    by_sanitizer = " and ".join(f"M{m['number']} ({m['sanitizer']})" for m in sanitized)
    commits = ", ".join(sorted({commit for row in rows.values() for commit in row.commits}))
    lines = [
        "# Kill matrix",
        "",
        f"Made by `python -m tools.kill_matrix --write` on commit {commits}; do not edit. Which correctness suite",
        "refuses which mutant ([tests/faulty/mutants.json](../../tests/faulty/mutants.json)), at",
        f"{wanted.scale.value} scale, with {_count(wanted.seeds, 'seed')} for each cell: a number says in how many",
        "the suite refused the mutant, an empty cell in none. *Found as* are the names of the findings; bold ones are",
        f"among those that the mutant may be called. {by_sanitizer} are left to the sanitizers' builds",
        "([tests/sanitized/](../../tests/sanitized/CMakeLists.txt)). (A plus sign: the commit with local changes.)",
        "",
        "| mutant | fault | " + " | ".join(columns) + " | found as |",
        "|---|---|" + "---|" * (len(columns) + 1),
    ]
    for mutant in mutants:
        kills = rows[mutant["number"]]
        cells = [str(kills.refusals(c) or "") for c in columns]
        names = [f"**{n}**" if n in mutant["names"] else n for n in sorted(kills.names)]
        row = " | ".join(cells)
        lines.append(f"| M{mutant['number']} | {mutant['fault']} | {row} | {', '.join(names)} |")
    found = [{c for c in columns if row.refusals(c)} for row in rows.values()]
    kills_of = [str(sum(c in row for row in found)) for c in columns]
    alone = [str(sum(row == {c} for row in found)) for c in columns]
    lines += [
        f"| | *mutants found* | {' | '.join(kills_of)} | |",
        f"| | *found by this suite alone* | {' | '.join(alone)} | |",
        "",
        *_gate_lines(mutants, rows),
    ]
    return "\n".join(lines)


def _gate_lines(mutants: list[dict[str, Any]], rows: dict[int, Kills]) -> list[str]:
    lines = [
        "## The gate, seed by seed",
        "",
        "The run that mutants.json names (else recorded rounds), then the other instances, until one refuses the",
        "mutant under a name that it may be called. *Seconds* are of whole sessions, jail and judging included, on a",
        "machine that did other work too; *limit* is what isolation itself may take.",
        "",
        "| mutant | seeds | refused | by | slowest s | limit s |",
        "|---|---|---|---|---|---|",
    ]
    for mutant in mutants:
        gate = rows[mutant["number"]].gate
        if not gate:
            continue
        by = ", ".join(sorted({part for part, _seconds in gate.values() if part}))
        slowest = max(seconds for _part, seconds in gate.values())
        lines.append(
            f"| M{mutant['number']} | {len(gate)} | {rows[mutant['number']].gate_found} | {by} "
            f"| {slowest:.1f} | {mutant['limit_s']} |"
        )
    return [*lines, ""]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


if __name__ == "__main__":
    raise SystemExit(main())
