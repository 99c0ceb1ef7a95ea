"""Measures which share of a series is timed: `python -m tools.reports.timed_share --write`, as root, after a build.

A series is several sessions of one library on one instance of a benchmark; here no control library is timed for
comparison. Most of the machine time of a session is not timed: operations are generated, records are loaded, all
records are scanned and judged. The program plays a series of the B+-tree on each instance of `instances()`. It adds up
the times in the reports of the referee, the program that plays a session. `--write` writes
docs/reference/timed-share.md. Run it alone on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from runner.machine import machine_facts
from runner.manifest import load_benchmarks
from runner.output_file import output_path, write_file
from runner.terms import Scale, Verdict
from tools.reports import gate_run
from tools.reports.gate_run import ROOT, GateRun
from tools.reports.made import made_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.report import Report

PAGE = ROOT / "docs" / "reference" / "timed-share.md"
SHARE_MIN = 1 / 3
SECONDS_PER_MILLION_MAX = 1.0
SESSIONS = 3
LIBRARY, CONFIGURATION = "structures/btree.so", "rw"
SCANS = {
    "verify",
    "loaded",
}  # phases that only scan all records for the judge; tpcc also scans after the load
_NS = 1e-9
_COLUMNS = (
    "session", "timed", "load", "generation", "inputs", "scans", "outcomes", "judging", "rest",
    "share timed", "per million records",
)  # fmt: skip


def instances() -> list[str]:
    """Return the instances of the page, as BENCHMARK/INSTANCE: two of the contest, and all of YCSB and TPC-C."""
    catalogue = load_benchmarks(ROOT)
    contest = ["sigmod2009/preliminary1", "sigmod2009/preliminary2"]
    others = [f"{name}/{one}" for name in ("ycsb", "tpcc") for one in catalogue[name].instances]
    return [*contest, *others]


@dataclass(frozen=True, slots=True)
class Times:
    """The mean times of one session of a series, in seconds.

    `session` is the whole session. The other times are parts of it that do not overlap.
    """

    session: float  # of the whole command, divided by the number of sessions
    timed: float
    load: float  # the untimed phases that are not scans, and loading the library
    generation: float
    inputs: float  # making the inputs of phases before their clocks start
    scan: float  # scanning all records for the judge
    outcomes: float  # copying and checking the results of phases
    judging: float
    records: float  # the number of records that the final scan read

    @property
    def rest(self) -> float:
        """Return what no other part contains: starting the processes, inspecting the library, writing reports."""
        parts = (self.timed, self.load, self.generation, self.inputs)
        return self.session - sum((*parts, self.scan, self.outcomes, self.judging))

    @property
    def share(self) -> float:
        """Return the share of the session that is timed."""
        return self.timed / self.session

    @property
    def per_million(self) -> float:
        """Return the seconds of the session without `load` and `timed`, for each million records."""
        return (self.session - self.load - self.timed) / self.records * 1e6


def times_of(reports: list[Report], seconds: float) -> Times:
    """Return the means of a series. Its sessions have these reports, and took `seconds` together."""

    def phases(*, timed: bool, scans: bool = False) -> float:
        return _mean(
            sum(p.wall_ns for p in r.phases if p.timed == timed and (p.name in SCANS) == scans)
            for r in reports
        )

    def step(name: str) -> float:
        return _mean(report.referee[name] for report in reports)

    loading = _mean(report.loading.wall_ns if report.loading else 0 for report in reports)
    return Times(
        session=seconds / len(reports),
        timed=phases(timed=True) * _NS,
        load=(phases(timed=False) + loading) * _NS,
        generation=step("generating_ns") * _NS,
        inputs=step("inputs_ns") * _NS,
        scan=phases(timed=False, scans=True) * _NS,
        outcomes=step("outcomes_ns") * _NS,
        judging=step("judging_ns") * _NS,
        records=_mean(report.metrics["records_end"] for report in reports),
    )


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def main() -> int:
    """Measure every instance; return 0 if every session passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        help="only this BENCHMARK/INSTANCE; give the option once for each",
    )
    parser.add_argument(
        "--sessions",
        type=int,
        default=SESSIONS,
        help=f"number of sessions of a series; default: {SESSIONS}",
    )
    parser.add_argument(
        "--scale", type=Scale, default=Scale.LAPTOP, help="size of the sessions; default: laptop"
    )
    parser.add_argument(
        "--state",
        type=output_path,
        help="JSON file that keeps the results, so that a later start continues from them",
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    if unknown := set(options.only) - set(instances()):
        parser.error(
            f"--only: {PAGE.relative_to(ROOT)} has no instance {', '.join(sorted(unknown))}; "
            f"choose from {', '.join(instances())}"
        )
    state = options.state
    known = json.loads(state.read_text()) if state and state.is_file() else {}
    rows = {name: Times(**row) for name, row in known.items()}
    sys.stdout.write(f"columns, with times in seconds: | instance | {' | '.join(_COLUMNS)} |\n")
    for name in instances():
        if name in rows or (options.only and name not in options.only):
            continue
        rows[name] = measure(name, options.scale, options.sessions)
        sys.stdout.write(f"{row_of(name, rows[name])}\n")
        sys.stdout.flush()
        if state:
            write_file(state, json.dumps({one: asdict(row) for one, row in rows.items()}))
    if options.write:
        PAGE.write_text(page(rows, options.scale, options.sessions), encoding="utf-8")
    return 0


def measure(name: str, scale: Scale, sessions: int) -> Times:
    """Play a series. Raises SystemExit if a session does not pass."""
    benchmark, instance = name.split("/")
    first, *others = (f"71ed{number:012x}" for number in range(sessions))
    began = time.monotonic()
    result = gate_run.run(
        GateRun(
            LIBRARY,
            load_benchmarks(ROOT)[benchmark],
            instance,
            scale,
            first,
            configuration=CONFIGURATION,
            more_seeds=tuple(others),
        )
    )
    seconds = time.monotonic() - began
    if result.verdict is not Verdict.PASSED:
        raise SystemExit(
            f"{name}: a session did not pass, so there are no times; verdict {result.verdict.value}: {result.reason}"
        )
    return times_of([session.candidate for session in result.sessions], seconds)


def row_of(name: str, times: Times) -> str:
    """Return the row of the table."""
    share = f"{times.share:.0%}"
    if times.share < SHARE_MIN:
        share += f"; *missed* by {SHARE_MIN - times.share:.0%}"
    beyond = f"{times.per_million:.1f} s"
    if times.per_million > SECONDS_PER_MILLION_MAX:
        beyond += f"; *missed* by {times.per_million - SECONDS_PER_MILLION_MAX:.1f} s"
    parts = (
        times.session, times.timed, times.load, times.generation, times.inputs,
        times.scan, times.outcomes, times.judging, times.rest,
    )  # fmt: skip
    cells = [name, *(f"{seconds:.2f}" for seconds in parts), share, beyond]
    return f"| {' | '.join(cells)} |"


def page(rows: dict[str, Times], scale: Scale, sessions: int) -> str:
    """Return the text of docs/reference/timed-share.md."""
    facts: dict[str, Any] = machine_facts()
    third = sum(times.share >= SHARE_MIN for times in rows.values())
    short = sum(times.per_million <= SECONDS_PER_MILLION_MAX for times in rows.values())
    lines = [
        "# Which share of a series is timed",
        "",
        f"Written by `python -m tools.reports.timed_share --write`; do not edit. {made_line()}",
        f"Machine: {facts['class']}, load average {os.getloadavg()[0]:.1f} at the end.",
        "",
        f"The B+-tree (`btree` under `{CONFIGURATION}`) played a series of {sessions} sessions on each instance",
        f"at {scale.value} scale. A session is one repetition of the benchmark; only some of its phases are",
        "timed. The rest of the time goes into preparing and judging. The table shows means per session, in seconds:",
        "",
        "- *Session*: the wall-clock time of the series, from the command until its result, divided by the number of",
        "  sessions.",
        "- *Timed*: the timed phases.",
        "- *Load*: loading the library, and the untimed phases except scans.",
        "- *Generation*: generating the operations. *Inputs*: writing them in the player's format before each phase.",
        "- *Scans*: the phases in which the library returns all records to the judge.",
        "- *Outcomes*: copying the results of the phases, and checking that they fit the operations.",
        "- *Judging*: deciding whether these results are right, and computing the metrics.",
        "- *Rest*: starting and ending processes, inspecting the library, writing and reading the reports.",
        "- *Share timed*: the target is at least a third of the session. If it is *missed*, the difference is in",
        "  percentage points.",
        "- *Per million records*: *session* minus *timed* and *load*, divided by the number of records that the final",
        f"  scan reads, in millions. The target is at most {SECONDS_PER_MILLION_MAX:.0f} s.",
        "",
        f"{third} of {len(rows)} instances reach the first target, and {short} the second one.",
        "",
        f"| instance | {' | '.join(_COLUMNS)} |",
        "|---|" + "---:|" * len(_COLUMNS),
        *(row_of(name, times) for name, times in rows.items()),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
