"""Times the B+-tree, global_lock and Berkeley DB on preliminary1 at paper scale: 50 threads, 80,000 transactions.

preliminary1 is an instance of the benchmark sigmod2009. global_lock is the library with one lock for all indexes. The
B+-tree runs under two configurations, which choose its locks. Every repetition runs all libraries with one seed, in
random order, each in a fresh jail (sandbox). Berkeley DB works in memory, because the jail's working directory is a
tmpfs. Needs root: `sudo .venv/bin/python -m tools.bench.structures`.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median

from tools.bench.figures import Row, parse_arguments, publish

ROOT = Path(__file__).resolve().parents[2]
REPETITIONS = 3
LIBRARIES = {
    "btree, rw": ["structures/btree.so", "--config", "rw"],
    "btree, exclusive": ["structures/btree.so", "--config", "exclusive"],
    "global_lock": ["indexes/global_lock.so"],
    "berkeley": ["indexes/berkeley.so"],
}
TARGET = 5.0


def main() -> None:
    """Time every library, and publish the times and the ratios to Berkeley DB."""
    options = parse_arguments(__doc__, REPETITIONS)
    times: dict[str, list[float]] = {name: [] for name in LIBRARIES}
    lost = dict.fromkeys(LIBRARIES, 0.0)
    for repetition in range(options.repetitions):
        order = list(LIBRARIES)
        random.Random(repetition).shuffle(order)  # noqa: S311 - an order, not a secret
        for name in order:
            metrics = run(LIBRARIES[name], f"{repetition + 1:016x}")
            times[name].append(metrics["total_ms"])
            lost[name] += metrics["transactions_failed"]
            sys.stdout.write(f"  {name}: {metrics['total_ms']:.0f} ms\n")
    title = "Preliminary 1 as published: B+-tree against Berkeley DB"
    publish(title, rows(times, lost), options.json)


def run(library: list[str], seed: str) -> dict[str, float]:
    """Return the metrics of one session; end the program if the session did not pass."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.json"
        keydrome = str(ROOT / ".venv" / "bin" / "keydrome")
        file = str(ROOT / "build" / "release" / "lib" / library[0])
        command = [keydrome, "bench", file, *library[1:], "--scale", "paper", "--sessions", "1"]
        command += ["--no-control", "--seed", seed, "--json", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(
                f"{' '.join(library)} did not pass, so there are no times:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
            )
        metrics: dict[str, float] = json.loads(path.read_text())["sessions"][0]["candidate"][
            "metrics"
        ]
        return metrics


def rows(times: dict[str, list[float]], lost: dict[str, float]) -> list[Row]:
    """Return the figures: the times of each library, and the ratios of Berkeley DB's times to those of the B+-tree."""
    found = []
    for name, values in times.items():
        total = f"{median(values):,.0f} ms ({min(values):,.0f} to {max(values):,.0f}, {len(values)} sessions)"
        found.append(Row(f"{name}: total time", f"{total}, {lost[name]:.0f} failed transactions"))
    for name in ("btree, rw", "btree, exclusive"):
        ratios = [slow / fast for slow, fast in zip(times["berkeley"], times[name], strict=True)]
        value = f"{median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
        row = Row(
            f"total time of berkeley / total time of {name}, same seed",
            value,
            f"at least {TARGET:.0f}",
        )
        found.append(replace(row, measured=median(ratios), at_least=TARGET))
    return found


if __name__ == "__main__":
    main()
