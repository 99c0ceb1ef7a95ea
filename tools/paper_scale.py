"""Plays every instance at paper scale: `python -m tools.paper_scale --write`, as root, after a build.

An instance is a set of parameter values of a benchmark; paper scale is the size in the benchmark's paper. The program
plays one session (repetition) of each instance, with checks, in the jail (a sandbox), with a time limit. The library is
`btree` under the configuration `rw`. The sessions that need least memory come first.

After each session the program stores the result in a state file. The program can be stopped at any time. When it is
started again, it continues with the next instance. All sessions together take longer than most machines are available.
So at paper scale the state file is docs/reference/paper-scale.json, which belongs into the repository: another machine
continues from it. If the version of a benchmark has been raised since, its instances are played again. To begin from
the start, delete the state file. An instance that needs more memory than the machine has is not played. Its row shows
the need, as computed by the referee, the program that plays sessions. `--list` shows what would run, and the estimates
of memory. `--write` writes docs/reference/paper-scale.md, which shows all instances.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.catalogue import load_configuration
from runner.contract import Cancelled, Progress
from runner.machine import machine_facts
from runner.manifest import load_benchmarks
from runner.output_file import output_path, write_file
from runner.referee import build_plan
from runner.request import Loadable, Request
from runner.settings import load_settings
from runner.terms import JailLevel, Scale, Verdict
from tools.process_tree import descendants
from tools.reports import gate_run
from tools.reports.gate_run import ROOT, GateRun
from tools.reports.made import made_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.manifest import Benchmark
    from runner.settings import Settings

PAGE = ROOT / "docs" / "reference" / "paper-scale.md"
RESULTS = PAGE.with_suffix(".json")
LIBRARY, CONFIGURATION = "structures/btree.so", "rw"
SEED = "7061706572000001"
TIMEOUT_SECONDS = 3600.0
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Target:
    """An instance and the memory that the referee and the library need, or why the machine is too small."""

    benchmark: Benchmark
    instance: str
    referee_bytes: int = 0
    library_bytes: int = 0
    too_small: str = ""

    @property
    def name(self) -> str:
        """Return BENCHMARK/INSTANCE."""
        return f"{self.benchmark.name}/{self.instance}"

    @property
    def estimate(self) -> str:
        """Return the estimate of memory in words."""
        if self.too_small:
            return f"does not fit: {self.too_small}"
        return f"referee up to {_gib(self.referee_bytes)}, library up to {_gib(self.library_bytes)}"


@dataclass(frozen=True, slots=True)
class Row:
    """The result of a session. `verdict` is "" if the session took longer than the limit and was stopped.

    `load` is the load average per CPU when the session began. Above 1, other programs made the session's times longer.
    """

    verdict: str
    reason: str
    seconds: float
    total_ms: float
    library_bytes: int
    referee_bytes: int
    load: float
    commit: str
    version: int  # of the benchmark
    machine: str  # its class: processor, number of CPUs, memory


def main(arguments: Sequence[str] | None = None) -> int:
    """Play each instance that has no result yet; return 0 if every session passed or was stopped as too slow."""
    options = _options(arguments)
    state = options.state or _usual_state(options.scale)
    rows = current(read_rows(state))
    targets = sorted(find_targets(options.scale, options.only), key=_size)
    if not targets:
        names = f" with the name {' or '.join(options.only)}" if options.only else ""
        sys.stderr.write(
            f"no instance{names} has the scale {options.scale.value}; `keydrome list` shows all names\n"
        )
        return 2
    if options.list:
        sys.stdout.writelines(f"{line}\n" for line in listing(targets, rows))
        return 0
    waiting = [one for one in targets if one.name not in rows and not one.too_small]
    for number, target in enumerate(waiting, start=1):
        where = f"{number} of {len(waiting)}: {target.name}"
        rows[target.name] = row = play(target, options.scale, options.timeout, where)
        write_rows(state, rows)
        sys.stdout.write(f"\r{where}: {_said(row)}".ljust(79) + "\n")
        sys.stdout.flush()
    if options.write:
        everything = sorted(find_targets(options.scale, ()), key=_size)
        PAGE.write_text(page(everything, rows, options.scale), encoding="utf-8")
    played = [rows[one.name] for one in targets if one.name in rows]
    return 1 if any(row.verdict not in {"", Verdict.PASSED.value} for row in played) else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools.paper_scale", description=__doc__)
    parser.add_argument("--list", action="store_true", help="show the instances, and run nothing")
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        default=[],
        help="only this benchmark, or BENCHMARK/INSTANCE; give the option once for each name",
    )
    parser.add_argument(
        "--scale",
        type=Scale,
        choices=list(Scale),
        default=Scale.PAPER,
        help="size of the sessions; default: paper",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT_SECONDS,
        help=f"time limit of a session in seconds; default: {TIMEOUT_SECONDS:.0f}",
    )
    parser.add_argument(
        "--state",
        type=output_path,
        help=f"JSON file of the results; default: {RESULTS.relative_to(ROOT)} at paper scale, otherwise "
        "var/paper-scale-SCALE.json",
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    return parser.parse_args(arguments)


def _usual_state(scale: Scale) -> Path:
    return RESULTS if scale is Scale.PAPER else ROOT / "var" / f"paper-scale-{scale.value}.json"


def read_rows(state: Path) -> dict[str, Row]:
    """Return the results in the state file by name of the instance; none if there is no file."""
    known = json.loads(state.read_text(encoding="utf-8")) if state.is_file() else {}
    return {name: Row(**row) for name, row in known.items()}


def current(rows: dict[str, Row]) -> dict[str, Row]:
    """Return the results of the instances that still exist, and whose benchmark still has the same version."""
    benchmarks = load_benchmarks(ROOT)
    versions = {
        f"{one.name}/{instance}": one.version
        for one in benchmarks.values()
        for instance in one.instances
    }
    return {name: row for name, row in rows.items() if versions.get(name) == row.version}


def write_rows(state: Path, rows: dict[str, Row]) -> None:
    """Store the results. After an interruption, the file is either the old one or the new one, as a whole."""
    state.parent.mkdir(parents=True, exist_ok=True)
    write_file(
        state, json.dumps({name: asdict(row) for name, row in rows.items()}, indent=1) + "\n"
    )


def find_targets(scale: Scale, only: Sequence[str]) -> list[Target]:
    """Return the chosen instances that have this scale, with their estimates."""
    settings = load_settings()
    return [
        estimate(Target(benchmark, instance), scale, settings)
        for benchmark in load_benchmarks(ROOT).values()
        for instance, known in benchmark.instances.items()
        if scale in known.scales
        and (not only or benchmark.name in only or f"{benchmark.name}/{instance}" in only)
    ]


def estimate(target: Target, scale: Scale, settings: Settings) -> Target:
    """Return the target with the memory that the referee says it needs (`referee memory PLAN.json`)."""
    request = Request(
        benchmark=target.benchmark,
        instance=target.instance,
        scale=scale,
        overrides={},
        seeds=(SEED,),
        plain=False,
        require=JailLevel.FULL,
        control=False,
    )
    structure = settings.build / "lib" / LIBRARY
    configuration = load_configuration(settings, CONFIGURATION)
    plan = build_plan(Loadable(settings.runtime, structure, configuration), request, SEED, settings)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(plan, file)
        file.flush()
        command = [str(settings.referee), "memory", file.name]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        return Target(target.benchmark, target.instance, too_small=done.stderr.strip())
    return Target(target.benchmark, target.instance, **json.loads(done.stdout))


def play(target: Target, scale: Scale, timeout_seconds: float, where: str) -> Row:
    """Play one session, and show its progress on the terminal, after the text `where`."""
    began = time.monotonic()
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    referee_bytes = 0

    def watch(progress: Progress) -> None:
        nonlocal referee_bytes
        referee_bytes = max(referee_bytes, _referee_peak_bytes())
        passed = time.monotonic() - began
        sys.stdout.write(f"\r{where}, phase {progress.phase}, {passed:.0f} s".ljust(79))
        sys.stdout.flush()

    gate = GateRun(
        LIBRARY, target.benchmark, target.instance, scale, SEED, configuration=CONFIGURATION
    )
    verdict, reason, metrics = "", "", {}
    try:
        result = gate_run.run(gate, timeout_seconds=timeout_seconds, watch=watch)
        verdict, reason = result.verdict.value, result.reason
        metrics = result.sessions[0].candidate.metrics if result.sessions else {}
    except Cancelled:
        reason = f"stopped at the time limit of {timeout_seconds:.0f} s"
    return Row(
        verdict=verdict,
        reason=reason,
        seconds=round(time.monotonic() - began, 1),
        total_ms=float(metrics.get("total_ms", 0.0)),
        library_bytes=int(metrics.get("memory_peak_bytes", 0)),
        referee_bytes=referee_bytes,
        load=round(load, 2),
        commit=gate_run.commit(),
        version=target.benchmark.version,
        machine=machine_facts()["class"],
    )


def _referee_peak_bytes() -> int:
    """Return the most memory that the running referee has used so far, or 0 if there is none."""
    peak = 0
    for process in descendants():
        if process.name != "referee":
            continue
        try:
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
        except OSError:  # the referee has just ended
            continue
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        peak = max(peak, int(fields.get("VmHWM", "0 kB").split()[0]) << 10)
    return peak


def listing(targets: Iterable[Target], rows: dict[str, Row]) -> list[str]:
    """Return one line for each instance: its result, or the memory that it would need."""
    return [
        f"{one.name}: {_said(rows[one.name]) if one.name in rows else one.estimate}"
        for one in targets
    ]


def page(targets: Sequence[Target], rows: dict[str, Row], scale: Scale) -> str:
    """Return the text of docs/reference/paper-scale.md."""
    commits = sorted({row.commit for row in rows.values()})
    played = [one for one in targets if one.name in rows]
    waiting = [one for one in targets if one.name not in rows]
    busy = sum(rows[one.name].load > 1 for one in played)
    machines = sorted({row.machine for row in rows.values()}) or [machine_facts()["class"]]
    lines = [
        f"# Every instance at {scale.value} scale",
        "",
        f"Written by `python -m tools.paper_scale --write`; do not edit. {made_line(commits)}",
        f"{'Machines' if len(machines) > 1 else 'Machine'}: {'; '.join(machines)}.",
        f"The library is `btree` under the configuration `{CONFIGURATION}`. Each row is one session, i.e. one",
        "repetition of an instance (a benchmark with fixed parameters) in the jail (a sandbox), with checks. All",
        "sessions have the same seed. The page shows which instances fit such a machine, and how long they take. The",
        "sessions were played on several days, so their times cannot be compared. The page does not rank libraries.",
        "",
        "- *Session*: the time from start to verdict, including the time to generate the operations and to judge.",
        "- *Timed*: the time of the phases that count for a result (metric total_ms). A dash means that there is none.",
        "- *Library*, *referee*: the most memory that each of them used. The referee, a process outside the jail,",
        "  generates the operations and judges the results.",
        "- *Load*: the load average per CPU when the session began. If it is above 1, other programs were running, and",
        f"  the times are too long. This holds for {busy} of {len(played)} rows.",
        "",
        "| instance | verdict | session, s | timed, s | library, GiB | referee, GiB | load |",
        "|---|---|---:|---:|---:|---:|---:|",
        *(_table_row(one, rows[one.name]) for one in played),
    ]
    if waiting:
        lines += [
            "",
            "## Not played",
            "",
            "The estimates of memory come from the command `referee memory`. They are upper bounds, so a session may",
            "fit the machine although its estimate is larger than the memory. A row that begins with *does not fit*",
            "quotes the referee, which refuses to play the session on this machine. The other instances fit, but the",
            "measurement ended before they were played. The next start plays them.",
            "",
            "| instance | need |",
            "|---|---|",
            *(f"| {one.name} | {one.estimate} |" for one in waiting),
        ]
    return "\n".join([*lines, ""])


def _table_row(target: Target, row: Row) -> str:
    cells = [
        target.name,
        _outcome(row),
        f"{row.seconds:.0f}",
        f"{row.total_ms / 1000:.1f}" if row.total_ms else "-",
        f"{row.library_bytes / _GIB:.2f}" if row.library_bytes else "-",
        f"{row.referee_bytes / _GIB:.2f}" if row.referee_bytes else "-",
        f"{row.load:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def _said(row: Row) -> str:
    return f"{_outcome(row)}; the session took {row.seconds:.0f} s"


def _outcome(row: Row) -> str:
    verdict = row.verdict.replace("_", " ")
    return ": ".join(part for part in (verdict, row.reason) if part)


def _size(target: Target) -> tuple[bool, int, str]:
    return bool(target.too_small), target.referee_bytes + target.library_bytes, target.name


def _gib(count: int) -> str:
    return f"{count / _GIB:.1f} GiB"


if __name__ == "__main__":
    sys.exit(main())
