"""Fills a PostgreSQL database with many runs of many users, so that pages can be measured at the size of a large site.

    DATABASE_URL=postgres://... .venv/bin/python -m tools.bench.many_runs --runs 10000000 --users 1000

A run judges one uploaded library on one benchmark. The tables must exist and have no runs. Each submission has one
timed run and one run of every gate, a required correctness test. The rows are written with COPY in batches. Each batch
is a transaction, so an interruption leaves only complete batches. The entries of the boards (rankings) are those that
the site would compute: the best libraries of each user, and ranks for the best of these entries. No library is
executed; the numbers are invented from a fixed seed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from django.db.models import Model

    from leaderboard.boards import Board

BATCH_SUBMISSIONS = 5_000
SESSIONS = 15
MACHINE_CLASS = "Invented CPU, 2 CPUs, 24 GiB"
SEED = 2009


@dataclass
class Table:
    """The rows of a batch for one table. Columns that are not given have the defaults of the model."""

    model: type[Model]
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def write(self) -> None:
        """Append the rows to the table with COPY, and forget them."""
        from django.db import connection  # noqa: PLC0415 - needs Django set up

        fields = self.model._meta.concrete_fields  # noqa: SLF001 - Django's documented API
        rest = [one for one in fields if one.attname not in self.columns]
        defaults = tuple(_text(one.get_default()) for one in rest)
        names = ", ".join((*self.columns, *(one.attname for one in rest)))
        statement = f"COPY {self.model._meta.db_table} ({names}) FROM STDIN"  # noqa: SLF001 - as above
        with connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in self.rows:
                copy.write_row((*row, *defaults))
        self.rows.clear()


def _text(value: object) -> object:
    """Return a value as COPY takes it: lists and mappings become JSON."""
    return json.dumps(value) if isinstance(value, list | dict) else value


@dataclass(frozen=True)
class Best:
    """A user's library on a board: its score, timed run, SHA-256 of the file, and ratios.

    A run has several sessions (repetitions). A session's ratio is the library's time divided by the baseline's time.
    """

    score: float
    run: int
    digest: str
    ratios: tuple[float, ...]


def fill(runs: int, users: int) -> int:
    """Write about this many runs; return how many were written."""
    from leaderboard.boards import all_boards  # noqa: PLC0415 - needs Django set up
    from leaderboard.catalogue import current_version, gate_targets  # noqa: PLC0415 - as above

    gates = [
        (target.benchmark, current_version(target.benchmark), target.instance)
        for target in gate_targets()
    ]
    wanted = math.ceil(runs / (1 + len(gates)))
    site = Site(*_people(users), all_boards(), gates)
    begin = time.monotonic()
    for first in range(0, wanted, BATCH_SUBMISSIONS):
        last = min(first + BATCH_SUBMISSIONS, wanted)
        _batch(range(first, last), site)
        done = last * (1 + len(gates))
        rate = done / (time.monotonic() - begin)
        print(
            f"wrote {done:,} of {wanted * (1 + len(gates)):,} runs, {rate:,.0f} a second",
            flush=True,
        )
    _write_entries(site.boards, site.best)
    _finish()
    return wanted * (1 + len(gates))


def _people(users: int) -> tuple[list[int], int]:
    """Create the users and the machine; return their ids."""
    from django.contrib.auth.models import User  # noqa: PLC0415 - needs Django set up

    from leaderboard.models import Machine  # noqa: PLC0415 - as above

    # No password has the hash "!", so these users cannot log in.
    User.objects.bulk_create(
        User(username=f"racer{number}", password="!")  # noqa: S106 - see above
        for number in range(users)
    )
    machine = Machine.objects.create(name="invented", machine_class=MACHINE_CLASS)
    found = User.objects.filter(username__startswith="racer").order_by("pk")
    return list(found.values_list("pk", flat=True)), machine.pk


@dataclass
class Site:
    """What all batches share: ids of the users and the machine, boards, gates, and the best libraries so far."""

    owners: Sequence[int]
    machine: int
    boards: Sequence[Board]
    gates: Sequence[tuple[str, int | None, str]]  # benchmark, version, instance
    best: dict[tuple[str, int], list[Best]] = field(default_factory=lambda: defaultdict(list))


def _batch(numbers: range, site: Site) -> None:
    """Write the submissions with these numbers, and their runs, in one transaction."""
    from django.db import transaction  # noqa: PLC0415 - needs Django set up
    from django.utils import timezone  # noqa: PLC0415 - as above

    from leaderboard.models import Run, RunDetail, Submission  # noqa: PLC0415 - as above

    submissions = Table(
        Submission,
        ("id", "owner_id", "created_at", "file_name", "blob_sha256", "size_bytes", "kind"),
    )
    runs = Table(Run, _RUN_COLUMNS)
    details = Table(RunDetail, ("run_id", "ratios", "drawn_at"))
    now = timezone.now()
    for number in numbers:
        at = now - timedelta(minutes=numbers.stop - number)
        owner = site.owners[number % len(site.owners)]
        digest = hashlib.sha256(str(number).encode()).hexdigest()
        name = f"tree{number % 50}.so"
        submissions.rows.append((number + 1, owner, at, name, digest, 50_000, "index"))
        ratios = _ratios(random.Random(f"{SEED} {number}"))  # noqa: S311 - no secret
        runs.rows += _runs_of(number, ratios, at, site)
        details.rows.append((runs.rows[-1][0], json.dumps(ratios), at))
        _keep(Best(_middle(ratios), runs.rows[-1][0], digest, tuple(ratios)), number, site)
    with transaction.atomic():
        for table in (submissions, runs, details):
            table.write()


def _board(number: int, site: Site) -> Board:
    """Return the board for which a submission has its timed run."""
    return site.boards[(number + number // len(site.owners)) % len(site.boards)]


def _middle(ratios: Sequence[float]) -> float:
    return sorted(ratios)[SESSIONS // 2]


def _runs_of(
    number: int, ratios: Sequence[float], at: datetime, site: Site
) -> list[tuple[Any, ...]]:
    """Return the runs of a submission: its gates, and last its timed run."""
    from leaderboard.catalogue import current_version  # noqa: PLC0415 - needs Django set up

    board = _board(number, site)
    timed = (board.benchmark, current_version(board.benchmark), board.instance)
    requests = [(*gate, "correctness") for gate in site.gates] + [(*timed, "performance")]
    last = len(requests) - 1
    return [
        _run_row(
            number * len(requests) + place + 1,
            submission=number + 1,
            request=request,
            at=at,
            machine=site.machine,
            score=_middle(ratios) if place == last else None,
            slug=board.slug if place == last else "",
        )
        for place, request in enumerate(requests)
    ]


def _keep(one: Best, number: int, site: Site) -> None:
    """Add a library to the best ones of its user on its board; drop the worst if there are more than `per_user`."""
    board = _board(number, site)
    mine = site.best[board.slug, site.owners[number % len(site.owners)]]
    mine.append(one)
    mine.sort(key=lambda best: best.score if board.lower_is_better else -best.score)
    del mine[board.per_user :]


_RUN_COLUMNS = (
    *("id", "submission_id", "benchmark", "benchmark_version", "instance", "kind", "scale"),
    *("sessions", "seeds", "state", "machine_id", "slot", "attempt", "progress", "verdict"),
    *("jail_level", "score", "score_low", "score_high", "total_ms", "deadlocks"),
    *("transactions_failed", "transactions_completed", "eligible", "ranked_on"),
    *("created_at", "started_at", "finished_at"),
)


def _run_row(
    pk: int,
    *,
    submission: int,
    request: tuple[str, int | None, str, str],
    at: datetime,
    machine: int,
    score: float | None = None,
    slug: str = "",
) -> tuple[Any, ...]:
    """Return a finished run that passed. A run with a score is ranked on the board `slug`."""
    sessions = SESSIONS if score else 1
    numbers = (score, score * 0.98, score * 1.02, score * 100) if score else (None,) * 4
    counts = (7, 0, 80_000) if score else (None,) * 3
    ranked_on = json.dumps([slug] if slug else [])
    return (
        *(pk, submission, *request, "paper", sessions, "[]", "done", machine, 0, 1, 1.0),
        *("passed", "full", *numbers, *counts, bool(slug), ranked_on),
        *(at, at, at),
    )


def _ratios(chance: random.Random) -> list[float]:
    """Return the ratios of a library's sessions: one random level for the library, with noise of one per cent."""
    level = chance.lognormvariate(-0.2, 0.5)
    return [round(level * chance.lognormvariate(0.0, 0.01), 6) for _ in range(SESSIONS)]


