"""Measures which suite finds which mutant: `python -m tools.reports.kill_matrix`, as root, after a build.

A mutant is a library with one deliberate fault. The program runs every mutant of tests/faulty/mutants.json in the real
jail (sandbox) under the real referee, the program that plays and judges a session. `--write` writes
docs/reference/kill-matrix.md. The program makes two measurements:
 - The matrix: every instance of every correctness benchmark (suite) plays every mutant with `--seeds` seeds. A suite is
   worth its time only if it alone finds some mutant. A mutant that no suite finds shows that a test is missing.
 - The gate, i.e. all the instances that a library must pass, for `--gate-seeds` seeds: first the run that mutants.json
   names, then the other instances. The gate stops when a run refuses the mutant with an expected finding.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from runner.manifest import Benchmark, Kind, load_benchmarks
from runner.output_file import output_path, write_file
from runner.terms import Scale, Severity
from tools.reports import gate_run
from tools.reports.gate_run import FAULTS_OF_LIBRARY, ROOT, GateRun
from tools.reports.made import made_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.series import SeriesResult

PAGE = ROOT / "docs" / "reference" / "kill-matrix.md"
MUTANTS = ROOT / "tests" / "faulty" / "mutants.json"
# A round is a phase whose calls are recorded. These are the kinds of rounds, in the order of their numbers in
# benchmarks/isolation/bodies.cc.
ROUND_KINDS = (
    "mixed",
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
# The gate must find a mutant with this many of GATE_SEEDS seeds; one seed may miss a fault that needs two threads to
# overlap.
GATE_FOUND = 19
# A session takes about this long on two processors, even if its first transaction shows the fault. The limits of
# mutants.json count from the first transaction.
MEASURED_MIN_S = 5.0


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
    """The results of one mutant, as in the state file."""

    cells: dict[str, dict[str, list[str]]] = field(
        default_factory=dict
    )  # by column and seed: the names of the findings
    gate: dict[str, list[Any]] = field(
        default_factory=dict
    )  # by seed: the run that refused the mutant, and the seconds of all runs
    commits: list[str] = field(default_factory=list)  # commits of the runs

    def refusals(self, column: str) -> int:
        """Return the number of seeds with which the instance of a column refused the mutant."""
        return sum(bool(names) for names in self.cells[column].values())

    @property
    def names(self) -> set[str]:
        """Return the names of all findings with which the mutant was refused."""
        return {name for seeds in self.cells.values() for names in seeds.values() for name in names}

    @property
    def gate_found(self) -> int:
        """Return the number of seeds with which the gate refused the mutant with an expected finding."""
        return sum(bool(part) for part, _seconds in self.gate.values())


@dataclass(frozen=True, slots=True)
class Wanted:
    """How much to run: the number of seeds for each cell of the matrix and for the gate, and the scale."""

    seeds: int
    gate_seeds: int
    scale: Scale


def main() -> int:
    """Run the selected mutants; return 0 if each was found, as `is_found` says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seeds", type=int, default=1, help="number of seeds for each suite and mutant; default: 1"
    )
    parser.add_argument(
        "--gate-seeds",
        type=int,
        default=0,
        help="number of seeds for the gate, which is all correctness suites one after the other; default: 0",
    )
    parser.add_argument(
        "--scale",
        choices=[s.value for s in Scale],
        default=Scale.SMOKE.value,
        help="size of the suites; default: smoke",
    )
    parser.add_argument("--mutants", help="numbers of mutants, separated by commas; default: all")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument(
        "--state",
        type=output_path,
        help="JSON file that keeps the results, so that a later start continues from them",
    )
    options = parser.parse_args()
    numbers = {int(n) for n in options.mutants.split(",")} if options.mutants else None
    runnable = [one for one in json.loads(MUTANTS.read_text()) if "sanitizer" not in one]
    unknown = (numbers or set()) - {mutant["number"] for mutant in runnable}
    if unknown:
        parser.error(
            f"--mutants: mutant {min(unknown)} does not exist, or only a sanitizer finds it; "
            f"choose numbers of mutants in {MUTANTS.relative_to(ROOT)} that have no field `sanitizer`"
        )
    mutants = [one for one in runnable if numbers is None or one["number"] in numbers]
    wanted = Wanted(options.seeds, options.gate_seeds, Scale(options.scale))
    rows = _run(mutants, wanted, options.state)
    if options.write:
        PAGE.write_text(page(mutants, rows, wanted))
    return 0 if all(is_found(mutant, rows[mutant["number"]]) for mutant in mutants) else 1


