"""Measures what the attacks of tests/faulty/attacks gain over the honest library `array_tree`.

Usage, as root, after a build:
    .venv/bin/python -m tools.reports.attack_gain [--instance NAME] [--rounds N] [--records N] [--lookups N]

An attack is a library that cheats to be faster. In each round every library plays the same operations once, in random
order. The result is a table in Markdown with the verdict on each attack, and its gain. The gain is the time of the
honest library divided by the time of the attack: median, smallest and largest value of the rounds.
docs/explanation/security.md has the table.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
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

HONEST = "array_tree"
# The player, the program that calls the library, gets its operations through shared memory, the ring. Each payload
# begins with a tag, a unique number. For each call the player reports a word: result code, tag and four bytes of text.
ATTACKS = {
    "looks_ahead": "reads the next gets in the ring and searches for eight keys at once",
    "skips_unmarked": "skips gets whose record the player neither keeps nor reports, as the ring shows",
    "skips_by_address": "skips gets whose buffer and stack frame have the usual addresses",
    "skips_by_rhythm": "skips gets that come soon after the beginning of the transaction",
    "skips_new_keys": "skips a thread's first get of each key that has not changed",
    "forgets_texts": "keeps the tags of payloads and forgets their texts",
    "forges_words": "leaves records empty and writes the right words itself",
}


def play(
    library: str, instance: str, seed: str, sizes: dict[str, int], settings: Settings
) -> Report:
    """Play one session of an instance of lookups with one thread, and return its report."""
    path = settings.build / "lib" / "faulty" / f"{library}.so"
    request = Request(
        benchmark=load_benchmarks(settings.root)["lookups"],
        instance=instance,
        scale=Scale.SMOKE,
        overrides={"threads": 1, **sizes},
        seeds=(seed,),
        plain=False,
        require=JailLevel.FULL,
        control=False,
    )
    with prepared(path) as (place, folder, file):
        result, _ = run_file(file, request, place, folder, lambda _progress: True)
    return result.sessions[0].candidate


def measure(instance: str, rounds: int, sizes: dict[str, int]) -> dict[str, list[Report]]:
    """Return the reports of each library, one for each round."""
    settings = load_settings()
    names = [HONEST, *ATTACKS]
    reports: dict[str, list[Report]] = {name: [] for name in names}
    for number in range(rounds):
        seed = secrets.token_hex(8)
        for name in random.sample(names, len(names)):
            print(f"round {number + 1}/{rounds}: {name}", file=sys.stderr)
            reports[name].append(play(name, instance, seed, sizes, settings))
    return reports


def table(reports: dict[str, list[Report]]) -> str:
    """Return the table in Markdown. The times are measured outside the library's process."""
    honest = [report.metrics["total_ms"] for report in reports[HONEST]]
    lines = [
        "| attack | what the library does | verdict | honest time / time |",
        "|---|---|---|---|",
    ]
    for name, does in ATTACKS.items():
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
    parser.add_argument("--instance", choices=("hits", "serial"), default="hits")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--lookups", type=int, default=1_000_000)
    options = parser.parse_args()
    sizes = {"records": options.records, "lookups_per_thread": options.lookups}
    print(table(measure(options.instance, options.rounds, sizes)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