def _write_entries(boards: Sequence[Board], best: dict[tuple[str, int], list[Best]]) -> None:
    """Write the entries of all boards, and the ranks of the best ones."""
    from leaderboard.catalogue import current_version  # noqa: PLC0415 - needs Django set up
    from leaderboard.models import BoardEntry  # noqa: PLC0415 - as above

    table = Table(
        BoardEntry,
        (
            *("id", "board", "benchmark_version", "machine_class", "user_id", "user_rank"),
            *("run_id", "blob_sha256", "score", "score_low", "score_high", "ratios"),
            *("provisional", "position", "rank_low", "rank_high"),
        ),
    )
    ids = iter(range(1, sys.maxsize))
    for board in boards:
        entries = [
            (one, owner, place)
            for (slug, owner), mine in best.items()
            if slug == board.slug
            for place, one in enumerate(mine)
        ]
        entries.sort(key=lambda e: e[0].score if board.lower_is_better else -e[0].score)
        for (one, owner, place), rank in zip(entries, _ranks(entries, board), strict=True):
            table.rows.append(
                (
                    *(next(ids), board.slug, current_version(board.benchmark), MACHINE_CLASS),
                    *(owner, place, one.run, one.digest, one.score),
                    *(one.score * 0.98, one.score * 1.02, json.dumps(one.ratios), False, *rank),
                )
            )
    table.write()


