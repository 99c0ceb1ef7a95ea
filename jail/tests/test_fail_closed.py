"""A machine that refuses one thing: the jail ends with an error and never starts the program with less."""

import errno
import os
import subprocess

import pytest

from jail.tests.jailing import FIRST_SLOT, HOSTILE, JAIL, Jails
from jail.tests.refusing import refusing

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
# What refusing one call does not stop: there is another way, unless that is refused as well.
PIVOT_ROOT, CHROOT = 155, 161
UNUSED = 9999


def run(program: str, *refused: int, error: int = errno.EPERM) -> tuple[int, str, str, list[str]]:
    """Runs a hostile program on a machine that refuses calls; returns exit code, output, errors and meta lines."""
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
    """Says whether the jail ended with an error instead of starting the program."""
    code, stdout, stderr, meta = done
    told = bool({"status:failed", "status:refused"} & set(meta)) and stderr.startswith("jail: ")
    return code in {2, 3} and stdout == "" and told


@pytest.mark.parametrize("call", BUILDING)
def test_nothing_runs_when_a_step_fails(jails: Jails, call: str) -> None:
    done = run("surroundings", BUILDING[call])
    assert nothing_ran(done), done


@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS])
@pytest.mark.parametrize("program", ["read_outside", "write_outside", "after_tighten"])
def test_root_without_pivot_root(jails: Jails, program: str, error: int) -> None:
    """As in a container with Docker's default profile: the old root is covered instead."""
    code, stdout, _stderr, meta = run(program, PIVOT_ROOT, error=error)
    assert code == 0, meta
    assert "exit_code:0" in meta, stdout
    assert stdout.endswith("refused\n")


def test_root_without_pivot_root_looks_the_same(jails: Jails) -> None:
    facts = ["cpu_us", "wall_us", "memory_peak_bytes"]
    covered, pivoted = run("surroundings", PIVOT_ROOT), run("surroundings", UNUSED)
    assert covered[:3] == pivoted[:3]
    assert [line for line in covered[3] if line.split(":")[0] not in facts] == [
        line for line in pivoted[3] if line.split(":")[0] not in facts
    ]


@pytest.mark.parametrize("call", ["mount", "chroot", "chdir"])
def test_neither_way_to_the_new_root(jails: Jails, call: str) -> None:
    number = CHROOT if call == "chroot" else BUILDING[call]
    done = run("surroundings", PIVOT_ROOT, number)
    assert nothing_ran(done), done


def test_another_failure_of_pivot_root_is_one(jails: Jails) -> None:
    done = run("surroundings", PIVOT_ROOT, error=errno.EINVAL)
    assert nothing_ran(done), done
