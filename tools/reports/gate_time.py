"""Measures how long the gate takes: `python -m tools.reports.gate_time`, as root, after a build.

The gate is `keydrome check`: all correctness tests that a library must pass. GOALS says how long it may take. At smoke
scale, the smallest size, the program runs the gate for the reference libraries and for every library of the build's
lib/faulty. These are mutants (libraries with one deliberate fault), correct libraries that behave unusually, hostile
and faulty ones. At laptop scale, a larger size, the program runs the gate for the reference libraries only. `--write`
writes docs/reference/gate-time.md. Run the program alone on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from runner.catalogue import isolating_configurations
from runner.output_file import output_path, write_file
from runner.settings import load_settings
from runner.terms import Scale
from tools.reports.gate_run import ROOT
from tools.reports.made import made_line

PAGE = ROOT / "docs" / "reference" / "gate-time.md"
SEED = "0x6a7e"


@dataclass(frozen=True, slots=True)
class Goal:
    """How long the gate may take at a scale."""

    seconds: float
    only_right: bool  # the goal does not count for libraries that the gate refuses

    @property
    def text(self) -> str:
        """Return the goal as a part of a sentence."""
        whose = "a library that passes" if self.only_right else "each library, correct or faulty"
        return f"at most {self.seconds:.0f} s for {whose}"


GOALS = {Scale.SMOKE: Goal(60.0, only_right=False), Scale.LAPTOP: Goal(100.0, only_right=True)}


@dataclass(frozen=True, slots=True)
class Library:
    """A library to check.

    A structure, a data structure without transactions, also has a configuration, which says how they are added.
    """

    name: str
    file: str  # path below the build's lib/
    configuration: str | None = None
    is_reference: bool = True  # right, and not made for a test


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run of the gate."""

    verdict: str
    wall_s: float
    cpu_s: float  # CPU time of the command and of the descendants that it waited for
    findings: int  # number of findings that refuse the library
    not_run: int  # number of instances that the gate left out
    names: tuple[str, ...] = ()  # names of these findings; only in the state file

    def is_late(self, goal: Goal) -> bool:
        """Return whether the run took longer than the goal allows."""
        counts = self.verdict == "passed" or not goal.only_right
        return counts and self.wall_s > goal.seconds


# By scale and by name of the library.
Rows = dict[Scale, dict[str, Measurement]]


def libraries() -> list[Library]:
    """Return all libraries to check."""
    settings = load_settings()
    faulty = sorted((settings.build / "lib" / "faulty").glob("*.so"))
    return [
        *(Library(name, f"indexes/{name}.so") for name in ("berkeley", "global_lock", "lmdb")),
        *(
            Library(f"btree, {name}", "structures/btree.so", name)
            for name in isolating_configurations(settings)
        ),
        *(Library(file.stem, f"faulty/{file.name}", is_reference=False) for file in faulty),
    ]


