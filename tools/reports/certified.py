"""Tests the checker, which judges recorded calls, for false alarms: `python -m tools.reports.certified`, as root.

Needs a build.

Plays the benchmark `isolation`, which records concurrent transactions, on correct libraries. Fresh sessions run in the
real jail (sandbox) under the real referee (the program that plays and judges a session), until the checker has
certified the requested number of transactions. To certify transactions, the checker finds a serial order of them that
gives every recorded result. A reported violation counts as a false alarm: either the checker or the library is wrong.
With `--state`, its report is kept. `--write` writes docs/reference/certified.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from runner.catalogue import isolating_configurations, load_configuration
from runner.manifest import load_benchmarks
from runner.output_file import output_path, write_file
from runner.settings import load_settings
from runner.terms import Scale, Verdict
from tools.reports import gate_run
from tools.reports.gate_run import FAULTS_OF_LIBRARY, ROOT, GateRun
from tools.reports.made import made_line

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "reference" / "certified.md"
TRANSACTIONS = 10_000_000


@dataclass(frozen=True, slots=True)
class Library:
    """A correct library, and its protocol (how it isolates transactions)."""

    name: str
    file: str  # path below the build's lib/
    protocol: str
    configuration: str | None = None


WHOLE = (
    Library("berkeley", "indexes/berkeley.so", "Berkeley DB: locks on pages"),
    Library("global_lock", "indexes/global_lock.so", "one lock for all indexes"),
    Library("lmdb", "indexes/lmdb.so", "LMDB: readers of versions, one writer"),
)


def libraries() -> list[Library]:
    """Return the correct libraries: three complete ones, and the B+-tree under every configuration that isolates."""
    settings = load_settings()
    bare = [
        Library(
            f"btree, {name}",
            "structures/btree.so",
            load_configuration(settings, name)["title"],
            name,
        )
        for name in isolating_configurations(settings)
    ]
    return [*WHOLE, *bare]


# Parameter values of the benchmark "isolation": few and many threads, short and long rounds. With each of them, the
# benchmark plays its nine kinds of rounds in turn. A round is a phase whose calls are recorded.
SHAPES = (
    {"threads": 4, "rounds": 18, "transactions": 1000},
    {"threads": 2, "rounds": 18, "transactions": 2000},
    {"threads": 8, "rounds": 18, "transactions": 500},
    {"threads": 16, "rounds": 9, "transactions": 400},
    {"threads": 3, "rounds": 90, "transactions": 120},
)


@dataclass(slots=True)
class Tally:
    """The totals of the runs (sessions) of one library."""

    runs: int = 0
    transactions: int = 0  # certified
    calls: int = 0
    undecided: int = 0  # runs that could not be judged
    alarms: int = 0
    seconds: float = 0.0


def main() -> int:
    """Run sessions until enough transactions are certified; return 0 if there was no false alarm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--transactions",
        type=int,
        default=TRANSACTIONS,
        help=f"number of transactions to certify; default: {TRANSACTIONS}",
    )
    parser.add_argument(
        "--state",
        type=output_path,
        help="JSON file that keeps the results, so that a later start continues from them; reports of false alarms "
        "are written to its folder",
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    tallies = _load(options.state)
    while sum(tally.transactions for tally in tallies.values()) < options.transactions:
        # All libraries get the same time. With equal numbers of runs, a slow library would delay the others.
        library = min(libraries(), key=lambda one: tallies[one.name].seconds)
        _run(library, tallies[library.name], options.state)
        _keep(tallies, options.state)
        _progress(tallies, options.transactions)
    sys.stdout.write("\n")
    if options.write:
        PAGE.write_text(page(tallies, made_line()))
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
        metrics = result.sessions[0].candidate.metrics
        tally.transactions += int(metrics["transactions_recorded"])
        tally.calls += int(metrics["calls"])
    elif result.verdict in FAULTS_OF_LIBRARY:
        tally.alarms += 1
        sys.stdout.write(
            f"\nUNEXPECTED: {library.name}, which should be correct, did not pass with seed {gate.seed} and parameters "
            f"{gate.overrides}: {result.reason}; find out whether the checker or the library is wrong, and fix it\n"
        )
        if state is not None:
            kept = state.with_name(f"{state.stem}-{library.name.replace(', ', '-')}-{gate.seed}")
            reports = [session.candidate.to_json() for session in result.sessions]
            write_file(kept.with_suffix(".report.json"), json.dumps(reports, indent=1))
    else:
        tally.undecided += 1
        sys.stdout.write(
            f"\nthis run does not count, so the program continues with another: {library.name}, seed {gate.seed}, "
            f"parameters {gate.overrides}: {result.reason}\n"
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
    rows = json.loads(state.read_text()) if state is not None and state.is_file() else {}
    return {one.name: Tally(**rows.get(one.name, {})) for one in libraries()}


def _keep(tallies: dict[str, Tally], state: Path | None) -> None:
    if state is not None:
        write_file(state, json.dumps({name: asdict(tally) for name, tally in tallies.items()}))


def page(tallies: dict[str, Tally], made: str) -> str:
    """Return the text of docs/reference/certified.md."""
    shapes = "\n".join(
        f"- {s['threads']} threads, {s['rounds']} rounds, {s['transactions']} transactions in each thread and round"
        for s in SHAPES
    )
    lines = [
        "# Certified runs of correct libraries",
        "",
        f"Written by `python -m tools.reports.certified --write`; do not edit. {made}",
        "",
        "The checker judges recorded calls to a library. This page shows that it raises no false alarms.",
        (
            "Correct libraries played the benchmark `isolation` in the real jail (a sandbox), under the real referee,\n"
            "the program that plays and judges a session. The benchmark consists of rounds, which are phases with\n"
            "fresh indexes. All calls of a round are recorded and judged. Each run of a library had another seed.\n"
            "The columns:\n"
            "\n"
            "- *Protocol*: how the library isolates transactions."
        ),
        "- *Transactions certified*: the checker found a serial order of the transactions that respects real time",
        "  and gives every result.",
        "- *Not judged*: runs that the checker could not certify, although it found no violation.",
        "- *False alarms*: runs in which the checker or another judge reported a violation.",
        "",
        (
            "The runs used the following five sets of parameters in turn. The benchmark has nine kinds of rounds, and\n"
            "every run plays them in turn. Rounds of most kinds make the given number of transactions; those of the\n"
            f"kind `wide` make half as many, and those of the kind `large` five times as many.\n\n{shapes}"
        ),
        "",
        "| library | protocol | runs | transactions certified | calls | not judged | false alarms |",
        "|---|---|---|---|---|---|---|",
    ]
    for library in libraries():
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
