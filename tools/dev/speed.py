"""Implements `./dev bench`: measures the speed of Keydrome's parts and writes docs/reference/figures.md.

`./dev bench --only SECTION` measures only one section, and replaces it on the page. PROGRAMS has the names of sections.

Each section comes from a program that can also run alone. If a program compares things, it measures them alternately in
one run, and prints medians. A figure that misses its target fails no test, because a slow machine is no bug.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dev import packages
from dev.paths import PYTHON, RELEASE, ROOT
from dev.setup import set_up_build
from dev.steps import StepError

if TYPE_CHECKING:
    from collections.abc import Sequence

FIGURES = ROOT / "docs" / "reference" / "figures.md"
# Programs that print what they measure and write {"title", "rows": [{"figure", "value", "target"}]} to --json FILE.
# A row can also have "measured", and with it "at_most" or "at_least". These numbers have the same unit; see missed().
PROGRAMS = {
    "harness cost": [str(RELEASE / "bin" / "harness_cost")],
    "judging": [str(RELEASE / "bin" / "judge_cost")],
    "generation": [str(RELEASE / "bin" / "generation_cost")],
    "certify": [str(RELEASE / "bin" / "certify_bench")],
    "jail": [str(PYTHON), "jail/bench/latency.py"],
    "phases": [str(RELEASE / "bin" / "phase_cost")],
    "reference libraries": [str(PYTHON), "-m", "tools.bench.reference_libraries"],
    "modes": [str(PYTHON), "-m", "tools.bench.modes"],
    "contestant's loop": [str(PYTHON), "-m", "tools.bench.contestant_loop"],
    "overhead": [str(PYTHON), "-m", "tools.bench.overhead"],
    "queue": [str(PYTHON), "-m", "tools.bench.queue_scale"],
    "board page": [str(PYTHON), "-m", "tools.bench.board_page"],
    "large site": [str(PYTHON), "-m", "tools.bench.page_load"],
}


def bench(only: Sequence[str] = ()) -> int:
    """Build, run every program, and write the page; return 0, or 1 if a program failed. `only` names some sections.

    The section of a failed program says that it failed. The other sections are written, because they took minutes to
    measure.
    """
    if unknown := set(only) - set(PROGRAMS):
        raise StepError(
            f"there is no section {', '.join(sorted(unknown))}; the sections are: {', '.join(PROGRAMS)}"
        )
    packages.install(packages.BENCH)
    set_up_build()
    if only:
        return _bench_some(only)
    sections, failed = [], []
    for name, command in PROGRAMS.items():
        try:
            sections.append(_measure(name, command))
        except StepError as error:
            failed.append(str(error))
            sections.append(
                f"## Not measured: {name}\n\nThe program failed. To see why, run it alone: `{' '.join(command)}`\n"
            )
    FIGURES.write_text("\n".join([_head(), *sections]))
    print(f"\nwrote {FIGURES.relative_to(ROOT)}", *failed, sep="\n")
    return 1 if failed else 0


def _bench_some(names: Sequence[str]) -> int:
    """Measure some sections, and replace them on the page; return 0. Raises StepError if a program fails."""
    page = FIGURES.read_text()
    for name in names:
        title, _, table = _measure(name, PROGRAMS[name]).partition("\n")
        page = with_section(
            page, f"{title}\n\nMeasured after the rest of this page. {_measured_at()}.\n{table}"
        )
    FIGURES.write_text(page)
    print(f"\nwrote {FIGURES.relative_to(ROOT)}")
    return 0


def with_section(page: str, section: str) -> str:
    """Return the page with the section of the same title replaced, or with the section appended."""
    title = section.partition("\n")[0]
    parts = re.split(r"(?m)^(?=## )", page)
    places = [number for number, part in enumerate(parts) if part.partition("\n")[0] == title]
    if not places:
        return f"{page}\n{section}"
    last = places[0] == len(parts) - 1
    parts[places[0]] = section if last else f"{section}\n"
    return "".join(parts)


def _measure(name: str, command: list[str]) -> str:
    print(f"\n== {name}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figures.json"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [*command, "--json", str(path)], cwd=ROOT, env=environment, check=False
        )
        if done.returncode != 0 or not path.exists():
            raise StepError(
                f"{name}: the program failed or wrote no figures; to see why, run it alone: {' '.join(command)}"
            )
        result = json.loads(path.read_text())
    rows = [
        f"| {row['figure']} | {row['value']}{missed(row)} | {row['target']} |"
        for row in result["rows"]
    ]
    return "\n".join(
        [
            f"## {result['title']}",
            "",
            "| figure | measured | target |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def missed(row: dict[str, Any]) -> str:
    """Return by how much a row misses its target, as text that follows the value; "" if it does not."""
    measured, at_most, at_least = (row.get(name) for name in ("measured", "at_most", "at_least"))
    if measured is None:
        return ""
    if at_most is not None and measured > at_most:
        factor = measured / at_most
    elif at_least is not None and measured < at_least:
        factor = at_least / measured
    else:
        return ""
    by = f"by {factor - 1:.0%}" if factor < 2 else f"by a factor of {factor:.1f}"  # noqa: PLR2004 - twice
    return f"; *missed* {by}"


def _measured_at() -> str:
    commit = _output(["git", "rev-parse", "--short", "HEAD"])
    facts = {
        name.strip(): value.strip()
        for name, _, value in (
            line.partition(":") for line in Path("/proc/cpuinfo").read_text().splitlines()
        )
    }
    # Virtual machines often show a short name that several generations of processors share.
    model = facts.get("model name", "unknown processor")
    if "cpu family" in facts:
        model += f" (family {facts['cpu family']}, model {facts['model']})"
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    load = f"{os.cpu_count()} processors, load average {os.getloadavg()[0]:.2f} at the end"
    return f"Made at commit {commit} on {today}. Machine: {model},\n{load}"


def _head() -> str:
    return f"""# Figures

Written by `./dev bench`; do not edit. {_measured_at()}.
This page says what Keydrome's own parts cost on a small machine, compared with the targets of its design: the code
around each call to a library, generating and judging operations, the jail (sandbox), the queue and the site's pages.
The machine is virtual and shared, so single times vary. Compare only figures of the same run, by their ratios.
[missed-goals.md](../explanation/missed-goals.md) says why some figures miss their targets and goals.

In the first section, the *floor* is the smallest possible cost of a call: a loop that only calls a library that does
nothing. The *harness* here is the player, the program that makes the calls. The player calls a data structure through
the *runtime*, the code that adds transactions to it. A target in ns is for a machine whose floor is the one in the
column "target". On other machines, compare the measured multiple of the floor with the multiple in that column. A
*goal* is a stricter value, which a prototype with a simpler loop reached. A *timed* call or transaction is one whose
latency the player measures.

A *program* is the list of a thread's operations. In the section on generating programs, a row shows the CPU time for
ten million operations, and in brackets how many operations were measured, and their time. The bytes of keys and
payloads are the bytes per operation in the lists of keys and payloads.

In *recorded* transactions the player logs every call. These rows show the time beyond the same transactions without a
log. The result of a call is a word of 8 bytes; the judge checks all words after a phase. A *phase* is a part of a
session, and its clock runs from the start message until the player has answered and is frozen. The referee, the
trusted process that runs the session, makes the programs of a phase before it, and reads the CPU time and memory after
it. A thread receives its program in parts, which the referee copies to the player while the thread works. *In turn*
means one after the other.
"""


def _output(command: list[str]) -> str:
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
