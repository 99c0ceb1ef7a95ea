"""Simulates machines that refuse one setup step: the jail must end with an error and must not start the program."""

import errno
import os
import subprocess

import pytest

from jail.tests.jailing import FIRST_SLOT, HOSTILE, JAIL, Jails
from jail.tests.refusing import refusing

# Every system call of the setup, with its number on x86-64 (asm/unistd_64.h).
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
# If pivot_root is refused, the jail covers the old root with mount and chroot instead.
PIVOT_ROOT, CHROOT = 155, 161
UNUSED = 9999  # no system call has this number


def run(program: str, *refused: int, error: int = errno.EPERM) -> tuple[int, str, str, list[str]]:
    """Run a program on a machine that refuses system calls.

    Return exit code, stdout, stderr, and the meta lines, in which the jail reports how the program ended.
    """
    reading, writing = os.pipe()
    command = [str(JAIL), "--slot", str(FIRST_SLOT), "--meta-fd", str(writing)]
    command += ["--bind", f"{HOSTILE / program}:/program", "--", "/program"]
    done = subprocess.run(
        command,
        pass_fds=(writing,),
        preexec_fn=refusing(*refused, error=error),
        capture_output=True,
        timeout=30,
        text=True,
        check=False,
    )
    os.close(writing)
    with os.fdopen(reading) as pipe:
        return done.returncode, done.stdout, done.stderr, pipe.read().splitlines()


def nothing_ran(done: tuple[int, str, str, list[str]]) -> bool:
    """Return true if the jail ended with an error and did not start the program."""
    code, stdout, stderr, meta = done
    reported = bool({"status:failed", "status:refused"} & set(meta)) and stderr.startswith("jail: ")
    return code in {2, 3} and stdout == "" and reported


@pytest.mark.parametrize("call", BUILDING)
def test_nothing_runs_when_a_step_fails(jails: Jails, call: str) -> None:
    done = run("surroundings", BUILDING[call])
    assert nothing_ran(done), done


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS])
@pytest.mark.parametrize("program", ["read_outside", "write_outside", "after_tighten"])
def test_root_without_pivot_root(jails: Jails, program: str, error: int) -> None:
    """Docker's default seccomp profile refuses pivot_root. The jail must then hide the old root by covering it."""
    code, stdout, _stderr, meta = run(program, PIVOT_ROOT, error=error)
    assert code == 0, meta
    assert "exit_code:0" in meta, stdout
    assert stdout.endswith("refused\n")


def test_covered_root_looks_the_same(jails: Jails) -> None:
    facts = ["cpu_us", "wall_us", "memory_peak_bytes"]
    covered, pivoted = run("surroundings", PIVOT_ROOT), run("surroundings", UNUSED)
    assert covered[:3] == pivoted[:3]
    assert [line for line in covered[3] if line.split(":")[0] not in facts] == [
        line for line in pivoted[3] if line.split(":")[0] not in facts
    ]


@pytest.mark.parametrize("call", ["mount", "chroot", "chdir"])
def test_both_ways_to_the_new_root_refused(jails: Jails, call: str) -> None:
    number = CHROOT if call == "chroot" else BUILDING[call]
    done = run("surroundings", PIVOT_ROOT, number)
    assert nothing_ran(done), done


def test_other_errors_of_pivot_root_end_the_jail(jails: Jails) -> None:
    done = run("surroundings", PIVOT_ROOT, error=errno.EINVAL)
    assert nothing_ran(done), done
