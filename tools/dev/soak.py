"""`./dev soak`: the long versions of the suites, for whoever has an evening, and the tables that only they can fill.

KEYDROME_SOAK multiplies seeds, rounds and repetitions in the tests that know it; the whole `./dev test` list runs with
it. Then the programs below run; each shows how far it is and writes its page with the commit that it ran on. All but
the fault storm go on where they stopped when they were interrupted.
"""

from __future__ import annotations

import os
import subprocess

from dev.paths import PYTHON, ROOT, VAR
from dev.testing import test

FACTOR = "20"
FOLDER = VAR / "soak"
PROGRAMS = {
    "certified": ["tools.certified"],
    "kill-matrix": ["tools.kill_matrix", "--gate-seeds", "20"],
    "fault-storm": ["tools.fault_storm"],
    "battery": ["tools.battery"],
}
SHORT_PROGRAMS = {"guest": ["tools.guest", "--write"], "fuzz": ["tools.fuzz"]}


def soak() -> int:
    """Run every suite with the long factor, then the programs; 0 when all of them were content."""
    os.environ.setdefault("KEYDROME_SOAK", FACTOR)
    statuses = [test(fast=False, only=None)]
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
