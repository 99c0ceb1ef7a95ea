"""Keeps the programs of the site of `./dev up` running: web server, scheduler and two workers.

The bench worker executes runs (requests to judge a library). The results worker draws plots, and requeues runs whose
worker died.

`./dev up` starts this supervisor in the background (see services.py); SIGTERM stops it. The child processes end with
the supervisor, even if SIGKILL ends the supervisor, because each child sets PR_SET_PDEATHSIG. The supervisor restarts a
child that ends by itself, at most once per RESTART_PAUSE_S.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

RESTART_PAUSE_S = 2.0
STOP_TIMEOUT_S = 20.0
POLL_S = 0.5
# When a program starts and NAME.log is longer than this, the log is renamed to NAME.old.log.
LOG_BYTES = 16 << 20
PR_SET_PDEATHSIG = 1


class Child:
    """One supervised program with its log."""

    def __init__(self, name: str, command: list[str], log: Path) -> None:
        self.name = name
        self.command = command
        self.log = log
        self.started = 0.0
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the program in a process session of its own; append its output to the log."""
        self.started = time.monotonic()
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_suffix(".old.log"))
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - this process has one thread
            )

    def keep(self) -> None:
        """Restart the program if it has ended, at most once per RESTART_PAUSE_S."""
        if self.process is None or self.process.poll() is None:
            return
        if time.monotonic() - self.started >= RESTART_PAUSE_S:
            # A negative status is the number of the signal that ended the process.
            status = self.process.returncode
            how = f"signal {-status} ended it" if status < 0 else f"its exit status was {status}"
            if status == -signal.SIGKILL:
                how += ", often a sign that memory ran out"
            print(
                f"the program {self.name} has ended ({how}) and is started again; its output is in {self.log}",
                flush=True,
            )
            self.start()

    def stop(self, deadline: float) -> None:
        """Wait for the program until the deadline, then kill its process group."""
        if self.process is None:
            return
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def main() -> int:
    """Run the children named in a JSON file {"logs": DIR, "children": {NAME: COMMAND}} until SIGTERM or SIGINT."""
    plan = json.loads(Path(sys.argv[1]).read_text())
    logs = Path(plan["logs"])
    children = [
        Child(name, command, logs / f"{name}.log") for name, command in plan["children"].items()
    ]
    stop = False

    def on_signal(_number: int, _frame: object) -> None:
        nonlocal stop
        stop = True

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    for child in children:
        child.start()
    while not stop:
        for child in children:
            child.keep()
        time.sleep(POLL_S)
    for child in children:
        if child.process is not None and child.process.poll() is None:
            child.process.terminate()
    deadline = time.monotonic() + STOP_TIMEOUT_S
    for child in children:
        child.stop(deadline)
    return 0


if __name__ == "__main__":
    sys.exit(main())
