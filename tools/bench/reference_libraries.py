"""Times the reference libraries on the contest's benchmark at paper scale, and compares them with goals.

A reference library is one of Keydrome's own: `null` does nothing, `berkeley` uses Berkeley DB, and a name such as
`btree, rw` is a data structure under a configuration, which chooses its locks. Every repetition plays all libraries
with one seed, in random order, each in a fresh jail (sandbox). Berkeley DB works in memory, because the jail's working
directory is a tmpfs. `null` is not expected to pass, but its time is valid. The *best* library of an instance is the
one with the lowest median time. Needs root: `sudo .venv/bin/python -m tools.bench.reference_libraries`.
"""

from __future__ import annotations

import os
import random
import sys
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from runner.manifest import load_benchmarks
from runner.terms import Scale, Verdict
from tools.bench.figures import Row, parse_arguments, publish
from tools.reports.gate_run import ROOT, GateRun, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REPETITIONS = 3
NULL, BERKELEY = "null", "berkeley"
# The fastest structures and configurations on this benchmark. Which of them is the best one depends on the machine.
FAST = tuple(
    f"{structure}, {configuration}"
    for structure in ("btree", "art", "hash_ordered")
    for configuration in ("exclusive", "rw")
)
STRUCTURE = "btree"  # for the figures that compare a library with itself
CONFIGURATION = "exclusive"
BERKELEY_AT_LEAST, NULL_AT_MOST = 30.0, 10.0
CALLS_AT_LEAST = 4e6  # per second and processor
CROWD_AT_MOST, OVERHEAD_AT_MOST = 1.3, 2.0
CROWD, FEW = 50, 2  # threads
# Preliminary 1 with all its inserts and transactions on FEW threads.
FEW_THREADS = {
    "threads": FEW,
    "inserts_per_thread": 400 * CROWD // FEW,
    "tests_per_thread": 1600 * CROWD // FEW,
}

Metrics = dict[str, float]


@dataclass(frozen=True)
class Session:
    """A library and what it plays."""

    library: str
    benchmark: str = "sigmod2009"
    instance: str = "preliminary1"
    scale: Scale = Scale.PAPER
    overrides: Mapping[str, int] = field(default_factory=dict)
    plain: bool = False  # without the operations that only check the library

    def play(self, seed: int) -> Metrics:
        """Return the metrics; end the program if a library other than `null` did not pass."""
        structure, _, configuration = self.library.partition(", ")
        folder = "structures" if configuration else "indexes"
        result = run(
            GateRun(
                library=f"{folder}/{structure}.so",
                suite=load_benchmarks(ROOT)[self.benchmark],
                instance=self.instance,
                scale=self.scale,
                seed=f"{seed:016x}",
                overrides=self.overrides,
                configuration=configuration or None,
                plain=self.plain,
            )
        )
        if not result.sessions or (self.library != NULL and result.verdict is not Verdict.PASSED):
            raise SystemExit(
                f"{self.library} did not pass {self.benchmark}/{self.instance}, so there are no times: {result.reason}"
            )
        return dict(result.sessions[0].candidate.metrics)


def main() -> None:
    """Time every library, and publish times, ratios and goals."""
    options = parse_arguments(__doc__, REPETITIONS)
    rows = preliminary1(options.repetitions)
    rows += preliminary2(options.repetitions)
    rows += threads(options.repetitions)
    rows += overhead(options.repetitions)
    publish("Reference libraries on the contest's benchmark, at paper scale", rows, options.json)


def in_turn(sessions: Mapping[str, Session], repetitions: int) -> dict[str, list[Metrics]]:
    """Return each session's metrics by repetition. In a repetition, all sessions have the same seed."""
    found: dict[str, list[Metrics]] = {name: [] for name in sessions}
    for repetition in range(repetitions):
        order = list(sessions)
        random.Random(repetition).shuffle(order)  # noqa: S311 - an order, not a secret
        for name in order:
            metrics = sessions[name].play(repetition + 1)
            found[name].append(metrics)
            sys.stdout.write(f"  {name}: {metrics['total_ms']:,.0f} ms\n")
            sys.stdout.flush()
    return found


