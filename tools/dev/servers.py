"""Starts PostgreSQL and Redis for tests, on private Unix sockets, with data under var/ that is deleted at the end."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dev.alone import alone_in_clone
from dev.paths import LOGS, VAR
from dev.steps import StepError, run

if TYPE_CHECKING:
    from collections.abc import Iterator

START_TIMEOUT_S = 30.0


CONNECTIONS = 100


@contextmanager
def postgres_and_redis() -> Iterator[dict[str, str]]:
    """Start both servers; yield the environment variables that point Keydrome at them; stop both at the end."""
    with (
        folders("test-servers") as (data, sockets),
        postgres(data / "postgres", sockets) as database,
        redis(data, sockets) as broker,
    ):
        yield {"DATABASE_URL": database, "KEYDROME_BROKER_URL": broker}


@contextmanager
def folders(name: str) -> Iterator[tuple[Path, Path]]:
    """Yield an empty folder for data, below var/, and one for sockets; delete both afterwards.

    The folder for data is always the same, so that the next run deletes what a killed run has left. While a run uses
    the folder, other runs of this clone wait.
    """
    data = VAR / name
    with alone_in_clone(VAR / "run" / f"{name}.lock", f"another program that uses {data}"):
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True)
        # Socket paths are limited to about 100 bytes, so they are not below the checkout.
        sockets = Path(tempfile.mkdtemp(prefix="keydrome-"))
        try:
            yield data, sockets
        finally:
            shutil.rmtree(sockets, ignore_errors=True)
            shutil.rmtree(data, ignore_errors=True)


@contextmanager
def postgres(data: Path, sockets: Path, connections: int = CONNECTIONS) -> Iterator[str]:
    """Start PostgreSQL with a fresh database in `data`; yield its URL; stop it at the end."""
    command = make_postgres(data, sockets, connections)
    ready = [str(_postgres_bin() / "pg_isready"), "-h", str(sockets)]
    with _running(command, ready, "PostgreSQL", f"{data.parent.name}-postgres.log"):
        yield postgres_url(sockets)


def make_postgres(data: Path, sockets: Path, connections: int = CONNECTIONS) -> list[str]:
    """Create an empty PostgreSQL database in `data`; return the command that starts its server.

    The caller must be root, because the server runs as the user postgres.
    """
    binaries = _postgres_bin()
    user = pwd.getpwnam("postgres")  # the server refuses to run as root
    data.mkdir()
    for folder in (data, sockets):
        os.chown(folder, user.pw_uid, user.pw_gid)
    # With this capability the server can pass through folders above its data that its user must not enter, such as
    # /root if the checkout is there. It cannot write to them, and their permissions stay as they are.
    searches = "-all,+dac_read_search"
    as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    as_user += [f"--inh-caps={searches}", f"--ambient-caps={searches}"]
    initdb = [str(binaries / "initdb"), "-D", str(data), "-A", "trust", "-U", "postgres"]
    run(
        [*as_user, *initdb, "-E", "UTF8", "--no-sync"],
        log="initdb",
        hint="read the server's message above",
        cwd=Path("/"),
    )
    options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={sockets}"]
    options += ["-c", "fsync=off", "-c", f"max_connections={connections}"]
    return [*as_user, str(binaries / "postgres"), "-D", str(data), *options]


def postgres_url(sockets: Path) -> str:
    """Return the URL of the server whose socket is in that folder."""
    # The folder of a socket takes the place of the host in the URL, and must be percent-encoded.
    host = str(sockets).replace("/", "%2F")
    return f"postgres://postgres@{host}/postgres"


def _postgres_bin() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        raise StepError(
            "PostgreSQL is not installed in /usr/lib/postgresql: run `apt-get install postgresql`"
        )
    return found[-1]


@contextmanager
def redis(data: Path, sockets: Path) -> Iterator[str]:
    """Start Redis; yield its URL; stop it at the end."""
    socket = sockets / "redis.sock"
    ready = ["redis-cli", "-s", str(socket), "ping"]
    with _running(redis_command(data, sockets), ready, "Redis", f"{data.name}-redis.log"):
        yield redis_url(sockets)


def redis_command(data: Path, sockets: Path) -> list[str]:
    """Return the command that starts Redis. This Redis loses all its data when it restarts."""
    where = ["--port", "0", "--unixsocket", str(sockets / "redis.sock"), "--dir", str(data)]
    return ["redis-server", *where, "--save", ""]


def redis_url(sockets: Path) -> str:
    """Return the URL of the Redis whose socket is in that folder."""
    return f"redis+socket://{sockets / 'redis.sock'}"


@contextmanager
def _running(command: list[str], ready: list[str], name: str, log: str) -> Iterator[None]:
    LOGS.mkdir(parents=True, exist_ok=True)
    with (LOGS / log).open("wb") as out:
        server = subprocess.Popen(
            command, cwd="/", stdin=subprocess.DEVNULL, stdout=out, stderr=out
        )
    try:
        _wait_until(server, ready, name, log)
        yield
    finally:
        server.send_signal(signal.SIGINT)  # PostgreSQL: stop now, without waiting for clients
        server.wait(START_TIMEOUT_S)


def _wait_until(server: subprocess.Popen[bytes], probe: list[str], name: str, log: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        if server.poll() is not None or time.monotonic() > deadline:
            raise StepError(
                f"{name} ended, or was not ready within {START_TIMEOUT_S:.0f} s: read {LOGS / log}"
            )
        time.sleep(0.05)
