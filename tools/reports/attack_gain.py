"""Measures what the attacks of tests/faulty/attacks gain over an honest library.

Usage, as root, after a build:
    .venv/bin/python -m tools.reports.attack_gain [hits|serial|shared] [--rounds N] [-p NAME=VALUE ...]

An attack is a library that cheats to be faster. In each round every library plays the same operations once, in random
order. The result is a table in Markdown with the verdict on each attack, and its gain. The gain is the time of the
honest library divided by the time of the attack: median, smallest and largest value of the rounds.
docs/explanation/security.md has the tables.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from cli.local_jail import prepared
from runner.execute import run_file
from runner.manifest import load_benchmarks
from runner.request import Request
from runner.settings import load_settings
from runner.terms import JailLevel, Scale

if TYPE_CHECKING:
    from runner.report import Report
    from runner.settings import Settings

# The player, the program that calls the library, gets its operations through shared memory, the ring. Each payload
# begins with a tag, a unique number. For each call the player reports a word: result code, tag and four bytes of text.
READS = {
    "looks_ahead": "reads the next gets in shared memory and searches for eight keys at once",
    "skips_unmarked": "skips gets whose record the player neither keeps nor reports, as shared memory shows",
    "skips_by_address": "skips gets whose buffer and stack frame have the usual addresses",
    "skips_by_rhythm": "skips gets that come soon after the beginning of the transaction",
    "skips_new_keys": "skips a thread's first get of each key that has not changed",
    "forgets_texts": "keeps the tags of payloads and forgets their texts",
    "forges_words": "leaves records empty and writes the words of the right results itself",
}
LOOKUPS = {"threads": 1, "records": 200_000, "lookups_per_thread": 400_000}


@dataclass(frozen=True)
class Comparison:
    """Attacks, each with what it does, and the honest library and the operations with which they are compared."""

    honest: str
    attacks: dict[str, str]
    benchmark: str
    instance: str
    sizes: dict[str, int]


COMPARISONS = {
    "hits": Comparison("array_tree", READS, "lookups", "hits", LOOKUPS),
    # The key of each get is hidden until the get before has its answer.
    "serial": Comparison("array_tree", READS, "lookups", "serial", LOOKUPS),
    # All threads write the same keys.
    "shared": Comparison(
        "reads_shared_copies",
        {
            "reads_own_copies": "answers gets from a private copy of the records in each thread, without a lock"
        },
        "ycsb",
        "int64_a",
        {"threads": 2, "records": 200_000, "operations_per_thread": 200_000},
    ),
}


def play(library: str, comparison: Comparison, seed: str, settings: Settings) -> Report:
    """Play one session and return its report."""
    path = settings.build / "lib" / "faulty" / f"{library}.so"
    request = Request(
        benchmark=load_benchmarks(settings.root)[comparison.benchmark],
        instance=comparison.instance,
        scale=Scale.SMOKE,
        overrides=comparison.sizes,
        seeds=(seed,),
        plain=False,
        require=JailLevel.FULL,
        control=False,
    )
    with prepared(path) as (place, folder, file):
        result, _ = run_file(file, request, place, folder, lambda _progress: True)
    return result.sessions[0].candidate


def measure(comparison: Comparison, rounds: int) -> dict[str, list[Report]]:
    """Return the reports of each library, one for each round."""
    settings = load_settings()
    names = [comparison.honest, *comparison.attacks]
    reports: dict[str, list[Report]] = {name: [] for name in names}
    for number in range(rounds):
        seed = secrets.token_hex(8)
        for name in random.sample(names, len(names)):
            print(f"round {number + 1}/{rounds}: {name}", file=sys.stderr)
            reports[name].append(play(name, comparison, seed, settings))
    return reports


def table(comparison: Comparison, reports: dict[str, list[Report]]) -> str:
    """Return the table in Markdown. The times are measured outside the library's process."""
    honest = [report.metrics["total_ms"] for report in reports[comparison.honest]]
    lines = [
        "| attack | what the library does | verdict | time of the honest library / time of this library |",
        "|---|---|---|---|",
    ]
    for name, does in comparison.attacks.items():
        verdicts = sorted({report.verdict.value for report in reports[name]})
        ratios = [
            one / report.metrics["total_ms"]
            for one, report in zip(honest, reports[name], strict=True)
        ]
        gain = f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
        lines.append(f"| `{name}` | {does} | {', '.join(verdicts)} | {gain} |")
    return "\n".join(lines)


def main() -> int:
    """Measure and print the table; return a process exit code."""
    parser = argparse.ArgumentParser(
        description="Measure what attacks gain over an honest library."
    )
    parser.add_argument(
        "comparison",
        choices=COMPARISONS,
        nargs="?",
        default="hits",
        help="which attacks to measure; default: hits",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=11,
        help="how often each library plays; default: 11",
    )
    parser.add_argument(
        "-p",
        dest="sizes",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="replace a parameter of the benchmark; give the option once for each",
    )
    options = parser.parse_args()
    comparison = COMPARISONS[options.comparison]
    sizes = {}
    for size in options.sizes:
        name, _, value = size.partition("=")
        if not value.isdecimal():
            parser.error(f"-p {size}: give NAME=VALUE with an integer, such as -p threads=2")
        sizes[name] = int(value)
    comparison = replace(comparison, sizes=comparison.sizes | sizes)
    print(table(comparison, measure(comparison, options.rounds)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
