"""Measures pages of a large site with many concurrent clients: the median and p99 of the response times, and the SQL.

    .venv/bin/python -m tools.bench.page_load --sizes 300000

The program starts PostgreSQL and fills it with invented runs (many_runs.py). A run judges one library on one benchmark.
The program then starts the site with gunicorn as in production, and 50 clients request a page again and again. Each
client starts a request every second (PAUSE_S), because people pause between pages. If a response takes longer, the
client starts its next request at once. The clients have no cookie, so the site may answer with copies of pages
(web/copies.py). For some pages the clients also request the page with a cookie, so that each answer is a new page.
Before the time counts, the clients request each page for some seconds (WARM_UP_S), because a process that has just
started compiles its templates first. Run the program as root, because PostgreSQL runs as another user. By default,
there are 10 million runs: to write them takes some five minutes and 10 GB of disk.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from tools.bench.figures import Row, parse_arguments, publish

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CLIENTS = 50
WARM_UP_S = 5.0
SECONDS = 20.0  # for each page, after the warm-up
PAUSE_S = 1.0  # from the start of a client's request to the start of its next one, at least
TARGET_MS = 50.0
SIZES = (10_000_000,)
COOKIE = "never=copied"  # the site copies pages only for visitors without a cookie
NEVER_COPIED = ("board page", "run page")  # these pages are also measured with the cookie
ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
# As in docker-compose.yml.
SERVER = ("web.wsgi", "-k", "gthread", "--threads", "8", "--workers", "2", "--no-control-socket")
START_TIMEOUT_S = 60


@dataclass(frozen=True)
class Measured:
    """The response times of a page in ms, sorted, and the number of SQL statements of one request."""

    times_ms: list[float]
    statements: int

    def quantile(self, share: float) -> float:
        """Return the time that this share of the requests did not exceed."""
        return self.times_ms[min(int(share * len(self.times_ms)), len(self.times_ms) - 1)]


def main() -> None:
    """Measure at each size, and publish the figures."""
    options = parse_arguments(__doc__, 1, SIZES)
    rows = []
    for size in options.sizes:
        with site(size) as url:
            measured = [(name, paths, "") for name, paths in pages().items()]
            measured += [
                (name, paths, COOKIE) for name, paths, _ in measured if name in NEVER_COPIED
            ]
            for name, paths, cookie in measured:
                found = measure(url, paths, cookie)
                rows.append(
                    Row(
                        f"{name}{', without stored copies' if cookie else ''}, {size:,} runs, {CLIENTS} clients: "
                        "median and p99 of the response times",
                        f"{found.quantile(0.5):.0f} and {found.quantile(0.99):.0f} ms, "
                        f"{len(found.times_ms) / SECONDS:.0f} requests/s, {found.statements} SQL statements",
                        f"p99 below {TARGET_MS:.0f} ms",
                        measured=found.quantile(0.99),
                        at_most=TARGET_MS,
                    )
                )
    publish("Pages of a large site", rows, options.json)


@contextmanager
def site(size: int) -> Iterator[str]:
    """Start PostgreSQL with this many runs and the site; yield the site's URL."""
    # ./dev's modules import one another as `dev.*`.
    sys.path.insert(0, str(ROOT / "tools"))
    from dev import servers  # noqa: PLC0415 - on the path only now

    with (
        tempfile.TemporaryDirectory() as var,
        servers.folders("page-load") as (data, sockets),
        servers.postgres(data / "postgres", sockets) as database,
    ):
        os.environ.update(
            KEYDROME_VAR=var,
            DATABASE_URL=database,
            DJANGO_SETTINGS_MODULE="web.settings",
            KEYDROME_LOG_LEVEL="WARNING",
        )
        for command in (
            ["-m", "web.manage", "migrate", "--verbosity", "0"],
            ["-m", "web.manage", "collectstatic", "--noinput", "--verbosity", "0"],
            ["-m", "tools.bench.many_runs", "--runs", str(size)],
        ):
            subprocess.run([sys.executable, *command], cwd=ROOT, check=True)
        import django  # noqa: PLC0415 - after the environment is set

        django.setup()
        from django.db import connection  # noqa: PLC0415 - needs Django set up

        with connection.cursor() as cursor:
            # Otherwise PostgreSQL writes the new rows to the disk during the measurement.
            cursor.execute("CHECKPOINT")
        with _server() as url:
            yield url


