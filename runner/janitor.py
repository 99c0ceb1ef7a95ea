"""Removes the processes and control groups that killed jails have left on this machine.

The worker, the process that runs jobs, uses this module. A jail is the sandbox in which one untrusted library runs. A
slot is a number that gives a jail its own user and control group; at most one jail runs in a slot.
"""

from __future__ import annotations

import subprocess

from runner.settings import load_settings

SWEEP_TIMEOUT_SECONDS = 60


def remove_leftovers(slot: int) -> list[str]:
    """Remove the leftovers of jail slot `slot`, which the caller holds, and of every slot that no process holds.

    Return the messages of `jail --sweep`, one per line. Slots that other processes hold are not affected, whether a
    jail runs in them or not. If `jail` cannot be started or does not end in time, the last message says so.
    """
    lines: list[str] = []
    for options in (["--slot", str(slot)], []):
        command = [str(load_settings().jail), "--sweep", *options]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=SWEEP_TIMEOUT_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return [*lines, f"jail --sweep: {error}"]
        lines += [*done.stdout.splitlines(), *done.stderr.splitlines()]
    return lines