def main() -> int:
    """Measure the selected libraries; return 0 if none took longer than its goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", nargs="+", help="names of libraries; default: all")
    parser.add_argument(
        "--scale",
        nargs="+",
        type=Scale,
        choices=list(GOALS),
        default=list(GOALS),
        help="size of the suites; default: smoke, and laptop for the reference libraries",
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument(
        "--state",
        type=output_path,
        help="JSON file that keeps the results, so that a later start continues from them",
    )
    options = parser.parse_args()
    existing = {one.name: one for one in libraries()}
    for name in options.libraries or []:
        if name not in existing:
            parser.error(
                f"no library is named {name}; the names are {', '.join(map(shlex.quote, existing))}"
            )
    measured = _read(options.state)
    rows: Rows = {}
    for scale in options.scale:
        known = measured.setdefault(scale, {})
        for one in _chosen(existing, options.libraries, scale):
            if one.name not in known:
                known[one.name] = measure(one, scale)
                _save(options.state, measured)
            row = rows.setdefault(scale, {})[one.name] = known[one.name]
            mark = (
                f"; TOO LONG: the goal is {GOALS[scale].text}" if row.is_late(GOALS[scale]) else ""
            )
            sys.stdout.write(
                f"{one.name}, {scale}: {row.verdict}, {row.wall_s:.1f} s, CPU {row.cpu_s:.1f} s{mark}\n"
            )
            sys.stdout.flush()
    if options.write:
        PAGE.write_text(page(rows, made_line()))
    late = [
        row for scale, some in rows.items() for row in some.values() if row.is_late(GOALS[scale])
    ]
    return 1 if late else 0


def _chosen(existing: dict[str, Library], names: list[str] | None, scale: Scale) -> list[Library]:
    if names is not None:
        return [existing[name] for name in names]
    return [one for one in existing.values() if one.is_reference or not GOALS[scale].only_right]


def _read(state: Path | None) -> Rows:
    known = json.loads(state.read_text()) if state is not None and state.is_file() else {}
    return {
        Scale(scale): {name: Measurement(**row) for name, row in some.items()}
        for scale, some in known.items()
    }


def _save(state: Path | None, measured: Rows) -> None:
    if state is None:
        return
    known = {s: {n: asdict(row) for n, row in some.items()} for s, some in measured.items()}
    write_file(state, json.dumps(known))


def measure(library: Library, scale: Scale) -> Measurement:
    """Run the gate once."""
    settings = load_settings()
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "check.json"
        command = [sys.executable, "-m", "cli", "check"]
        command += [
            str(settings.build / "lib" / library.file),
            "--scale",
            scale.value,
            "--seed",
            SEED,
        ]
        command += ["--json", str(answer)]
        command += ["--config", library.configuration] if library.configuration else []
        before, started = _cpu_of_children(), time.monotonic()
        ended = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "KEYDROME_VAR": folder},
            check=False,
            capture_output=True,
            text=True,
        )
        wall = time.monotonic() - started
        if not answer.is_file():
            raise SystemExit(
                f"{library.name}: `keydrome check` wrote no result, for this reason:\n{ended.stdout}{ended.stderr}"
            )
        result = json.loads(answer.read_text())
    required = [f["name"] for f in result["findings"] if f["severity"] == "required"]
    return Measurement(
        verdict=result["verdict"],
        wall_s=round(wall, 1),
        cpu_s=round(_cpu_of_children() - before, 1),
        findings=len(required),
        not_run=len(result["not_run"]),
        names=tuple(required),
    )


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def page(rows: Rows, made: str) -> str:
    """Return the text of docs/reference/gate-time.md."""
    lines = [
        "# The time of the gate",
        "",
        f"Written by `python -m tools.reports.gate_time --write`; do not edit. {made}",
        "",
        "The gate is `keydrome check`: all correctness benchmarks that a library must pass. Here it ran on a",
        f"machine with {os.cpu_count()} processors. Other work on the machine makes these times longer. The libraries",
        "after `btree` were made for tests (tests/faulty): they are wrong or hostile, or they are right but unusual.",
        "The columns:",
        "",
        "- *CPU*: processor time of the command, the referee (the process that judges) and the library, added up.",
        "- *Findings*: the number of faults for which the gate refuses the library; warnings do not count.",
        "- *Not run*: instances of suites that the gate left out after a hang, a crash or many findings.",
        "",
    ]
    for scale, some in rows.items():
        lines += _section(scale, some)
    return "\n".join(lines)


def _section(scale: Scale, rows: dict[str, Measurement]) -> list[str]:
    late = [name for name, row in rows.items() if row.is_late(GOALS[scale])]
    slowest = max(rows, key=lambda name: rows[name].wall_s)
    return [
        f"## {scale.value.capitalize()} scale",
        "",
        f"The goal: {GOALS[scale].text}.",
        f"{'These miss it: ' + ', '.join(late) if late else 'All libraries meet it'}. The slowest is {slowest}",
        f"with {rows[slowest].wall_s:.1f} s.",
        "",
        "| library | verdict | time, s | CPU, s | findings | not run |",
        "|---|---|---|---|---|---|",
        *(
            f"| {name} | {row.verdict} | {row.wall_s:.1f} | {row.cpu_s:.1f} | {row.findings} | {row.not_run} |"
            for name, row in rows.items()
        ),
        "",
    ]


if __name__ == "__main__":
    raise SystemExit(main())
