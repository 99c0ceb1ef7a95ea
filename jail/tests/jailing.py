"""Helpers for the jail's tests: run the jail as a process with descriptors, and look for leftovers afterwards."""

import errno
import os
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KEYDROME_BUILD", ROOT / "build" / "release"))
JAIL = BUILD / "bin" / "jail"
HOSTILE = BUILD / "lib" / "hostile"
FIRST_UID = 60000
SLOTS = 10


def _reserve_slots() -> tuple[int, list[socket.socket]]:
    """Reserves SLOTS consecutive slots for this test process, under the names that runner/slots.py uses.

    A slot is the number that gives a jail its own user and control groups. Returns the first slot, and the sockets that
    hold the names. While the names are held, no other process starts a jail in these slots, and no
    `jail --sweep` of another process kills processes in these slots.
    """
    for first in range(100, 900, SLOTS):
        names = [f"keydrome-slot-{slot}" for slot in range(first, first + SLOTS)]
        holders: list[socket.socket] = []
        try:
            for name in [f"keydrome-test-slots-{first}", *names]:
                holders.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
                holders[-1].bind(f"\0{name}")
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            for holder in holders:
                holder.close()
        else:
            return first, holders
    pytest.exit("all jail slots from 100 to 899 are in use: wait until other tests end", 2)


FIRST_SLOT, _HOLDERS = _reserve_slots()
TIMEOUT_S = 30.0
# Runs a test twice: with all control group hierarchies that the machine has mounted, and without the v2 hierarchy.
BACKENDS = pytest.mark.parametrize(
    "backend",
    [pytest.param([], id="as_it_is"), pytest.param(["--without", "unified"], id="without_unified")],
)
REPLY = struct.Struct("=IIQQQQ9Q")  # struct keydrome_jail_reply of jail/command.h


@dataclass(frozen=True)
class Outcome:
    """How a jail ended: its exit code, its meta lines (KEY:VALUE, its report to the caller), and its output."""

    code: int
    meta: dict[str, str]
    stdout: str
    stderr: str


@dataclass
class Started:
    """A running jail. Its standard output is a pipe; its meta lines come over another pipe."""

    process: subprocess.Popen[bytes]
    meta: int

    def wait_until_running(self) -> None:
        """Wait until the program has printed "running"."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"running\n"

    def finish(self) -> Outcome:
        """Wait for the end of the jail, and return everything that it has written."""
        stdout, stderr = self.process.communicate(timeout=TIMEOUT_S)
        stdout = stdout or b""  # None if the test has closed the pipe itself
        with os.fdopen(self.meta, "rb") as pipe:
            lines = pipe.read().decode().splitlines()
        meta = dict(line.split(":", 1) for line in lines)
        return Outcome(self.process.returncode, meta, stdout.decode(), stderr.decode())


class Jails:
    """Starts jails on the slots of this test process."""

    def __init__(self) -> None:
        self.started: list[Started] = []

    def end(self) -> None:
        """Terminate the jails that a failed test left running, so that the next test can use their slots."""
        for each in self.started:
            if each.process.poll() is None:
                each.process.terminate()
                each.process.wait(timeout=TIMEOUT_S)

    def start(
        self,
        program: str,
        *arguments: str,
        options: list[str] | None = None,
        slot: int = 0,
        pass_fds: tuple[int, ...] = (),
    ) -> Started:
        """Start a program of build/.../lib/hostile as /program in a jail."""
        return self.start_path(
            HOSTILE / program, *arguments, options=options, slot=slot, pass_fds=pass_fds
        )

    def start_path(
        self,
        path: Path,
        *arguments: str,
        options: list[str] | None = None,
        slot: int = 0,
        pass_fds: tuple[int, ...] = (),
    ) -> Started:
        """Start a program of the host as /program in a jail."""
        reading, writing = os.pipe()
        command = [str(JAIL), "--slot", str(FIRST_SLOT + slot), "--meta-fd", str(writing)]
        command += ["--bind", f"{path}:/program", *(options or [])]
        process = subprocess.Popen(
            [*command, "--", "/program", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(writing, *pass_fds),
        )
        os.close(writing)
        self.started.append(Started(process, reading))
        return self.started[-1]

    def run(self, program: str, *arguments: str, options: list[str] | None = None) -> Outcome:
        """Run a program of build/.../lib/hostile in a jail to its end."""
        return self.start(program, *arguments, options=options).finish()


def jailed_processes() -> list[str]:
    """Return the processes of this test process's slots as "PID NAME", without zombies."""
    users = {str(FIRST_UID + FIRST_SLOT + i) for i in range(SLOTS)}
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(
                line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line
            )
        except OSError:
            continue  # the process has ended
        is_dead = fields["State"].startswith("Z")
        if fields["Uid"].split()[0] in users and not is_dead:
            found.append(f"{fields['Pid']} {fields['Name']}")
    return found


def groups() -> list[str]:
    """Return the control groups of this test process's slots."""
    names = {f"keydrome-slot-{FIRST_SLOT + i}" for i in range(SLOTS)}
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    places = {Path(line.split()[4]) for line in mounts if " - cgroup" in line}
    return [str(place / name) for place in places for name in names if (place / name).exists()]


def until(condition: Callable[[], bool], what: str) -> None:
    """Poll until the condition is true. The kernel has no event for the conditions that the tests wait for."""
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, f"after {TIMEOUT_S} s still not true: {what}"
