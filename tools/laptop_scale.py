"""Every instance at laptop scale on libraries that are right: `python -m tools.laptop_scale --write`, as root.

One session each, checks and all, in the real jail; what takes longer than a library's patience is stopped and told as
such. Writes docs/reference/laptop-scale.md. The times say how long somebody waits, and nothing about who is faster:
sessions of one seed, one after the other, on a machine that may be busy.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from runner.contract import Cancelled, Scale, Verdict
from runner.machine import machine_facts
from runner.manifest import Benchmark, load_benchmarks
from tools import gate_run
from tools.gate_run import ROOT, GateRun

PAGE = ROOT / "docs" / "reference" / "laptop-scale.md"
# A session at laptop scale is to take at most 20 s on two processors; here others may use them too.
PATIENCE_SECONDS = 40.0
SEED = "6c6170746f700001"


@dataclass(frozen=True, slots=True)
class Library:
    """A library that is right."""

    name: str
    file: str  # below the build's lib/
    configuration: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """How a session ended, and after how long; `verdict` is "" where patience ended first."""

    verdict: str
    seconds: float
    reason: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether a library that is right was found wrong or could not be judged."""
        return self.verdict not in {"", Verdict.PASSED.value}

    def __str__(self) -> str:
        """Return the text of the table's cell."""
        if not self.verdict:
            return f"over {PATIENCE_SECONDS:.0f} s"
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
    """Run all; 0 when every session passed or was only slow, 1 when one was found wrong or could not be judged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--benchmark", action="append", default=[], help="only this; repeatable")
    parser.add_argument("--state", type=Path, help="keeps what is done, to go on from")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    catalogue = load_benchmarks(ROOT)
    if unknown := set(options.benchmark) - set(catalogue):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")
    chosen = [
        benchmark
        for benchmark in catalogue.values()
        if not options.benchmark or benchmark.name in options.benchmark
    ]
    state = options.state
    known = json.loads(state.read_text()) if state and state.exists() else {}
    rows = {name: [Cell(**cell) for cell in cells] for name, cells in known.items()}
    for benchmark in chosen:
        for instance in benchmark.instances:
            name = f"{benchmark.name}/{instance}"
            if name not in rows:
                rows[name] = [_cell(benchmark, instance, library) for library in LIBRARIES]
                sys.stdout.write(f"{name}: {' | '.join(map(str, rows[name]))}\n")
                sys.stdout.flush()
            if state:
                everything = {
                    name: [asdict(cell) for cell in cells] for name, cells in rows.items()
                }
                state.write_text(json.dumps(everything))
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
            patience_seconds=PATIENCE_SECONDS,
        )
    except Cancelled:
        return Cell("", time.monotonic() - began)
    return Cell(result.verdict.value, time.monotonic() - began, result.reason)


def page(rows: dict[str, list[Cell]]) -> str:
    """Return the page."""
    machine = machine_facts()["class"]
    today = datetime.now(UTC).date()
    lines = [
        "# Every instance at laptop scale",
        "",
        "Written by `python -m tools.laptop_scale --write`; not edited by hand. One session each, with checks, from",
        f"start to verdict; what took more than {PATIENCE_SECONDS:.0f} s was stopped. {today}, {machine}, load average",
        f"{os.getloadavg()[0]:.1f} at the end: how long one waits, not who is faster (`keydrome compare` says that).",
        "",
        f"| instance | {' | '.join(library.name for library in LIBRARIES)} |",
        "|---|" + "---:|" * len(LIBRARIES),
        *(f"| {name} | {' | '.join(map(str, cells))} |" for name, cells in rows.items()),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
