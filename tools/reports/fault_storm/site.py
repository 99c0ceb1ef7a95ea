"""Runs a whole site for the fault storm, which kills the site's processes at random.

A run is a request to judge one uploaded library. The site has PostgreSQL, Redis, a web server, a scheduler, bench
workers, which execute runs, and a results worker, which draws plots and requeues lost runs. A program that ends is
restarted a second later, as a service manager would do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))  # ./dev's modules import one another as `dev.*`

from dev import ports, servers  # noqa: E402 - on the path only now

if TYPE_CHECKING:
    from collections.abc import Iterator

RESTART_SECONDS = 1.0
STOP_SECONDS = 20.0
LOG_LINES = 10  # of the log of PostgreSQL, in the message if the site cannot start
LEASE_SECONDS = 15  # how long a worker may execute a run without a sign of life
SWEEP_SECONDS = 3  # seconds between two searches for lost runs
POSTGRES, REDIS, WEB, RESULTS, BEAT = "postgres", "redis", "web", "results", "beat"


def worker_name(number: int) -> str:
    """Return the name of a bench worker's service."""
    return f"worker {number}"


@dataclass(slots=True)
class Service:
    """A program that is restarted whenever it ends."""

    command: list[str]
    log: Path
    env: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    ended_at: float = 0.0

    def keep(self) -> None:
        """Start the program if it never ran, or if it was found ended more than RESTART_SECONDS ago."""
        now = time.monotonic()
        if self.process is not None and self.process.poll() is None:
            self.ended_at = 0.0
            return
        self.ended_at = self.ended_at or now
        if self.process is None or now - self.ended_at > RESTART_SECONDS:
            with self.log.open("ab") as out:
                self.process = subprocess.Popen(
                    self.command, cwd="/", env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out
                )  # fmt: skip

    @property
    def pid(self) -> int | None:
        """The pid of the running program, or None between two starts."""
        alive = self.process is not None and self.process.poll() is None
        return self.process.pid if self.process is not None and alive else None

    def stop(self) -> None:
        """Stop the program; kill it if it does not end within STOP_SECONDS."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass(slots=True)
class Site:
    """A running site: its services by name, its address and its folder of logs."""

    url: str
    logs: Path
    redis_socket: Path
    services: dict[str, Service]
    _stopping: threading.Event = field(default_factory=threading.Event)

    def keep_all(self) -> None:
        """Keep every service running until `stop`; the body of a thread."""
        while not self._stopping.wait(0.1):
            for service in self.services.values():
                service.keep()

    def stop(self) -> None:
        """Tell the thread of `keep_all` to end. The caller then stops the services themselves."""
        self._stopping.set()


@contextmanager
def running_site(workers: int, first_slot: int) -> Iterator[Site]:
    """Start the site, with an empty migrated database, and keep it running; stop everything at the end."""
    holder = ports.hold()
    if holder is None:
        raise SystemExit("no port of 127.0.0.1 is free: wait until other programs end")
    with holder, servers.folders("fault-storm") as (data, sockets):
        var = data / "var"
        var.mkdir(mode=0o700)
        port = ports.number(holder)
        env = _environment(var, sockets)
        os.environ.update(env)
        logs = data / "log"
        logs.mkdir()
        postgres = servers.make_postgres(data / "postgres", sockets)
        services = {POSTGRES: Service(postgres, logs / "postgres.log", env)}
        services[REDIS] = Service(servers.redis_command(data, sockets), logs / "redis.log", env)
        for name, command, more in _programs(port, workers, first_slot, data / "beat"):
            log = logs / f"{name.replace(' ', '-')}.log"
            services[name] = Service(command, log, {**env, **more})
        site = Site(f"http://127.0.0.1:{port}", logs, sockets / "redis.sock", services)
        services[POSTGRES].keep()
        _migrate(env, services[POSTGRES])
        keeper = threading.Thread(target=site.keep_all)
        keeper.start()
        try:
            yield site
        finally:
            site.stop()
            keeper.join()
            for service in reversed(services.values()):
                service.stop()


def _environment(var: Path, sockets: Path) -> dict[str, str]:
    """Return the environment of all services: short leases, smoke scale, one session, no quotas."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KEYDROME_")}
    build = os.environ.get("KEYDROME_BUILD", str(ROOT / "build" / "release"))
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "web.settings",
        "DATABASE_URL": servers.postgres_url(sockets),
        "KEYDROME_BROKER_URL": servers.redis_url(sockets),
        "KEYDROME_BUILD": build,
        "KEYDROME_VAR": str(var),
        "KEYDROME_BOARD_SCALE": "smoke",
        "KEYDROME_SESSIONS": "1",
        "KEYDROME_LEASE_SECONDS": str(LEASE_SECONDS),
        "KEYDROME_SWEEP_SECONDS": str(SWEEP_SECONDS),
        "KEYDROME_SUBMISSIONS_OPEN": "100000",
        "KEYDROME_SUBMISSIONS_PER_DAY": "100000",
        "KEYDROME_UPLOADS_PER_HOUR": "100000",
    }


def _programs(
    port: int, workers: int, first_slot: int, schedule: Path
) -> Iterator[tuple[str, list[str], dict[str, str]]]:
    """Yield name, command and further environment of the site's own programs, as docker-compose.yml starts them."""
    python = str(ROOT / ".venv" / "bin" / "python")
    celery = [python, "-m", "celery", "--workdir", str(ROOT), "-A", "web.celery"]
    web = [python, "-m", "gunicorn", "--chdir", str(ROOT), "web.wsgi", "-k", "gthread"]
    web += ["--threads", "8", "--no-control-socket", "--reuse-port", "-b", f"127.0.0.1:{port}"]
    yield WEB, web, {}
    solo = [*celery, "worker", "--pool", "solo", "--loglevel", "INFO"]
    yield RESULTS, [*solo, "-Q", "results", "-n", "results@%h"], {}
    yield BEAT, [*celery, "beat", "-s", str(schedule)], {}
    for number in range(workers):
        name = f"bench{number}@%h"
        slot = {"KEYDROME_SLOT": str(first_slot + number)}
        yield worker_name(number), [*solo, "-Q", "bench", "-n", name], slot


def _migrate(env: dict[str, str], postgres: Service) -> None:
    """Create the tables, and the files that pages need, as soon as the database is up."""
    python = str(ROOT / ".venv" / "bin" / "python")
    for arguments in (["migrate", "-v0"], ["collectstatic", "--noinput", "-v0"]):
        for tries_left in reversed(range(20)):
            command = [python, "-m", "web.manage", *arguments]
            done = subprocess.run(
                command, cwd=ROOT, env=env, capture_output=True, text=True, check=False
            )
            if done.returncode == 0:
                break
            if tries_left == 0:
                server = "runs" if postgres.pid else "has ended"
                log = postgres.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
                raise SystemExit(
                    f"the site cannot start, because `web.manage {arguments[0]}` failed 20 times:\n{done.stderr}\n"
                    f"The PostgreSQL server of this program {server}. Its log ends with:\n"
                    + "\n".join(log)
                )
            time.sleep(0.5)
