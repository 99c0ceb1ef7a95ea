"""A machine that refuses one thing: the jail ends with an error and never starts the program with less."""

import ctypes
import errno
import os
import struct
import subprocess
from collections.abc import Callable

import pytest

from jail.tests.jailing import FIRST_SLOT, HOSTILE, JAIL, Jails

# Every call that builds the jail, by its number on x86-64 (asm/unistd_64.h).
BUILDING = {
    "capget": 125,
    "capset": 126,
    "chdir": 80,
    "clone": 56,
    "clone3": 435,
    "close_range": 436,
    "dup2": 33,
    "dup3": 292,
    "execveat": 322,
    "fsconfig": 431,
    "fsmount": 432,
    "fsopen": 430,
    "mkdir": 83,
    "mount": 165,
    "mount_setattr": 442,
    "move_mount": 429,
    "open_tree": 428,
    "pidfd_open": 434,
    "pipe2": 293,
    "pivot_root": 155,
    "prctl": 157,
    "prlimit64": 302,
    "seccomp": 317,
    "setdomainname": 171,
    "setgroups": 116,
    "sethostname": 170,
    "setns": 308,
    "setresgid": 119,
    "setresuid": 117,
    "setsid": 112,
    "signalfd4": 289,
    "umount2": 166,
    "unshare": 272,
}
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW = 0x00050000, 0x7FFF0000
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06


def without(number: int) -> Callable[[], None]:
    """Returns what a child calls so that one system call fails with EPERM in it and its descendants."""
    program = b"".join(
        struct.pack("=HBBI", *instruction)
        for instruction in (
            (LOAD_WORD, 0, 0, 0),
            (JUMP_IF_EQUAL, 0, 1, number),
            (RETURN, 0, 0, SECCOMP_RET_ERRNO | errno.EPERM),
            (RETURN, 0, 0, SECCOMP_RET_ALLOW),
        )
    )
    text = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)

    def refuse() -> None:
        if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "cannot refuse the call", str(len(text)))

    return refuse


@pytest.mark.parametrize("call", BUILDING)
def test_nothing_runs_when_a_step_fails(jails: Jails, call: str) -> None:
    reading, writing = os.pipe()
    command = [str(JAIL), "--slot", str(FIRST_SLOT), "--meta-fd", str(writing)]
    command += ["--bind", f"{HOSTILE / 'surroundings'}:/program", "--", "/program"]
    done = subprocess.run(
        command,
        pass_fds=(writing,),
        preexec_fn=without(BUILDING[call]),
        capture_output=True,
        timeout=30,
        text=True,
        check=False,
    )
    os.close(writing)
    with os.fdopen(reading) as pipe:
        lines = pipe.read().splitlines()
    assert done.returncode in {2, 3}, done.stdout
    assert done.stdout == "", "the program must not have been started"
    assert done.stderr.startswith("jail: ")
    assert {"status:failed", "status:refused"} & set(lines)
