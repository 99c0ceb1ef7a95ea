"""Tests that a process gets short time slices, and that the processes that it starts inherit them."""

from __future__ import annotations

import platform
import re
import subprocess
import sys

from cli.time_slice import SLICE_NS

# Prints the slice of a child process: the field sched_runtime of sched_getattr(2).
CHILD = """
import ctypes, struct
number = {"x86_64": 315, "aarch64": 275}[__import__("platform").machine()]
attributes = ctypes.create_string_buffer(48)
assert ctypes.CDLL(None).syscall(number, 0, attributes, 48, 0) == 0
print(struct.unpack("IIQiIQQQ", attributes.raw)[5])
"""
PARENT = f"""
import subprocess, sys
from cli.time_slice import ask_for_short_slices
print(ask_for_short_slices(), flush=True)
subprocess.run([sys.executable, "-c", {CHILD!r}], check=True)
"""


def output(*wrapper: str) -> list[str]:
    """Return what the program prints, run by the command `wrapper`."""
    command = [*wrapper, sys.executable, "-c", PARENT]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def has_slices() -> bool:
    """Return whether the kernel is Linux 6.12 or newer, which has slices of different lengths."""
    version = re.match(r"(\d+)\.(\d+)", platform.release())
    assert version
    return (int(version[1]), int(version[2])) >= (6, 12)


def test_child_processes_inherit_short_slices() -> None:
    asked, slice_ns = output()
    assert asked == "True"
    assert int(slice_ns) == SLICE_NS or not has_slices()


def test_a_process_of_another_policy_stays_as_it_is() -> None:
    asked, slice_ns = output("chrt", "--batch", "0")
    assert asked == "False"
    assert int(slice_ns) != SLICE_NS
