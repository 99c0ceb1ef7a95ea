"""Removes the processes and control groups that killed jails have left on this machine.

The worker, the process that runs jobs, uses this module. A jail is the sandbox in which one untrusted library runs. A
slot is a number that gives a jail its own user and control group; at most one jail runs in a slot.
"""

from __future__ import annotations

import subprocess

from runner.settings import BUILD_FIRST, load_settings

SWEEP_TIMEOUT_SECONDS = 60
_CANNOT_REMOVE = "cannot remove the processes and control groups of earlier jails"


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
        except OSError as error:
            return [*lines, f"{_CANNOT_REMOVE}: {error}; {BUILD_FIRST}"]
        except subprocess.TimeoutExpired:
            return [
                *lines,
                f"{_CANNOT_REMOVE} within {SWEEP_TIMEOUT_SECONDS} s: restart the worker, or if this fails, the machine",
            ]
        lines += [*done.stdout.splitlines(), *done.stderr.splitlines()]
    return lines
