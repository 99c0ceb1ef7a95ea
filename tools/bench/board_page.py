"""Measures the page of a board (a ranking of libraries) with few and with many runs: SQL statements and server time.

A run judges one library on one benchmark. The program fills a database with finished runs and with the entries of the
board, then requests the page as a browser would. Start it with `.venv/bin/python -m tools.bench.board_page`;
`./dev bench` starts it too.
"""

from __future__ import annotations

import time
from statistics import median

from tools.bench.figures import Row, parse_arguments, publish
from tools.bench.site import temporary_site

REPETITIONS = 20
SIZES = (10, 1_000, 20_000)
TOP = 10
PER_USER = 3


def main() -> None:
    """Measure the page at each size, and publish the figures."""
    options = parse_arguments(__doc__, REPETITIONS, SIZES)
    rows = []
    with temporary_site():
        done = 0
        for size in options.sizes:
            fill(done, size)
            done = size
            statements, seconds = ask(options.repetitions)
            value = f"{statements} SQL statements, {seconds * 1000:.0f} ms"
            first = options.sizes[0]
            target = f"as many SQL statements as with {first} runs" if size != first else ""
            rows.append(Row(f"board page, {size:,} runs", value, target))
    publish("The board page", rows, options.json)


def fill(begin: int, end: int) -> None:
    """Add the runs numbered `begin` to `end - 1` with their board entries; only the ten best runs get a rank."""
    from django.contrib.auth.models import User  # noqa: PLC0415 - needs Django set up
    from django.utils import timezone  # noqa: PLC0415 - as above

    from leaderboard.catalogue import current_version  # noqa: PLC0415 - as above
    from leaderboard.models import BoardEntry, Machine, Run, State, Submission  # noqa: PLC0415 - as above

    version = current_version("sigmod2009")
    machine, _ = Machine.objects.get_or_create(
        name="bench", defaults={"machine_class": "bench", "facts": {}}
    )
    now = timezone.now()
    for number in range(begin, end):
        user, _ = User.objects.get_or_create(username=f"user{number // PER_USER}")
        submission = Submission.objects.create(
            owner=user,
            file_name="x.so",
            blob_sha256=f"{number:064x}",
            size_bytes=1,
            kind="index",
            facts={},
        )
        run = Run.objects.create(
            submission=submission, benchmark="sigmod2009", benchmark_version=version, instance="preliminary1",
            kind="performance", scale="smoke", sessions=1, seeds=[], state=State.DONE, verdict="passed",
            machine=machine, score=number + 1.0, score_low=number + 0.5, score_high=number + 1.5,
            total_ms=number + 1.0, deadlocks=0, transactions_failed=0, transactions_completed=1,
            jail_level="full", eligible=True, finished_at=now,
        )  # fmt: skip
        BoardEntry.objects.create(
            board="preliminary1", benchmark_version=version, machine_class="bench", user=user,
            user_rank=number % PER_USER, run=run, blob_sha256=submission.blob_sha256, score=number + 1.0,
            score_low=number + 0.5, score_high=number + 1.5, provisional=True,
            position=number + 1 if number < TOP else None,
            rank_low=1 if number < TOP else None, rank_high=TOP if number < TOP else None,
        )  # fmt: skip


def ask(repetitions: int) -> tuple[int, float]:
    """Request the page repeatedly; return the number of SQL statements and the median time in seconds."""
    from django.db import connection  # noqa: PLC0415 - needs Django set up
    from django.test import Client  # noqa: PLC0415 - as above
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415 - as above

    client = Client(headers={"host": "localhost"})
    times = []
    for _ in range(repetitions + 1):
        begin = time.perf_counter()
        with CaptureQueriesContext(connection) as queries:
            answer = client.get("/boards/preliminary1/")
        times.append(time.perf_counter() - begin)
        if answer.status_code != 200:  # noqa: PLR2004 - HTTP's OK
            raise SystemExit(
                f"the board page returned HTTP status {answer.status_code} instead of 200: "
                "correct the error that is printed above"
            )
        if answer.content.count(b"/runs/") < TOP:
            raise SystemExit(
                f"the board page shows fewer than {TOP} runs, so its times mean nothing; "
                "check fill() in tools/bench/board_page.py"
            )
    return len(queries), median(times[1:])


if __name__ == "__main__":
    main()
