"""The tests' own PostgreSQL and Redis: private Unix sockets, data under var/, gone when the tests end."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dev.paths import LOGS, VAR
from dev.steps import StepError, run

if TYPE_CHECKING:
    from collections.abc import Iterator

START_TIMEOUT_S = 30.0


def _postgres_bin() -> Path:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not folders:
        raise StepError("PostgreSQL is not installed: apt-get install postgresql")
    return folders[-1]


@contextmanager
def postgres_and_redis() -> Iterator[dict[str, str]]:
    """Start both servers; yield the environment that points Keydrome at them; stop them."""
    data = VAR / "test-servers"
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir(parents=True)
    # Socket paths are limited to about 100 bytes, so they do not live below the checkout.
    sockets = Path(tempfile.mkdtemp(prefix="keydrome-"))
    try:
        with _postgres(data / "postgres", sockets) as database, _redis(data, sockets) as broker:
            yield {"DATABASE_URL": database, "KEYDROME_BROKER_URL": broker}
    finally:
        shutil.rmtree(sockets, ignore_errors=True)
        shutil.rmtree(data, ignore_errors=True)


@contextmanager
def _postgres(data: Path, sockets: Path) -> Iterator[str]:
    binaries = _postgres_bin()
    user = pwd.getpwnam("postgres")  # the server refuses to run as root
    data.mkdir()
    for folder in (data, sockets):
        os.chown(folder, user.pw_uid, user.pw_gid)
    for folder in [data, *data.parents]:
        # The server's user must reach its data below a checkout that may belong to root.
        if folder == folder.parent or folder.stat().st_mode & 0o001:
            continue
        folder.chmod(folder.stat().st_mode | 0o011)
    as_user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    cure = "read the server's message above"
    initdb = [
        str(binaries / "initdb"),
        "-D",
        str(data),
        "-A",
        "trust",
        "-U",
        "postgres",
        "-E",
        "UTF8",
    ]
    run([*as_user, *initdb, "--no-sync"], log="initdb", cure=cure, cwd=Path("/"))
    options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={sockets}"]
    options += ["-c", "fsync=off", "-c", "max_connections=100"]
    command = [*as_user, str(binaries / "postgres"), "-D", str(data), *options]
    with (LOGS / "postgres.log").open("wb") as log:
        server = subprocess.Popen(
            command, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        _wait_until(
            server, [str(binaries / "pg_isready"), "-h", str(sockets)], "PostgreSQL", "postgres.log"
        )
        # Percent-encoding is what a URL needs to name a socket folder as host.
        host = str(sockets).replace("/", "%2F")
        yield f"postgres://postgres@{host}/postgres"
    finally:
        server.terminate()
        server.wait(START_TIMEOUT_S)


@contextmanager
def _redis(data: Path, sockets: Path) -> Iterator[str]:
    socket = sockets / "redis.sock"
    command = [
        "redis-server",
        "--port",
        "0",
        "--unixsocket",
        str(socket),
        "--dir",
        str(data),
        "--save",
        "",
    ]
    with (LOGS / "redis.log").open("wb") as log:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        _wait_until(server, ["redis-cli", "-s", str(socket), "ping"], "Redis", "redis.log")
        yield f"redis+socket://{socket}"
    finally:
        server.terminate()
        server.wait(START_TIMEOUT_S)


def _wait_until(server: subprocess.Popen[bytes], probe: list[str], name: str, log: str) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        if server.poll() is not None or time.monotonic() > deadline:
            raise StepError(f"{name} did not start; see {LOGS / log}")
        time.sleep(0.05)
