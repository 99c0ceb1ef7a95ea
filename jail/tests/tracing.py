"""Stops a process at its exit with ptrace(2). This simulates a kernel that takes long to end a process."""

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import SIGTRAP, Signals

PTRACE_CONT, PTRACE_DETACH, PTRACE_SEIZE = 7, 17, 0x4206
PTRACE_O_TRACEEXIT, PTRACE_EVENT_EXIT = 0x40, 6
WAIT_ALL = 0x40000000  # __WALL: also wait for a traced process that is no child


def only_child(process: int) -> int:
    """Return the process id of the only child of a process."""
    (child,) = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return int(child)


def _ptrace(request: int, process: int, data: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(request, process, ctypes.c_void_p(0), ctypes.c_void_p(data)) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace request {request} of process {process}")


@contextmanager
def held_at_exit(process: int) -> Iterator[Callable[[], None]]:
    """Trace the process, and yield a function that waits until the process has called exit and is stopped there.

    The process continues at the end of the `with` block. Signals reach the process as usual.
    """
    _ptrace(PTRACE_SEIZE, process, PTRACE_O_TRACEEXIT)

    def wait_until_held() -> None:
        while True:
            _, status = os.waitpid(process, WAIT_ALL)
            assert os.WIFSTOPPED(status), f"the process ended with wait status {status}"
            if status >> 8 == SIGTRAP | PTRACE_EVENT_EXIT << 8:
                return
            _ptrace(PTRACE_CONT, process, Signals(os.WSTOPSIG(status)))

    try:
        yield wait_until_held
    finally:
        with suppress(ProcessLookupError):  # SIGKILL has ended the process
            _ptrace(PTRACE_DETACH, process, 0)
