"""`./dev soak`: the long versions of the suites, for whoever has an evening, and the tables that only they can fill.

KEYDROME_SOAK multiplies seeds, rounds and repetitions in the tests that know it; the whole `./dev test` list runs with
it. Then the programs below run; each shows how far it is and writes its page with the commit that it ran on. The first
two go on where they stopped when they were interrupted.
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
    "guest": ["tools.guest"],
}


def soak() -> int:
    """Run every suite with the long factor, then the programs; 0 when all of them were content."""
    os.environ.setdefault("KEYDROME_SOAK", FACTOR)
    statuses = [test(fast=False, only=None)]
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, command in PROGRAMS.items():
        print(f"\n== {name}", flush=True)
        state = FOLDER / f"{name}.json"
        done = subprocess.run(
            [str(PYTHON), "-m", *command, "--state", str(state), "--write"], cwd=ROOT, check=False
        )
        statuses.append(done.returncode)
        state.unlink(missing_ok=True)
    return max(statuses)
