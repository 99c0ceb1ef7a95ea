"""Compares the structures with containers from packages: `python -m tools.reports.structures --write`, after a build.

A structure is one of Keydrome's data structures, in the folder structures. The program structure_bench
(structures/bench) times all structures in turn with Abseil's B-tree, std::map and oneTBB's hash map (the peers). This
program runs structure_bench for integer keys and for sets of strings. With many keys it measures only the structures
that have goals, because the slow structures would take hours. `--write` writes docs/reference/structures.md, which
shows the times and the ratios to the peers, and says of each goal whether it is met. It also draws one picture for each
table (structure_plots.py). Install libabsl-dev and libtbb-dev before the build. Run the program alone on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from runner.machine import machine_facts
from runner.output_file import output_path, write_file
from tools.reports import structure_plots
from tools.reports.gate_run import ROOT
from tools.reports.made import made_line
from tools.reports.structure_goals import GOALS, Figure, Goal

if TYPE_CHECKING:
    from tools.reports.structure_plots import Subject

PAGE = ROOT / "docs" / "reference" / "structures.md"
PICTURES = PAGE.with_suffix("")
BUILT = ROOT / "build" / "release"
VERSION = 1  # of the format in which structure_bench writes its results
STRINGS = ("ycsb", "email", "url", "random", "prefix")
COUNTS = (100_000, 1_000_000, 10_000_000)
STRING_COUNTS = (100_000, 1_000_000, 5_000_000)
MANY = 5_000_000  # from here on, only structures with goals, and MANY_ROUNDS rounds at most
MANY_ROUNDS = 3
HUGE_PAGES_COUNT = 10_000_000  # from here on, integer keys are also measured on huge pages
ON_HUGE_PAGES = "{}, huge pages"  # structure_bench's name of a structure on huge pages
_WHOLE_FROM = 100  # ns; shorter times have a decimal
ORDERED_PEER, UNORDERED_PEER = "absl::btree_map", "tbb::concurrent_hash_map"
_LOOPS = {
    "insert": "insert", "lookup": "lookup", "chained": "chained", "batch": "batch", "zipf": "zipf",
    "scan": "scan of 100", "lookup_threads": "lookups, 2 threads", "mixed_threads_1": "mixed, 1 thread",
    "mixed_threads": "mixed, 2 threads",
}  # fmt: skip
_SETS = {
    "int": "Integers: 8 bytes, random",
    "ycsb": "ycsb: `user` and 19 digits",
    "email": "email: host, then user; 23 bytes on average",
    "url": "url: host and path; 67 bytes on average",
    "random": "random: 1 to 128 letters",
    "prefix": "prefix: 120 equal characters and 8 random ones",
}


@dataclass(frozen=True, slots=True)
class Run:
    """All subjects with one set of keys and one number of keys."""

    keys: str
    count: int
    subjects: dict[str, Subject]
    load: float  # the load average of the machine at the end

    def reference(self, name: str) -> str:
        """Return the peer to which a subject is compared."""
        return ORDERED_PEER if self.subjects[name]["ordered"] else UNORDERED_PEER

    def figure(self, name: str, figure: Figure) -> float | None:
        """Return a figure of a subject, or None if it was not measured."""
        subject = self.subjects[name]
        if figure is Figure.BYTES:
            value: float = subject["resident_bytes_per_key"]
            return value
        if figure is Figure.MEMORY:
            peer = self.subjects.get(self.reference(name))
            if peer is None:
                return None
            return float(subject["resident_bytes_per_key"] / peer["resident_bytes_per_key"])
        loop, base = figure.loops
        if figure is Figure.HUGE_PAGES:
            return ratio(subject, loop, self.subjects.get(ON_HUGE_PAGES.format(name)), loop)
        return ratio(
            self.subjects.get(self.reference(name)) if base is None else subject,
            base or loop,
            subject,
            loop,
        )


def ratio(
    slow: Subject | None, slow_loop: str, fast: Subject | None, fast_loop: str
) -> float | None:
    """Return how many times as fast the second loop is as the first one: the median over the rounds."""
    if slow is None or fast is None or slow_loop not in slow or fast_loop not in fast:
        return None
    return float(median(a / b for a, b in zip(slow[slow_loop], fast[fast_loop], strict=True)))


def main() -> int:
    """Measure, or read what an earlier run measured; return 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_counts(parser, COUNTS)
    parser.add_argument(
        "--string-counts",
        type=int,
        nargs="+",
        default=list(STRING_COUNTS),
        help=f"numbers of string keys; default: {' '.join(map(str, STRING_COUNTS))}",
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="how often to measure each loop; default: 5"
    )
    parser.add_argument(
        "--state",
        type=output_path,
        help="JSON file that keeps the results, so that a later start continues from them",
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    known: list[dict[str, Any]] = []
    if options.state and options.state.is_file():
        known = json.loads(options.state.read_text())
    wanted = [("int", count) for count in options.counts]
    wanted += [(keys, count) for keys in STRINGS for count in options.string_counts]
    for keys, count in wanted:
        if any((one["keys"], one["count"]) == (keys, count) for one in known):
            continue
        known += measure(keys, count, options.rounds)
        if options.state:
            write_file(options.state, json.dumps(known))
    # A table that was measured again comes last in the file, but not on the page.
    places = {table: place for place, table in enumerate(wanted)}
    known.sort(key=lambda one: places.get((one["keys"], one["count"]), len(wanted)))
    runs = [Run(**one) for one in known]
    text = page(runs, options.rounds)
    if options.write:
        write(runs, text)
    sys.stdout.write(text)
    return 0


def add_counts(parser: argparse.ArgumentParser, default: tuple[int, ...]) -> None:
    """Add the option --counts, the numbers of integer keys."""
    parser.add_argument(
        "--counts",
        type=int,
        nargs="+",
        default=list(default),
        help=f"numbers of integer keys; default: {' '.join(map(str, default))}",
    )


def libraries(keys: str, count: int) -> list[str]:
    """Return the files of all structures that store pairs; from MANY keys on, of those with goals."""
    manifests = sorted((ROOT / "structures").glob("*/structure.json"))
    names = [
        path.parent.name for path in manifests if not json.loads(path.read_text()).get("baseline")
    ]
    if count >= MANY:
        wanted = {goal.structure for goal in GOALS if goal.applies(keys, count)}
        names = [name for name in names if name in wanted]
    return [str(BUILT / "lib" / "structures" / f"{name}.so") for name in names]


def measure(keys: str, count: int, rounds: int) -> list[dict[str, Any]]:
    """Run structure_bench for one set of keys. Raises SystemExit if it fails or was built without a peer."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "bench.json"
        command = [str(BUILT / "bin" / "structure_bench"), "--keys", keys, "--counts", str(count)]
        command += ["--rounds", str(rounds if count < MANY else min(rounds, MANY_ROUNDS))]
        if keys == "int" and count >= HUGE_PAGES_COUNT:
            command.append("--huge-pages")
        command += ["--json", str(written), *libraries(keys, count)]
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            raise SystemExit(
                f"structure_bench failed for {count:,} keys of the set {keys}: read its message above"
            )
        result = json.loads(written.read_text())
    if result["version"] != VERSION:
        raise SystemExit(
            f"structure_bench wrote results of version {result['version']}, but this program reads version "
            f"{VERSION}: run ./dev build"
        )
    runs: list[dict[str, Any]] = result["runs"]
    for peer in (ORDERED_PEER, UNORDERED_PEER):
        if any(peer not in run["subjects"] for run in runs):
            raise SystemExit(
                f"structure_bench was built without {peer}: install libabsl-dev and libtbb-dev, then run ./dev build"
            )
    load = round(os.getloadavg()[0], 1)
    return [{**run, "load": load} for run in runs]


def write(runs: list[Run], text: str) -> None:
    """Write the page and one picture for each run."""
    PAGE.write_text(text, encoding="utf-8")
    pictures = {structure_plots.file_name(run.keys, run.count): run.subjects for run in runs}
    structure_plots.write(pictures, PICTURES)


def title_of(keys: str, count: int) -> str:
    """Return the title of a set of keys with this number of keys."""
    return f"{_SETS[keys]}, {count:,} keys"


def page(runs: list[Run], rounds: int) -> str:
    """Return the page."""
    lines = [*_introduction(rounds), *_goals(runs), ""]
    for run in runs:
        title = title_of(run.keys, run.count)
        shown = f"{title.replace('`', '')}: throughput by workload and threads, and bytes per key"
        picture = f"{PICTURES.name}/{structure_plots.file_name(run.keys, run.count)}"
        lines += [f"## {title}", "", f"Load average: {run.load:.1f}.", ""]
        lines += [f"![{shown}]({picture})", "", *structure_plots.CAPTION, "", *_table(run), ""]
    return "\n".join(lines)


def _introduction(rounds: int) -> list[str]:
    facts: dict[str, Any] = machine_facts()
    return [
        "# Structures compared with containers from packages",
        "",
        f"Written by `python -m tools.reports.structures --write`; do not edit. {made_line()}",
        f"Machine: {facts['class']}.",
        "",
        "Structures implement contract B, Keydrome's interface of a data structure. They are called through a table",
        "of functions, with keys and payloads as bytes. The containers from packages (the *peers*) are compiled into",
        "the measuring program, and their keys are native integers or C++ strings. Payloads have 8 bytes. Structures",
        "and peers run in turn in one process. Each loop uses new random keys of those that are stored, but all scans",
        "of a round begin at the same keys. Times are CPU times. Comparisons of 2 threads and 1 thread, and columns",
        "that name threads, use wall-clock times. The ns of 2 threads are the time divided by the operations of both.",
        f"A table has {rounds} rounds. A table of {MANY:,} keys or more has {min(rounds, MANY_ROUNDS)} rounds, and",
        "shows only the structures that have goals. Numbers are medians.",
        "",
        f"A ratio is the time of `{ORDERED_PEER}` divided by the time of the structure. If it is above 1, the",
        f"structure is faster. Structures without order are compared with `{UNORDERED_PEER}`. After each ratio, the",
        "structure's ns per operation are in brackets. The rows of the peers show ns per operation, in italics. The",
        "column *bytes* shows bytes in all rows.",
        "",
        "*Lookup*: a plain loop, in which the processor overlaps lookups.",
        "*Chained*: each key depends on the result of the previous lookup. *Batch*: `find_batch` of 64 keys, compared",
        "with the plain loop of the peers. *Zipf*: some keys are much more popular than others. *Scan of 100*: one",
        "scan that reads 100 pairs. *Mixed*: lookups as in *zipf*, and every second one also updates the payload.",
        "*Bytes*: resident memory per key, measured in a process that holds nothing else.",
        "A dash means that the structure lacks this operation. A dash before brackets means that the peer lacks it.",
        "",
        "The picture above each table shows throughput: 1,000 divided by ns is the number of million operations per",
        "second. A scan counts as 100 operations, one for each pair. Lookups of one thread are those of the column",
        "*lookup*. A dash in the table has no marker. The pictures leave out the columns *chained*, *batch* and",
        "*zipf*.",
        "",
        "The load average above each table was read at the end of its measurement. The measuring program alone makes",
        "it about 1. If it is above 2, other programs shared the processors and their caches, so the ratios are less",
        "certain.",
        "",
        "## Goals",
        "",
        "[missed-goals.md](../explanation/missed-goals.md) says why some goals are missed.",
        "",
        "Most goals are ratios as in the tables below. Some goals compare a structure with itself: *2 threads /",
        "1 thread* is its throughput with two threads divided by that with one. *Batch / the structure's own lookup*",
        "is its throughput in batches divided by that in a plain loop. *Batch on huge pages / batch* is its throughput",
        "in batches if its memory is on pages of 2 MiB, divided by that with pages of 4 KiB.",
        "",
    ]


def _table(run: Run) -> list[str]:
    lines = [
        f"| structure or container | {' | '.join(_LOOPS.values())} | bytes |",
        "|---|" + "---:|" * (len(_LOOPS) + 1),
    ]
    peers = sorted(name for name, one in run.subjects.items() if one["peer"])
    own = sorted(set(run.subjects) - set(peers))
    for name in peers:
        subject = run.subjects[name]
        cells = [f"*{_ns(subject[loop])}*" if loop in subject else "-" for loop in _LOOPS]
        lines.append(f"| {name} | {' | '.join(cells)} | {subject['resident_bytes_per_key']:.1f} |")
    for name in own:
        subject, peer = run.subjects[name], run.subjects.get(run.reference(name))
        cells = [_cell(subject, peer, loop) for loop in _LOOPS]
        lines.append(
            f"| **{name}** | {' | '.join(cells)} | {subject['resident_bytes_per_key']:.1f} |"
        )
    return lines


def _cell(subject: Subject, peer: Subject | None, loop: str) -> str:
    """Return the ratio to the peer, and the structure's own time."""
    if loop not in subject:
        return "-"
    # The peers have no batches.
    value = ratio(peer, "lookup" if loop == "batch" else loop, subject, loop)
    return f"{'-' if value is None else f'{value:.2f}'} ({_ns(subject[loop])})"


def _ns(times: list[float]) -> str:
    middle = median(times)
    return f"{middle:.0f}" if middle >= _WHOLE_FROM else f"{middle:.1f}"


def _goals(runs: list[Run]) -> list[str]:
    rows = [row for goal in GOALS for run in runs if (row := _goal_row(goal, run))]
    met = sum("| met |" in row for row in rows)
    return [
        f"{met} of {len(rows)} goals are met.",
        "",
        "| structure | keys | figure | goal | measured | result |",
        "|---|---|---|---:|---:|---|",
        *rows,
    ]


def _goal_row(goal: Goal, run: Run) -> str | None:
    if goal.structure not in run.subjects or not goal.applies(run.keys, run.count):
        return None
    value = run.figure(goal.structure, goal.figure)
    sign = "<=" if goal.figure.less_is_better else ">="
    start = f"| {goal.structure} | {run.keys}, {run.count:,} | {goal.figure.title} | {sign} {goal.value:g}"
    if value is None:
        return f"{start} | not offered | *missed* |"
    met = value <= goal.value if goal.figure.less_is_better else value >= goal.value
    return f"{start} | {value:.2f} | {'met' if met else '*missed*'} |"


if __name__ == "__main__":
    sys.exit(main())
