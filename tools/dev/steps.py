"""Runs the steps of `./dev`: commands with a log file and a duration, and steps that are skipped if nothing changed.

A slow step has a stamp: the SHA-256 of its inputs, stored in .state/NAME when the step has succeeded. A step with an
unchanged stamp is skipped. Therefore a second `./dev up` repeats no such step. After an interruption, the next
`./dev up` begins with the first step that has not succeeded.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dev.paths import LOGS, ROOT, STATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

TAIL_LINES = 20
SHOWN_COMMAND = 160  # characters of a command that a message shows; the log has the whole command
KILLED = (
    "signal 9 comes from outside the command, and often means that memory ran out: end other programs, or use a "
    "machine with more memory, and run ./dev again"
)


class StepError(Exception):
    """A step failed; the message says what to do."""


@dataclass
class Timings:
    """Seconds per step, in order, for the table at the end."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Print the step's name, run the body, print and keep its duration."""
        print(f"- {name} ...", flush=True)
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = time.monotonic() - begin
        print(f"  {name}: {self.seconds[name]:.1f} s", flush=True)

    def table(self) -> str:
        """Return the durations as aligned lines, with their sum."""
        rows = [*self.seconds.items(), ("total", sum(self.seconds.values()))]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"  {name:<{width}}  {seconds:7.1f} s" for name, seconds in rows)


def run(
    command: list[str], *, log: str, hint: str, env: dict[str, str] | None = None, cwd: Path = ROOT
) -> None:
    """Run a command with its output in var/log/LOG.log; on failure raise StepError with the last lines and the hint.

    If the command or a compiler that it started was killed, the error has the advice KILLED in place of the hint.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / f"{log}.log"
    with path.open("wb") as out:
        out.write(f"$ {shlex.join(command)}\n".encode())
        out.flush()
        try:
            done = subprocess.run(
                command,
                cwd=cwd,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            )
        except FileNotFoundError as error:
            raise StepError(
                f"{command[0]} is not installed: install it, or run ./dev build, which installs Keydrome's packages"
            ) from error
    if done.returncode != 0:
        tail = path.read_text(errors="replace").splitlines()[-TAIL_LINES:]
        # GCC writes "fatal error: Killed signal terminated program cc1plus", and ends with exit code 1.
        killed = done.returncode == -signal.SIGKILL or any("Killed signal" in line for line in tail)
        raise StepError(
            "\n".join(
                [
                    f"a command {_ended(done.returncode)}: {_shortened(command)}",
                    *(f"    {line}" for line in tail),
                    f"whole log: {path}",
                    f"what to do: {KILLED if killed else hint}",
                ]
            )
        )


def _ended(code: int) -> str:
    return f"failed with exit code {code}" if code > 0 else f"was ended by signal {-code}"


def _shortened(command: list[str]) -> str:
    text = shlex.join(command)
    return text if len(text) <= SHOWN_COMMAND else f"{text[:SHOWN_COMMAND]} ..."


def digest(paths: Iterable[Path], *words: str) -> str:
    """Return the SHA-256 of some words and of the names and contents of files; a folder means every file below it."""
    total = hashlib.sha256()
    for word in words:
        total.update(word.encode() + b"\0")
    for path in paths:
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            if "__pycache__" in file.parts:
                continue
            total.update(str(file.relative_to(ROOT)).encode() + b"\0")
            total.update(file.read_bytes())
    return total.hexdigest()


def stamped(name: str, stamp: str, action: Callable[[], None], *, made: Path | None = None) -> bool:
    """Run `action` if .state/NAME differs from `stamp`, or if the file `made`, which `action` creates, is missing.

    Write the stamp only after success. Return whether the action ran.
    """
    path = STATE / name
    there = made is None or made.exists()
    if there and path.exists() and path.read_text() == stamp:
        return False
    action()
    STATE.mkdir(exist_ok=True)
    path.write_text(stamp)
    return True


def become_root() -> None:
    """Restart `./dev` under sudo if the user is not root, because the jail (the sandbox of libraries) needs root."""
    if os.geteuid() == 0:
        return
    print("Keydrome's jail needs root (namespaces, control groups); restarting under sudo.")
    keep = "PATH,HOME,KEYDROME_PORT,KEYDROME_VAR,PIP_INDEX_URL,UV_INDEX_URL,UV_DEFAULT_INDEX"
    try:
        os.execvp("sudo", ["sudo", f"--preserve-env={keep}", sys.executable, *sys.argv])  # noqa: S606
    except FileNotFoundError as error:
        raise StepError(
            "the jail needs root, and sudo is not installed: run ./dev as root"
        ) from error
