"""Times every benchmark instance at laptop scale: `python -m tools.reports.laptop_scale --write`, as root.

An instance is a set of parameter values of a benchmark; laptop scale is its middle size. The program runs one session
(repetition) of each instance, with checks, on correct libraries in the real jail (sandbox). A session that takes longer
than TIMEOUT_SECONDS is stopped and marked. The program writes docs/reference/laptop-scale.md. The times tell users how
long they wait. They do not rank libraries, because each time is from one session, and the machine may be busy.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import asdict, dataclass

from runner.contract import Cancelled
from runner.machine import machine_facts
from runner.manifest import Benchmark, load_benchmarks
from runner.output_file import output_path, write_file
from runner.terms import Scale, Verdict
from tools.reports import gate_run
from tools.reports.gate_run import ROOT, GateRun
from tools.reports.made import made_line

PAGE = ROOT / "docs" / "reference" / "laptop-scale.md"
# A session at laptop scale should take at most 20 s on two idle processors. The limit is twice as long, because the
# machine may be busy.
TIMEOUT_SECONDS = 40.0
SEED = "6c6170746f700001"


@dataclass(frozen=True, slots=True)
class Library:
    """A correct library that is timed.

    A structure, a data structure without transactions, also has a configuration, which says how they are added.
    """

    name: str
    file: str  # path below the build's lib/
    configuration: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """The verdict and duration of a session; `verdict` is "" if the session was stopped."""

    verdict: str
    seconds: float
    reason: str = ""

    @property
    def is_wrong(self) -> bool:
        """Return whether the session ended with another verdict than passed, though the library is correct."""
        return self.verdict not in {"", Verdict.PASSED.value}

    def __str__(self) -> str:
        """Return the text of the table's cell."""
        if not self.verdict:
            return f"stopped at the limit of {TIMEOUT_SECONDS:.0f} s"
        seconds = f"{self.seconds:.1f} s"
        if not self.is_wrong:
            return seconds
        return f"{self.verdict.replace('_', ' ')} after {seconds}: {self.reason}"


LIBRARIES = (
    Library("global_lock", "indexes/global_lock.so"),
    Library("btree, rw", "structures/btree.so", "rw"),
    Library("btree, exclusive", "structures/btree.so", "exclusive"),
    Library("berkeley", "indexes/berkeley.so"),
)


def main() -> int:
    """Time every instance; return 0 if every session passed or was stopped as too slow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--benchmark",
        action="append",
        default=[],
        help="only this benchmark; give the option once for each",
    )
    parser.add_argument(
        "--state",
        type=output_path,
        help="JSON file that keeps the results, so that a later start continues from them",
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    catalogue = load_benchmarks(ROOT)
    if unknown := set(options.benchmark) - set(catalogue):
        parser.error(
            f"there is no benchmark {', '.join(sorted(unknown))}; `keydrome list` shows all"
        )
    chosen = [
        benchmark
        for benchmark in catalogue.values()
        if not options.benchmark or benchmark.name in options.benchmark
    ]
    state = options.state
    known = json.loads(state.read_text()) if state and state.is_file() else {}
    rows = {name: [Cell(**cell) for cell in cells] for name, cells in known.items()}
    for benchmark in chosen:
        for instance in benchmark.instances:
            name = f"{benchmark.name}/{instance}"
            if name not in rows:
                rows[name] = [_cell(benchmark, instance, library) for library in LIBRARIES]
                cells = zip(LIBRARIES, rows[name], strict=True)
                listed = "; ".join(f"{library.name}: {cell}" for library, cell in cells)
                sys.stdout.write(f"{name}: {listed}\n")
                sys.stdout.flush()
            if state:
                everything = {
                    name: [asdict(cell) for cell in cells] for name, cells in rows.items()
                }
                write_file(state, json.dumps(everything))
    if options.write:
        PAGE.write_text(page(rows), encoding="utf-8")
    return 1 if any(cell.is_wrong for cells in rows.values() for cell in cells) else 0


def _cell(benchmark: Benchmark, instance: str, library: Library) -> Cell:
    scales = benchmark.instance(instance).scales
    scale = Scale.LAPTOP if Scale.LAPTOP in scales else next(iter(scales))
    began = time.monotonic()
    try:
        result = gate_run.run(
            GateRun(
                library.file,
                benchmark,
                instance,
                scale,
                SEED,
                configuration=library.configuration,
            ),
            timeout_seconds=TIMEOUT_SECONDS,
        )
    except Cancelled:
        return Cell("", time.monotonic() - began)
    return Cell(result.verdict.value, time.monotonic() - began, result.reason)


def page(rows: dict[str, list[Cell]]) -> str:
    """Return the text of docs/reference/laptop-scale.md."""
    machine = machine_facts()["class"]
    lines = [
        "# Every instance at laptop scale",
        "",
        f"Written by `python -m tools.reports.laptop_scale --write`; do not edit. {made_line()}",
        "An instance is a set of parameter values of a benchmark. A column stands for a library, or for a structure",
        "and its configuration. A cell is the time of one session (one repetition of the instance with the library)",
        f"from start to verdict, with checks. A session that took more than {TIMEOUT_SECONDS:.0f} s was stopped.",
        "",
        f"Machine: {machine}, load average {os.getloadavg()[0]:.1f} at the end. The times tell users how long they",
        "wait. To rank libraries, use `keydrome compare`, because these are times of single sessions.",
        "",
        f"| instance | {' | '.join(library.name for library in LIBRARIES)} |",
        "|---|" + "---:|" * len(LIBRARIES),
        *(f"| {name} | {' | '.join(map(str, cells))} |" for name, cells in rows.items()),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
