"""Simulates machines that refuse system calls, by a seccomp filter that is installed before the jail starts."""

import ctypes
import errno
import os
import struct
from collections.abc import Callable

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 0x00050000, 0x7FFF0000
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06


def refusing(*numbers: int, error: int = errno.EPERM) -> Callable[[], None]:
    """Return a preexec_fn that makes the system calls `numbers` fail with `error` in the child and its descendants."""
    calls = [(JUMP_IF_EQUAL, len(numbers) - i, 0, number) for i, number in enumerate(numbers)]
    program = b"".join(
        struct.pack("=HBBI", *instruction)
        for instruction in (
            (LOAD_WORD, 0, 0, 0),
            *calls,
            (RETURN, 0, 0, SECCOMP_RET_ALLOW),
            (RETURN, 0, 0, SECCOMP_RET_ERRNO | error),
        )
    )
    text = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)

    def refuse() -> None:
        if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(len(text)))

    return refuse
