"""Starts and stops the site of `./dev up`. One background process, the supervisor, keeps the site's programs running.

The file var/run/site.json records the supervisor's pid and start time. `./dev down` compares both, so it never stops
another process that has the same pid.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dev import ports
from dev.alone import alone_in_clone, alone_on_machine
from dev.paths import LOGS, PYTHON, ROOT, RUN, VENV
from dev.steps import StepError, digest

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

RECORD = RUN / "site.json"
DEFAULT_PORT = 8000
STARTING = "keydrome-site-starts"  # the machine-wide name of the lock
# How many slots the workers choose from. A jail is the sandbox of a tested library. A slot is a number that gives a
# jail its own Linux user (runner/slots.py).
SITE_SLOTS = "100"
PORTS_END = 65_536
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Site:
    """A started site, as recorded in var/run/site.json."""

    pid: int  # of the supervisor
    started_ticks: int  # when the supervisor started, in clock ticks since boot
    port: int
    code: str  # digest of the code

    @property
    def url(self) -> str:
        """The address of the site's front page."""
        return f"http://127.0.0.1:{self.port}/"

    def alive(self) -> bool:
        """Return whether the supervisor still runs: its pid exists and has the recorded start time."""
        return _start_ticks(self.pid) == self.started_ticks


def _start_ticks(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[19])  # field 22 of proc(5), counted after the name