def preliminary1(repetitions: int) -> list[Row]:
    """Return the times of all libraries, and compare the best one with Berkeley DB and `null`."""
    names = (NULL, BERKELEY, "global_lock", *FAST)
    found = in_turn({name: Session(name) for name in names}, repetitions)
    rows = [_time(f"Preliminary 1, {name}", played) for name, played in found.items()]
    best = _best({name: found[name] for name in FAST})
    rows += [
        _at_least(
            f"Preliminary 1: time of berkeley / time of the best library ({best})",
            _ratios(found[BERKELEY], found[best]),
            BERKELEY_AT_LEAST,
        ),
        _at_most(
            f"Preliminary 1: time of the best library ({best}) / time of null",
            _ratios(found[best], found[NULL]),
            NULL_AT_MOST,
        ),
        _calls(f"Preliminary 1, {best}", found[best]),
    ]
    return rows


def preliminary2(repetitions: int) -> list[Row]:
    """Return the time and the calls per second of the best of two libraries."""
    names = FAST[::2]
    sessions = {f"Preliminary 2, {name}": Session(name, instance="preliminary2") for name in names}
    found = in_turn(sessions, repetitions)
    best = _best(found)
    return [_time(best, found[best]), _calls(best, found[best])]


def threads(repetitions: int) -> list[Row]:
    """Return by how much the same work takes longer with many threads than with two."""
    library = f"{STRUCTURE}, {CONFIGURATION}"
    sessions = {
        f"{CROWD} threads": Session(library),
        f"{FEW} threads": Session(library, overrides=FEW_THREADS),
    }
    found = in_turn(sessions, repetitions)
    title = (
        f"Preliminary 1, {library}: time with {CROWD} threads / time with {FEW} threads, same work"
    )
    return [_at_most(title, _ratios(*found.values()), CROWD_AT_MOST)]


def overhead(repetitions: int) -> list[Row]:
    """Return how much longer a transaction of one get takes than a get of the structure alone."""
    sessions = {
        configuration: Session(
            f"{STRUCTURE}, {configuration}",
            "ycsb",
            "int64_c",
            Scale.LAPTOP,
            {"threads": 1, "auto_commit": int(configuration == "bare")},
            plain=True,
        )
        for configuration in ("bare", CONFIGURATION, "rw", "occ")
    }
    found = in_turn(sessions, repetitions)
    bare = found.pop("bare")
    return [
        _at_most(
            f"{STRUCTURE}, a million integer keys, one thread: "
            f"time of a transaction of one get under {configuration} / time of a get without transactions",
            [
                alone["operations_per_s"] / one["operations_per_s"]
                for alone, one in zip(bare, played, strict=True)
            ],
            OVERHEAD_AT_MOST,
        )
        for configuration, played in found.items()
    ]


def _best(found: Mapping[str, Sequence[Metrics]]) -> str:
    return min(found, key=lambda name: median(one["total_ms"] for one in found[name]))


def _ratios(slow: Sequence[Metrics], fast: Sequence[Metrics]) -> list[float]:
    return [a["total_ms"] / b["total_ms"] for a, b in zip(slow, fast, strict=True)]


def _time(title: str, played: Sequence[Metrics]) -> Row:
    times = [one["total_ms"] for one in played]
    failed = sum(one["transactions_failed"] for one in played)
    value = (
        f"{median(times):,.0f} ms ({min(times):,.0f} to {max(times):,.0f}, {len(times)} sessions)"
    )
    return Row(f"{title}: time", f"{value}, {failed:.0f} failed transactions")


def _calls(title: str, played: Sequence[Metrics]) -> Row:
    processors = os.cpu_count() or 1
    rates = [1000 * one["calls"] / one["total_ms"] / processors for one in played]
    return Row(
        f"{title}: calls per second and processor",
        f"{_in_millions(median(rates))} ({_in_millions(min(rates))} to {_in_millions(max(rates))})",
        f"goal at least {CALLS_AT_LEAST / 1e6:.0f} million",
        measured=median(rates),
        at_least=CALLS_AT_LEAST,
    )


def _in_millions(rate: float) -> str:
    return f"{rate / 1e6:.1f} million"


def _at_least(title: str, ratios: Sequence[float], goal: float) -> Row:
    return Row(
        title, _value(ratios), f"goal at least {goal:.0f}", measured=median(ratios), at_least=goal
    )


def _at_most(title: str, ratios: Sequence[float], goal: float) -> Row:
    return Row(
        title, _value(ratios), f"goal at most {goal:g}", measured=median(ratios), at_most=goal
    )


def _value(ratios: Sequence[float]) -> str:
    return f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}, same seed)"


if __name__ == "__main__":
    main()
