"""Implements `./dev soak`: runs the long versions of the test suites and writes the pages that report their results.

The soak takes some hours. First all suites of `./dev test` run with KEYDROME_SOAK set, which multiplies the seeds,
rounds and repetitions of some tests. Then the programs below run. Each program prints its progress. Each program of
PROGRAMS writes its page in docs/reference. So do `structure-profile`, and `guest`, which tests the jail (the sandbox)
in virtual machines.
After an interruption, `fault-storm` starts again, and every other program of PROGRAMS continues where it stopped.
"""

from __future__ import annotations

import os
import subprocess

from dev import packages
from dev.paths import PYTHON, ROOT, VAR
from dev.testing import test

FACTOR = "20"
FOLDER = VAR / "soak"
PROGRAMS = {
    "certified": ["tools.reports.certified"],
    "kill-matrix": ["tools.reports.kill_matrix", "--gate-seeds", "20"],
    "gate-time": ["tools.reports.gate_time"],
    "fault-storm": ["tools.reports.fault_storm"],
    "battery": ["tools.reports.battery"],
    "laptop-scale": ["tools.reports.laptop_scale"],
    "papers": ["tools.reports.papers"],
    "power": ["tools.reports.power"],
    "structures": ["tools.reports.structures"],
    "timed-share": ["tools.reports.timed_share"],
}
# The last one, `stale`, lists the pages that are older than the code that they measure. It never fails.
SHORT_PROGRAMS = {
    "guest": ["tools.guest", "--write"],
    "fuzz": ["tools.fuzz"],
    "structure-profile": ["tools.reports.structure_profile", "--write"],
    "stale": ["tools.reports.stale"],
}


def soak() -> int:
    """Run every suite with KEYDROME_SOAK set, then the programs; return 0 if all of them passed."""
    os.environ.setdefault("KEYDROME_SOAK", FACTOR)
    statuses = [test(fast=False, only=None)]
    packages.install(packages.BENCH)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, command in PROGRAMS.items():
        state = FOLDER / f"{name}.json"
        statuses.append(_run(name, [*command, "--state", str(state), "--write"]))
        state.unlink(missing_ok=True)
    statuses += [_run(name, command) for name, command in SHORT_PROGRAMS.items()]
    return max(statuses)


def _run(name: str, command: list[str]) -> int:
    print(f"\n== {name}", flush=True)
    return subprocess.run([str(PYTHON), "-m", *command], cwd=ROOT, check=False).returncode
