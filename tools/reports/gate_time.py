"""Measures how long the gate takes: `python -m tools.reports.gate_time`, as root, after a build.

The gate is `keydrome check` at smoke scale: all correctness tests that a library must pass. It must take at most a
minute for every library, right or wrong. The program runs it for right libraries, and for every library of the build's
lib/faulty: the mutants (libraries with one deliberate fault), the right libraries that behave unusually, the hostile
and the faulty ones. `--write` writes docs/reference/gate-time.md. Run it alone on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from runner.catalogue import isolating_configurations
from runner.output_file import output_path, write_file
from runner.settings import load_settings
from tools.reports.gate_run import ROOT
from tools.reports.made import made_line

PAGE = ROOT / "docs" / "reference" / "gate-time.md"
LIMIT_S = 60.0
SEED = "0x6a7e"


@dataclass(frozen=True, slots=True)
class Library:
    """A library to check. A structure, which has no transactions of its own, also has a configuration."""

    name: str
    file: str  # path below the build's lib/
    configuration: str | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run of the gate."""

    verdict: str
    wall_s: float
    cpu_s: float  # CPU time of the command and of the descendants that it waited for
    findings: int  # number of findings that refuse the library
    not_run: int  # number of instances that the gate left out
    names: tuple[str, ...] = ()  # names of these findings; only in the state file


def libraries() -> list[Library]:
    """Return all libraries to check."""
    settings = load_settings()
    faulty = sorted((settings.build / "lib" / "faulty").glob("*.so"))
    return [
        *(Library(name, f"indexes/{name}.so") for name in ("berkeley", "global_lock")),
        *(
            Library(f"btree, {name}", "structures/btree.so", name)
            for name in isolating_configurations(settings)
        ),
        *(Library(file.stem, f"faulty/{file.name}") for file in faulty),
    ]


def main() -> int:
    """Measure the selected libraries; return 0 if none took longer than the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", nargs="+", help="names of libraries; default: all")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument(
        "--state",
        type=output_path,
        help="JSON file with the results so far; they are not measured again",
    )
    options = parser.parse_args()
    state = options.state
    known = json.loads(state.read_text()) if state is not None and state.is_file() else {}
    measured = {name: Measurement(**row) for name, row in known.items()}
    wanted = options.libraries
    existing = {one.name: one for one in libraries()}
    for name in wanted or []:
        if name not in existing:
            parser.error(f"no library is named {name}; the names are {', '.join(existing)}")
    chosen = [one for name, one in existing.items() if wanted is None or name in wanted]
    for one in chosen:
        if one.name not in measured:
            measured[one.name] = measure(one)
            if state is not None:
                write_file(state, json.dumps({n: asdict(row) for n, row in measured.items()}))
        row = measured[one.name]
        mark = "" if row.wall_s <= LIMIT_S else "  TOO LONG"
        sys.stdout.write(
            f"{one.name}: {row.verdict}, {row.wall_s:.1f} s, CPU {row.cpu_s:.1f} s{mark}\n"
        )
        sys.stdout.flush()
    rows = {one.name: measured[one.name] for one in chosen}
    if options.write:
        PAGE.write_text(page(rows, made_line()))
    return 0 if all(row.wall_s <= LIMIT_S for row in rows.values()) else 1


def measure(library: Library) -> Measurement:
    """Run the gate once."""
    settings = load_settings()
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "check.json"
        command = [sys.executable, "-m", "cli", "check"]
        command += [str(settings.build / "lib" / library.file), "--scale", "smoke", "--seed", SEED]
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


def page(rows: dict[str, Measurement], made: str) -> str:
    """Return the text of docs/reference/gate-time.md."""
    late = [name for name, row in rows.items() if row.wall_s > LIMIT_S]
    slowest = max(rows, key=lambda name: rows[name].wall_s)
    lines = [
        "# The time of the gate",
        "",
        f"Written by `python -m tools.reports.gate_time --write`; do not edit. {made}",
        "",
        "The gate is `keydrome check`: all correctness benchmarks that a library must pass. Here it ran at smoke",
        f"scale on a machine with {os.cpu_count()} processors. It may take at most {LIMIT_S:.0f} s for a",
        "library, right or wrong.",
        f"Libraries that took longer: {', '.join(late) or 'none'}. The slowest is {slowest}",
        f"with {rows[slowest].wall_s:.1f} s. Other work on the machine makes these times longer. The columns:",
        "",
        "- *CPU*: processor time of the command, of the referee and of the jailed library.",
        "- *Findings*: the number of findings that refuse the library; warnings do not count.",
        "- *Not run*: instances of suites that the gate left out after a hang, a crash or many findings.",
        "",
        "| library | verdict | time, s | CPU, s | findings | not run |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {row.verdict} | {row.wall_s:.1f} | {row.cpu_s:.1f} | {row.findings} | {row.not_run} |"
        for name, row in rows.items()
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    raise SystemExit(main())