@contextmanager
def _server() -> Iterator[str]:
    """Start the web server on a free port; yield its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [str(BIN / "gunicorn"), *SERVER, "--bind", address, "--log-level", "warning"]
    server = subprocess.Popen(command, cwd=ROOT)
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                httpx.get(f"http://{address}/status/", timeout=START_TIMEOUT_S).raise_for_status()
                break
            except httpx.TransportError:
                if server.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(
                        f"the web server ended or did not answer within {START_TIMEOUT_S} s: see its message above"
                    ) from None
                time.sleep(0.1)
        yield f"http://{address}"
    finally:
        server.terminate()
        server.wait(START_TIMEOUT_S)


def pages() -> dict[str, list[str]]:
    """Return the addresses of each kind of page. Each client requests the addresses of a kind in turn."""
    from leaderboard.models import BoardEntry  # noqa: PLC0415 - needs Django set up

    ranked = BoardEntry.objects.filter(position__isnull=False, board="preliminary1")
    runs = list(ranked.order_by("position").values_list("run_id", flat=True))
    compared = [",".join(map(str, runs[:2])), ",".join(map(str, runs[:6]))]
    return {
        "board page": ["/boards/preliminary1/", "/boards/ycsb_a/?sort=-submitted"],
        "list of boards": ["/boards/"],
        "configuration board": ["/boards/configurations/sigmod2009/"],
        "page of two or six compared runs": [f"/compare/?runs={some}" for some in compared],
        "run page": [f"/runs/{run}/" for run in runs],
    }


def measure(url: str, paths: Sequence[str], cookie: str) -> Measured:
    """Let the clients request these pages, with this cookie unless it is empty; return what they measured."""
    statements = max(_statements(path) for path in paths)
    times: list[float] = []
    problems: list[Exception] = []
    start = time.monotonic() + WARM_UP_S

    def client(number: int) -> None:
        turn = cycle(paths)
        try:
            headers = {"cookie": cookie} if cookie else {}
            with httpx.Client(timeout=START_TIMEOUT_S, headers=headers) as session:
                time.sleep(PAUSE_S * number / CLIENTS)  # people do not come at the same moment
                while time.monotonic() < start + SECONDS:
                    begin = time.monotonic()
                    session.get(url + next(turn)).raise_for_status()
                    took = time.monotonic() - begin
                    if begin >= start:
                        times.append(1000 * took)
                    time.sleep(max(0.0, PAUSE_S - took))
        except httpx.HTTPError as error:
            problems.append(error)

    clients = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    if problems:
        raise SystemExit(
            f"{len(problems)} of {CLIENTS} clients failed, so there are no figures. "
            f"The first failed with: {problems[0]}. If the server printed an error above, correct the error, "
            "then start this program again."
        )
    return Measured(sorted(times), statements)


def _statements(path: str) -> int:
    """Return how many SQL statements a request takes."""
    from django.db import connection  # noqa: PLC0415 - needs Django set up
    from django.test import Client  # noqa: PLC0415 - as above
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415 - as above

    client = Client(headers={"host": "localhost", "cookie": COOKIE})
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(path)
    if answer.status_code != httpx.codes.OK:
        raise SystemExit(
            f"{path} returned HTTP status {answer.status_code} instead of 200: "
            "check the address in pages() in tools/bench/page_load.py"
        )
    return len(queries)


if __name__ == "__main__":
    main()
