"""How much of what known-good libraries did was certified: `python -m tools.certified`, as root, after a build.

Plays recorded rounds of many shapes with fresh seeds on libraries that are right, through the real referee and jail,
until the checker has certified as many transactions as asked for, and writes docs/reference/certified.md. An accusation
is a false alarm: the checker's fault, or that of a library that is not as right as we think. Its report is kept.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from runner.contract import Scale, Verdict
from runner.manifest import load_benchmarks
from tools import gate_run
from tools.gate_run import FAULTS_OF_LIBRARY, ROOT, GateRun

PAGE = ROOT / "docs" / "reference" / "certified.md"
TRANSACTIONS = 10_000_000


@dataclass(frozen=True, slots=True)
class Library:
    """A library that is right, and by which protocol."""

    name: str
    file: str  # below the build's lib/
    protocol: str
    configuration: str | None = None


LIBRARIES = (
    Library("berkeley", "indexes/berkeley.so", "Berkeley DB: locks on pages"),
    Library("global_lock", "indexes/global_lock.so", "one lock for everything"),
    Library(
        "btree, exclusive", "structures/btree.so", "one transaction at a time an index", "exclusive"
    ),
    Library("btree, rw", "structures/btree.so", "two-phase locking of whole indexes", "rw"),
    Library("btree, gap", "structures/btree.so", "two-phase locking of keys and gaps", "gap"),
    Library("btree, serial", "structures/btree.so", "one transaction at a time a range", "serial"),
    Library("btree, occ", "structures/btree.so", "optimistic, validation at commit", "occ"),
    Library("btree, mvcc", "structures/btree.so", "snapshots, validation at commit", "mvcc"),
)
# Of the benchmark "isolation", whose nine kinds of rounds take turns: few threads and many, short rounds and long ones.
SHAPES = (
    {"threads": 4, "rounds": 18, "transactions": 1000},
    {"threads": 2, "rounds": 18, "transactions": 2000},
    {"threads": 8, "rounds": 18, "transactions": 500},
    {"threads": 16, "rounds": 9, "transactions": 400},
    {"threads": 3, "rounds": 90, "transactions": 120},
)


@dataclass(slots=True)
class Tally:
    """What the runs of one library came to."""

    runs: int = 0
    transactions: int = 0  # certified
    calls: int = 0
    undecided: int = 0  # runs that could not be judged
    alarms: int = 0
    seconds: float = 0.0


def main() -> int:
    """Go on until enough is certified; 0 without a false alarm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transactions", type=int, default=TRANSACTIONS)
    parser.add_argument("--state", type=Path, help="JSON file to go on from; alarms lie beside it")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    tallies = _load(options.state)
    while sum(tally.transactions for tally in tallies.values()) < options.transactions:
        # All get the same time: a slow library that holds the others up would show less.
        library = min(LIBRARIES, key=lambda one: tallies[one.name].seconds)
        _run(library, tallies[library.name], options.state)
        _keep(tallies, options.state)
        _progress(tallies, options.transactions)
    sys.stdout.write("\n")
    if options.write:
        PAGE.write_text(page(tallies, gate_run.commit()))
    return 1 if any(tally.alarms for tally in tallies.values()) else 0


def _run(library: Library, tally: Tally, state: Path | None) -> None:
    start = time.monotonic()
    gate = GateRun(
        library=library.file,
        suite=load_benchmarks(ROOT)["isolation"],
        instance="isolation",
        scale=Scale.PAPER,
        seed=f"{tally.runs + 1:016x}",
        overrides=SHAPES[tally.runs % len(SHAPES)],
        configuration=library.configuration,
    )
    result = gate_run.run(gate)
    tally.runs += 1
    if result.verdict is Verdict.PASSED:
        metrics = result.sessions[0].candidate["metrics"]
        tally.transactions += int(metrics["transactions_recorded"])
        tally.calls += int(metrics["calls"])
    elif result.verdict in FAULTS_OF_LIBRARY:
        tally.alarms += 1
        sys.stdout.write(
            f"\nFALSE ALARM: {library.name}, seed {gate.seed}, {gate.overrides}: {result.reason}\n"
        )
        if state is not None:
            kept = state.with_name(f"{state.stem}-{library.name.replace(', ', '-')}-{gate.seed}")
            reports = [session.candidate for session in result.sessions]
            kept.with_suffix(".report.json").write_text(json.dumps(reports, indent=1))
    else:
        tally.undecided += 1
        sys.stdout.write(
            f"\nnot judged: {library.name}, seed {gate.seed}, {gate.overrides}: {result.reason}\n"
        )
    tally.seconds += time.monotonic() - start


def _progress(tallies: dict[str, Tally], wanted: int) -> None:
    done = sum(tally.transactions for tally in tallies.values())
    alarms = sum(tally.alarms for tally in tallies.values())
    seconds = sum(tally.seconds for tally in tallies.values())
    sys.stdout.write(
        f"\r{done:,} of {wanted:,} transactions certified, {alarms} false alarms, {seconds:.0f} s "
    )
    sys.stdout.flush()


def _load(state: Path | None) -> dict[str, Tally]:
    rows = json.loads(state.read_text()) if state is not None and state.exists() else {}
    return {one.name: Tally(**rows.get(one.name, {})) for one in LIBRARIES}


def _keep(tallies: dict[str, Tally], state: Path | None) -> None:
    if state is not None:
        state.write_text(json.dumps({name: asdict(tally) for name, tally in tallies.items()}))


def page(tallies: dict[str, Tally], commit: str) -> str:
    """Return the page."""
    shapes = "; ".join(
        f"{s['threads']} threads, {s['rounds']} rounds of up to {s['transactions']} transactions each"
        for s in SHAPES
    )
    lines = [
        "# What was certified",
        "",
        f"Made by `python -m tools.certified --write` at commit {commit}; do not edit. Libraries that are right, by",
        "different protocols, played recorded rounds (benchmarks/isolation) through referee and jail, every run with a",
        "seed of its own. *Certified* is a transaction of a run for which a serial order that respects real time was",
        "found and replayed. A *false alarm* is a run in which the checker or another judge accused the library; *not",
        "judged* one that it could neither accuse nor certify. (A plus sign: the commit with local changes.)",
        "",
        f"Shapes, in turn: {shapes}. The nine kinds of rounds take turns in each.",
        "",
        "| library | protocol | runs | transactions certified | calls | not judged | false alarms |",
        "|---|---|---|---|---|---|---|",
    ]
    for library in LIBRARIES:
        lines.append(_row(library.name, library.protocol, tallies[library.name]))
    total = Tally(
        *(
            sum(getattr(tally, name) for tally in tallies.values())
            for name in ("runs", "transactions", "calls", "undecided", "alarms", "seconds")
        )
    )
    return "\n".join([*lines, _row("*all*", "", total), ""])


def _row(name: str, protocol: str, tally: Tally) -> str:
    return (
        f"| {name} | {protocol} | {tally.runs} | {tally.transactions:,} | {tally.calls:,} "
        f"| {tally.undecided} | {tally.alarms} |"
    )


if __name__ == "__main__":
    raise SystemExit(main())
