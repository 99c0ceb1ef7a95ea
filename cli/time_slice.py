"""Asks the kernel for short time slices, so that other programs delay a session less.

If a program computes on every processor, a thread that wakes up waits until the slice of the running thread has ended:
some milliseconds, however high its own priority is. Libraries that pass a lock from thread to thread wait so for each
operation. Since Linux 6.12 a thread with a shorter slice preempts the running one at once. Older kernels ignore the
request.

Only commands that judge make this request. Slices decide how threads share processors, so a timed run must not change
them.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct

SLICE_NS = 100_000  # the shortest that the kernel accepts
# The number of the system call sched_setattr; Python has no function for it.
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
# struct sched_attr: size, policy, flags, nice, priority, runtime, deadline, period (sched_setattr(2)).
_ATTRIBUTES = struct.Struct("IIQiIQQQ")


def ask_for_short_slices() -> bool:
    """Ask for short slices for this thread, and for all processes that it starts from now on.

    Returns False if that is not possible here. Then nothing has changed.
    """
    number = _SCHED_SETATTR.get(platform.machine())
    if number is None or os.sched_getscheduler(0) != os.SCHED_OTHER:
        return False
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, os.SCHED_OTHER, 0, nice, 0, SLICE_NS, 0, 0)
    return bool(ctypes.CDLL(None).syscall(number, 0, attributes, 0) == 0)
