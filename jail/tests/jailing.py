"""Runs the jail as its users do: as a process, with descriptors; and looks afterwards whether anything is left."""

import os
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
# Test processes at the same time get slots of their own, away from those that benchmarks use.
FIRST_SLOT = 700 + os.getpid() % 29 * 10
PATIENCE_S = 30.0
# The jail as it is, and on a hybrid machine with the v1 hierarchies alone.
BACKENDS = pytest.mark.parametrize(
    "backend",
    [pytest.param([], id="as_it_is"), pytest.param(["--without", "unified"], id="without_unified")],
)
REPLY = struct.Struct("=IIQQQ9Q")  # struct keydrome_jail_reply of jail/command.h


@dataclass(frozen=True)
class Outcome:
    """How a jail ended."""

    code: int
    meta: dict[str, str]
    stdout: str
    stderr: str


@dataclass
class Started:
    """A jail that runs. Its standard output is a pipe, its meta lines come on another."""

    process: subprocess.Popen[bytes]
    meta: int

    def wait_until_running(self) -> None:
        """Returns when the program has said that it runs."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"running\n"

    def finish(self) -> Outcome:
        """Waits for the end and collects everything."""
        stdout, stderr = self.process.communicate(timeout=PATIENCE_S)
        stdout = stdout or b""  # a test that has read and closed it itself
        with os.fdopen(self.meta, "rb") as pipe:
            lines = pipe.read().decode().splitlines()
        meta = dict(line.split(":", 1) for line in lines)
        return Outcome(self.process.returncode, meta, stdout.decode(), stderr.decode())


class Jails:
    """Starts jails on the slots of this test process."""

    def __init__(self) -> None:
        self.started: list[Started] = []

    def end(self) -> None:
        """Ends what a failed test left running, so that the next one can use the slots."""
        for each in self.started:
            if each.process.poll() is None:
                each.process.terminate()
                each.process.wait(timeout=PATIENCE_S)

    def start(
        self,
        program: str,
        *arguments: str,
        options: list[str] | None = None,
        slot: int = 0,
        pass_fds: tuple[int, ...] = (),
    ) -> Started:
        """Starts a hostile program of lib/hostile as /program."""
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
        """Starts any program of the host as /program."""
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
        """Runs a hostile program to its end."""
        return self.start(program, *arguments, options=options).finish()


def jailed_processes() -> list[str]:
    """Processes of this test process's slots, as "PID NAME"."""
    users = {str(FIRST_UID + FIRST_SLOT + i) for i in range(10)}
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(
                line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line
            )
        except OSError:
            continue  # it ended meanwhile
        is_dead = fields["State"].startswith("Z")  # only its parent's wait is missing
        if fields["Uid"].split()[0] in users and not is_dead:
            found.append(f"{fields['Pid']} {fields['Name']}")
    return found


def groups() -> list[str]:
    """Control groups of this test process's slots."""
    names = {f"keydrome-slot-{FIRST_SLOT + i}" for i in range(10)}
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    places = {Path(line.split()[4]) for line in mounts if " - cgroup" in line}
    return [str(place / name) for place in places for name in names if (place / name).exists()]


def until(condition: Callable[[], bool], what: str) -> None:
    """Asks again until the kernel has done its part; there is no event for these."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"still not: {what}"