def is_found(mutant: dict[str, Any], kills: Kills) -> bool:
    """Return whether the gate found a mutant within its limit with at least 19 of 20 seeds.

    If the gate was not run, return whether any instance found the mutant. Only expected findings count.
    """
    if not kills.gate:
        return bool(kills.names & set(mutant["names"]))
    misses = len(kills.gate) * (GATE_SEEDS - GATE_FOUND) // GATE_SEEDS
    return found_in_time(mutant, kills) >= len(kills.gate) - misses


def found_in_time(mutant: dict[str, Any], kills: Kills) -> int:
    """Return the number of seeds with which the gate found a mutant within its `limit_s` seconds (0: no limit).

    The measured seconds include the start of the jail and the judging. Therefore a limit below MEASURED_MIN_S counts as
    MEASURED_MIN_S.
    """
    return _found_within(max(mutant["limit_s"], MEASURED_MIN_S) if mutant["limit_s"] else 0, kills)


def _found_within(limit_s: float, kills: Kills) -> int:
    limit_s = limit_s or float("inf")
    return sum(bool(part) and seconds <= limit_s for part, seconds in kills.gate.values())


def _run(mutants: list[dict[str, Any]], wanted: Wanted, state: Path | None) -> dict[int, Kills]:
    known = json.loads(state.read_text()) if state is not None and state.is_file() else {}
    rows = {m["number"]: Kills(**known.get(str(m["number"]), {})) for m in mutants}
    started = time.monotonic()
    for done, mutant in enumerate(mutants, 1):
        kills = rows[mutant["number"]]
        for _ in _judge(mutant, kills, wanted):
            kills.commits = sorted({*kills.commits, gate_run.commit()})
            if state is not None:
                everything = known | {str(n): asdict(row) for n, row in rows.items()}
                write_file(state, json.dumps(everything))
        mark = "found" if is_found(mutant, kills) else "MISSED"
        names = ", ".join(sorted(kills.names)) or "none"
        gate = (
            f"; the gate found it with {kills.gate_found} of {len(kills.gate)} seeds"
            if kills.gate
            else ""
        )
        sys.stdout.write(
            f"{done} of {len(mutants)}, after {time.monotonic() - started:.0f} s: "
            f"mutant M{mutant['number']} {mark}; findings: {names}{gate}\n"
        )
        sys.stdout.flush()
    return rows


def _judge(mutant: dict[str, Any], kills: Kills, wanted: Wanted) -> Iterator[None]:
    """Run the missing cells and seeds; yield after each result that should be saved."""
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
    """Return the first run that refused the mutant with an expected finding ("" if none did), and the total seconds."""
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
    """Return the names of the required findings of a run that refused the mutant, or its verdict if it has none.

    If the run did not refuse the mutant, return nothing.
    """
    if result.verdict not in FAULTS_OF_LIBRARY:
        return set()
    names = {f.name for f in result.findings if f.severity is Severity.REQUIRED}
    return names or {result.verdict.value}


def _correctness() -> dict[str, Benchmark]:
    suites = load_benchmarks(ROOT)
    return {name: suite for name, suite in suites.items() if suite.kind is Kind.CORRECTNESS}


def parts(scale: Scale) -> list[Part]:
    """Return the columns of the matrix: every instance of the correctness benchmarks, and each kind of `isolation`."""
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
    """Return the runs of the gate; the run that mutants.json expects to find the mutant comes first."""
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


def differs_from_gate(mutant: dict[str, Any]) -> bool:
    """Return whether the run that mutants.json names for a mutant differs from all runs that a library must pass.

    Such a run has parameters of its own, or is a recorded run of a timed benchmark.
    """
    expected = mutant.get("gate") or {}
    return bool(expected.get("parameters")) or expected.get("record", False)


def only_elsewhere(mutant: dict[str, Any], kills: Kills, scale: Scale) -> bool:
    """Return whether a mutant was refused only by a run that is not a part of the gate.

    Columns of the matrix that play one kind of rounds are no parts of the gate either.
    """
    if not kills.gate or not differs_from_gate(mutant):
        return False
    own = [part.name for one in _correctness().values() for part in _instances(one, scale)]
    first = gate_parts(mutant, scale)[0].name
    by = {part for part, _seconds in kills.gate.values() if part}
    return by <= {first} and not any(c in kills.cells and kills.refusals(c) for c in own)


def _instances(suite: Benchmark, scale: Scale) -> list[Part]:
    return [Part(_title(suite, name), suite, name, {}, scale) for name in suite.instances]


def _title(suite: Benchmark, instance: str) -> str:
    return instance if instance == suite.name else f"{suite.name} {instance}"