def recorded() -> Site | None:
    """Return the site that was started last, whether it still runs or not."""
    try:
        return Site(**json.loads(RECORD.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def code_digest() -> str:
    """Return a digest of all code that a running site has loaded."""
    folders = [
        ROOT / name
        for name in (
            "runner",
            "results",
            "leaderboard",
            "web",
            "benchmarks",
            "runtime/configurations",
        )
    ]
    files = [
        p
        for folder in folders
        for p in sorted(folder.rglob("*"))
        if p.suffix in {".py", ".html", ".json", ".css", ".js"}
    ]
    return digest([*files, ROOT / "uv.lock"])


def _alone() -> AbstractContextManager[None]:
    """Hold a file lock while a site is started or stopped. Two starts at once would make two sites but record one."""
    return alone_in_clone(RUN / "lock", "another ./dev up or ./dev down of this clone")


def ensure() -> Site:
    """Return the running site. Start a site if none runs; restart it if its code has changed or it does not answer."""
    code = code_digest()
    with _alone():
        site = recorded()
        if site is not None and site.alive():
            if site.code == code and _answers(site):
                return site
            _stop()
        return _start(code)


def _start(code: str) -> Site:
    """Start the site while no other clone starts one, because two clones could choose the same port."""
    with alone_on_machine(STARTING, "the start of another clone's site"):
        return _start_alone(code)


def _start_alone(code: str) -> Site:
    RUN.mkdir(parents=True, exist_ok=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    with _hold_port(wanted_port(os.environ.get("KEYDROME_PORT"))) as holder:
        port = ports.number(holder)
        plan = RUN / "supervisor.json"
        plan.write_text(json.dumps({"logs": str(LOGS), "children": _children(port)}, indent=1))
        with interrupts_deferred():
            site = _start_recorded(plan, holder, code)
    deadline = time.monotonic() + START_TIMEOUT_S
    while not _answers(site):
        if time.monotonic() > deadline:
            _stop()
            raise StepError(
                f"the web server did not answer on {site.url} within {START_TIMEOUT_S:.0f} s: "
                f"read {LOGS / 'web.log'}"
            )
        time.sleep(0.1)
    return site


def _start_recorded(plan: Path, holder: socket.socket, code: str) -> Site:
    """Start the supervisor and write the record, which `./dev down` needs to stop it.

    The supervisor inherits the socket that reserves the port, so the port is reserved until the supervisor ends.
    """
    with (LOGS / "supervisor.log").open("ab") as out:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("supervisor.py")), str(plan)],
            cwd=ROOT,
            env={**os.environ, **environment()},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=[holder.fileno()],
        )
    ticks = _start_ticks(process.pid)
    if ticks is None:
        raise StepError(
            "the supervisor, which keeps the site's programs running, ended at its start: "
            f"read {LOGS / 'supervisor.log'}"
        )
    site = Site(process.pid, ticks, ports.number(holder), code)
    draft = RECORD.with_suffix(".draft")  # renamed when complete, so readers see a whole record
    draft.write_text(json.dumps(asdict(site)))
    draft.replace(RECORD)
    return site


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Delay a Ctrl-C until the block has ended, then raise KeyboardInterrupt. Use it only in the main thread."""
    asked = False

    def remember(_signal: int, _frame: object) -> None:
        nonlocal asked
        asked = True

    before = signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        raise KeyboardInterrupt


def wanted_port(text: str | None) -> int:
    """Return the port in KEYDROME_PORT; raise StepError if it is not a valid port."""
    if text is None:
        return DEFAULT_PORT
    if not (text.isascii() and text.isdigit() and 0 < int(text) < PORTS_END):
        raise StepError(
            f"KEYDROME_PORT is {text!r}; set it to a number from 1 to {PORTS_END - 1}, or unset it"
        )
    return int(text)


def environment() -> dict[str, str]:
    """Return the environment variables that every process of the site needs."""
    return {
        "PYTHONPATH": str(ROOT),
        "KEYDROME_BOARD_SCALE": "smoke",
        "PYTHONUNBUFFERED": "1",
        "KEYDROME_COMMIT": _commit(),
        # The worker takes the first free slot, because the site of another clone may have slot 0.
        "KEYDROME_SLOTS": os.environ.get("KEYDROME_SLOTS", SITE_SLOTS),
    }


def _commit() -> str:
    """Return the commit of this checkout, with a plus sign if files differ from it; empty without git."""
    try:
        told = subprocess.run(
            ["git", "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty=+"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return ""
    return told.stdout.strip()


def _children(port: int) -> dict[str, list[str]]:
    celery = [str(VENV / "bin" / "celery"), "-A", "web.celery", "worker", "--pool", "solo"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO"]
    return {
        "web": [
            str(VENV / "bin" / "gunicorn"),
            "web.wsgi",
            "-k",
            "gthread",
            "--threads",
            "8",
            "--no-control-socket",
            "--reuse-port",  # the supervisor holds the port (ports.py)
            "-b",
            f"127.0.0.1:{port}",
        ],
        "results": [*celery, "-Q", "results", "-n", "results@%h", *quiet],
        "bench": [*celery, "-Q", "bench", "-n", "bench@%h", *quiet],
        "beat": [str(VENV / "bin" / "celery"), "-A", "web.celery", "beat", "-s", str(RUN / "beat")],
    }


def _hold_port(first: int) -> socket.socket:
    """Reserve the first free port from `first` on; return the socket that reserves it."""
    end = min(first + 100, PORTS_END)
    for port in range(first, end):
        holder = ports.hold(port)
        if holder is not None:
            return holder
    raise StepError(
        f"the ports {first} to {end - 1} are all in use; set KEYDROME_PORT to another number"
    )


def _answers(site: Site) -> bool:
    try:
        with urllib.request.urlopen(site.url, timeout=5) as answer:  # noqa: S310 - a fixed http URL
            return bool(answer.status == 200)  # noqa: PLR2004 - HTTP's OK
    except (urllib.error.URLError, OSError):
        return False


def stop() -> bool:
    """Stop the recorded site and wait until it has ended. Return False if none was running."""
    with _alone():
        return _stop()


def _stop() -> bool:
    site = recorded()
    if site is None or not site.alive():
        RECORD.unlink(missing_ok=True)
        return False
    os.kill(site.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while site.alive() and not _is_zombie(site.pid):
        if time.monotonic() > deadline:
            os.kill(site.pid, signal.SIGKILL)
            break
        time.sleep(0.05)
    RECORD.unlink(missing_ok=True)
    return True


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def manage(*arguments: str) -> list[str]:
    """Return the command line of a Django management command."""
    return [str(PYTHON), "-m", "web.manage", *arguments]
