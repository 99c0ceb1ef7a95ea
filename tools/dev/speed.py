"""`./dev bench`: measures the figures that Keydrome promises and writes them into docs/reference/figures.md.

`./dev bench-harness` measures the first section alone, what the harness costs, and puts it in the place of the old one.

Each figure comes from a program that also runs alone; comparisons are made in one run of that program, in turn, and
medians are printed. Never a test: a slow machine is no bug.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from dev import packages
from dev.paths import PYTHON, RELEASE, ROOT
from dev.setup import set_up_build
from dev.steps import StepError

FIGURES = ROOT / "docs" / "reference" / "figures.md"
HARNESS = "harness cost"
# Programs that print what they measure and write {"title", "rows": [{"figure", "value", "target"}]} to --json FILE.
PROGRAMS = {
    HARNESS: [str(RELEASE / "bin" / "harness_cost")],
    "generation": [str(RELEASE / "bin" / "generation_cost")],
    "certify": [str(RELEASE / "bin" / "certify_bench")],
    "jail": [str(PYTHON), "jail/bench/latency.py"],
    "phases": [str(RELEASE / "bin" / "phase_cost")],
    "structures": [str(PYTHON), "-m", "tools.bench.structures"],
    "modes": [str(PYTHON), "-m", "tools.bench.modes"],
    "road": [str(PYTHON), "-m", "tools.bench.road"],
    "queue": [str(PYTHON), "-m", "tools.bench.queue_scale"],
    "board page": [str(PYTHON), "-m", "tools.bench.board_page"],
}


def bench() -> int:
    """Build, run every program, write the page."""
    packages.install(packages.BENCH)
    set_up_build()
    sections = [_measure(name, command) for name, command in PROGRAMS.items()]
    FIGURES.write_text("\n".join([_head(), *sections]))
    print(f"\nwrote {FIGURES.relative_to(ROOT)}")
    return 0


def bench_harness() -> int:
    """Build, measure floor and harness in turn, and replace that section of the page."""
    packages.install(packages.BENCH)
    set_up_build()
    section = _measure(HARNESS, PROGRAMS[HARNESS])
    title, _, table = section.partition("\n")
    alone = f"{title}\n\nMeasured after the rest of this page: {_measured_at()}.\n{table}"
    FIGURES.write_text(with_section(FIGURES.read_text(), alone))
    print(f"\nwrote {FIGURES.relative_to(ROOT)}")
    return 0


def with_section(page: str, section: str) -> str:
    """Return the page with that section in the place of the one with the same title, or at its end."""
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
            raise StepError(f"{name}: the program failed; run it alone: {' '.join(command)}")
        result = json.loads(path.read_text())
    rows = [f"| {row['figure']} | {row['value']} | {row['target']} |" for row in result["rows"]]
    return "\n".join(
        [
            f"## {result['title']}",
            "",
            "| figure | measured | to reach |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def _measured_at() -> str:
    commit = _output(["git", "rev-parse", "--short", "HEAD"])
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        "unknown processor",
    )
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    load = f"{os.cpu_count()} processors, load average {os.getloadavg()[0]:.2f} at the end"
    return f"commit {commit}, {today}, {model},\n{load}"


def _head() -> str:
    return f"""# Figures

Written by `./dev bench`; not edited by hand: {_measured_at()}.
The machine is virtual and shared: read ratios of one run, not single numbers.
"""


def _output(command: list[str]) -> str:
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