def _ranks(
    entries: Sequence[tuple[Best, int, int]], board: Board
) -> Iterator[tuple[int | None, int | None, int | None]]:
    """Yield each entry's position, and the lowest and highest rank that its ratios allow.

    Entries that the board does not show get None.
    """
    from leaderboard.ranking import rank_intervals  # noqa: PLC0415 - needs Django set up

    shown = [one.ratios for one, _, _ in entries[: board.top]]
    for rank in rank_intervals.rank(shown, lower_is_better=board.lower_is_better):
        yield rank.position, rank.low, rank.high
    for _ in entries[board.top :]:
        yield None, None, None


def _finish() -> None:
    """Advance the id sequences past the written rows, so that the site's next rows get free ids; vacuum the tables.

    PostgreSQL vacuums by itself only some minutes after so many rows were written.
    """
    from django.core.management.color import no_style  # noqa: PLC0415 - needs Django set up
    from django.db import connection  # noqa: PLC0415 - as above

    from leaderboard.models import BoardEntry, Run, Submission  # noqa: PLC0415 - as above

    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(
            no_style(), [Submission, Run, BoardEntry]
        ):
            cursor.execute(statement)
        cursor.execute("VACUUM ANALYZE")


def main() -> None:
    """Fill the database of DATABASE_URL."""
    parser = argparse.ArgumentParser(description="Fill a PostgreSQL database with many runs.")
    parser.add_argument("--runs", type=int, default=300_000, help="number of runs; default: 300000")
    parser.add_argument("--users", type=int, default=1_000, help="number of users; default: 1000")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "web.settings")
    import django  # noqa: PLC0415 - after the environment is set

    django.setup()
    from django.db import connection  # noqa: PLC0415 - needs the set-up

    from leaderboard.models import Run  # noqa: PLC0415 - as above

    if connection.vendor != "postgresql":
        raise SystemExit(
            "this program needs PostgreSQL: set DATABASE_URL to an address that begins with postgres://"
        )
    if Run.objects.exists():
        raise SystemExit(
            "the database already contains runs: set DATABASE_URL to an empty database"
        )
    begin = time.monotonic()
    written = fill(options.runs, options.users)
    print(f"wrote {written:,} runs in {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