def page(mutants: list[dict[str, Any]], rows: dict[int, Kills], wanted: Wanted) -> str:
    """Return the text of docs/reference/kill-matrix.md."""
    columns = [part.name for part in parts(wanted.scale)]
    sanitized = [m for m in json.loads(MUTANTS.read_text()) if "sanitizer" in m]
    by_sanitizer = " and ".join(f"M{m['number']} ({m['sanitizer']})" for m in sanitized)
    made = made_line(sorted({commit for row in rows.values() for commit in row.commits}))
    lines = [
        "# Kill matrix",
        "",
        f"Written by `python -m tools.reports.kill_matrix --write`; do not edit. {made}",
        "",
        "A mutant is a library with one deliberate fault",
        "([tests/faulty/mutants.json](../../tests/faulty/mutants.json)). A suite is one instance of a correctness",
        "benchmark. The benchmark `isolation` has nine kinds of rounds (recorded phases), and each kind counts as",
        "a suite of its own. Each suite played each mutant (number of",
        f"seeds: {wanted.seeds}, scale: {wanted.scale.value}). A cell is the number of seeds with which the suite",
        "refused the mutant, i.e. reported a fault; an empty cell means none. *Found as* lists the names of the",
        f"findings; the names that mutants.json expects are bold. The table leaves out {by_sanitizer},",
        "because only builds with the sanitizer in brackets find them",
        "([tests/sanitized/](../../tests/sanitized/CMakeLists.txt)).",
        "",
        "| mutant | fault | " + " | ".join(columns) + " | found as |",
        "|---|---|" + "---|" * (len(columns) + 1),
    ]
    for mutant in mutants:
        kills = rows[mutant["number"]]
        cells = [str(kills.refusals(c) or "") for c in columns]
        names = [f"**{n}**" if n in mutant["names"] else n for n in sorted(kills.names)]
        row = " | ".join(cells)
        lines.append(f"| M{mutant['number']} | {mutant['fault']} | {row} | {'; '.join(names)} |")
    found = [{c for c in columns if row.refusals(c)} for row in rows.values()]
    kills_of = [str(sum(c in row for row in found)) for c in columns]
    alone = [str(sum(row == {c} for row in found)) for c in columns]
    lines += [
        f"| | *mutants found* | {' | '.join(kills_of)} | |",
        f"| | *found by this suite alone* | {' | '.join(alone)} | |",
        "",
        *_gate_lines(mutants, rows, wanted.scale),
    ]
    return "\n".join(lines)


def _gate_lines(mutants: list[dict[str, Any]], rows: dict[int, Kills], scale: Scale) -> list[str]:
    elsewhere = [f"M{m['number']}" for m in mutants if only_elsewhere(m, rows[m["number"]], scale)]
    lines = [
        "## The gate, seed by seed",
        "",
        "The gate is the set of correctness suites that a library must pass. With each seed, a mutant first plays the",
        "run that mutants.json names for it, or the benchmark isolation if there is none. Then it plays the other",
        "instances of the gate, until one refuses it with an expected finding. *By* names the runs that did.",
        "*Slowest* is the longest time for one seed in seconds, including jail and judging, on a machine that also ran",
        "other programs. A seed counts as *refused* only if the",
        f"mutant is refused within the *limit*. A limit below {MEASURED_MIN_S:.0f} s counts as {MEASURED_MIN_S:.0f} s,",
        "because one session alone may take that long. *In the limit* counts the seeds with a time of at most the",
        "limit. A limit of 0 means that there is none.",
        "",
        f"The gate itself does not find these mutants: {', '.join(elsewhere) or 'none'}.",
        "Only the run that mutants.json names for them refuses them, and this run is not a part of the gate: it has",
        "other parameters, or is a recorded run of a timed benchmark.",
        "",
        "| mutant | seeds | refused | in the limit | by | slowest, s | limit, s |",
        "|---|---|---|---|---|---|---|",
    ]
    for mutant in mutants:
        gate = rows[mutant["number"]].gate
        if not gate:
            continue
        by = ", ".join(sorted({part for part, _seconds in gate.values() if part}))
        slowest = max(seconds for _part, seconds in gate.values())
        kills = rows[mutant["number"]]
        lines.append(
            f"| M{mutant['number']} | {len(gate)} | {found_in_time(mutant, kills)} "
            f"| {_found_within(mutant['limit_s'], kills)} | {by} | {slowest:.1f} | {mutant['limit_s']} |"
        )
    return [*lines, ""]


if __name__ == "__main__":
    raise SystemExit(main())
