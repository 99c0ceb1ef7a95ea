"""Measures the queue with a thousand workers and a hundred thousand waiting runs, on its own PostgreSQL.

The queue is a table of runs, i.e. of requests to judge a library; a worker claims a run and executes it. Every
simulated worker has its own slot (worker number of a machine) and database connection. It claims a run, sends
heartbeats (signs of life) for the length of a simulated run, ends the run, and claims again. There are two ways to run
so many workers on a few cores.

*In turn*: a process plays the workers that are due, one after another, each on its own connection. So the database
sees as many clients and statements per second as in production. A claim is timed from its first statement, in a
process that does nothing else. In production each worker has a core of its own. Here the workers share cores with the
database, so a claim takes longer than in production. Claims in the first third of the time, while the load builds up,
do not count.

*At once*: one thread per worker, in a few processes. Python runs one thread of a process at a time, so a claim mostly
waits for other threads. This shows how the queue behaves under overload.

The program measures how long claims take while all workers send heartbeats. It also measures the search for lost runs
(those whose worker sends no more heartbeats), with few and with many waiting runs. It checks that no run was claimed
twice. Usage:

    .venv/bin/python -m tools.bench.queue_scale --workers 1000 --runs 100000
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import random
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from runner.output_file import output_path
from tools.bench.figures import Row, publish

if TYPE_CHECKING:
    from collections.abc import Iterator

CLAIM_TARGET_MS = 20
SWEEPS = 30
FEW_WORKERS = 50
SLOTS_PER_MACHINE = 10
PER_SUBMISSION = 100
MEASURE, WORK = "measure", "work"
IN_TURN, AT_ONCE = "in turn", "at once"
BENCHMARK = "sigmod2009"


@dataclass(frozen=True, slots=True)
class Load:
    """A load on the queue: the number of simulated workers, and how they work.

    The workers work for `seconds`. A run takes `run_seconds` on average, with a heartbeat every `beat_seconds`. `way`
    says whether each process serves its workers one after the other, or runs a thread for each.
    """

    way: str
    workers: int
    processes: int
    seconds: float
    run_seconds: float
    beat_seconds: float


@dataclass(frozen=True, slots=True)
class Seen:
    """Results of a load: the times of claims, the number of heartbeats, and the time of a search for lost runs."""

    load: Load
    claims: list[dict[str, float]]
    beats: int
    search_ms: float


def main() -> None:
    """Measure the queue. With `--role work`, only simulate some workers: `measure` starts processes with this role."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--workers", type=int, default=1000, help="number of simulated workers; default: 1000"
    )
    parser.add_argument(
        "--runs", type=int, default=100_000, help="number of runs in the queue; default: 100000"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        help="how many seconds the workers work under each load; default: 60",
    )
    parser.add_argument(
        "--run-seconds", type=float, default=20.0, help="mean seconds of a run; default: 20"
    )
    parser.add_argument(
        "--beat-seconds", type=float, default=1.0, help="seconds between heartbeats; default: 1"
    )
    parser.add_argument("--json", type=output_path, help="also write the figures to this file")
    parser.add_argument("--role", choices=[MEASURE, WORK], default=MEASURE, help=argparse.SUPPRESS)
    parser.add_argument("--load", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role == WORK:
        work(Load(**options.load), options.first)
    else:
        measure(options)


def set_up() -> None:
    """Set Django up on the database of the environment."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "web.settings"
    import django  # noqa: PLC0415 - after the environment is set

    django.setup()


def loads(options: argparse.Namespace) -> list[Load]:
    """Return the three loads to measure: few workers in turn, all workers in turn, and all workers at once."""
    times = (options.seconds, options.run_seconds, options.beat_seconds)
    all_in_turn = Load(IN_TURN, options.workers, 2, *times)
    return [
        replace(all_in_turn, workers=min(FEW_WORKERS, options.workers)),
        all_in_turn,
        # Heartbeats are less frequent here. With one per second, the threads of these processes would do nothing else.
        Load(AT_ONCE, options.workers, 4, options.seconds, 30.0, 5.0),
    ]


def measure(options: argparse.Namespace) -> None:
    """Start PostgreSQL, fill the queue, apply each load, and publish the figures."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from dev import servers  # noqa: PLC0415 - on the path only now

    with (
        servers.folders("queue-scale") as (data, sockets),
        servers.postgres(data / "postgres", sockets, options.workers + 50) as database,
    ):
        os.environ.update(DATABASE_URL=database, KEYDROME_VAR=str(data))
        set_up()
        from django.core.management import call_command  # noqa: PLC0415 - needs Django set up

        call_command("migrate", verbosity=0)
        fill(1000)
        few = search_ms()
        fill(options.runs - 1000)
        many = search_ms()
        seen = [process_queue(load) for load in loads(options)]
        publish("The queue", rows(options, seen, few, many), options.json)


def fill(count: int) -> None:
    """Queue `count` runs of a hundred users, a hundred runs per submission, and update the planner's statistics.

    The function queues one run as usual. The database then copies that run. This takes seconds instead of minutes.
    """
    from django.contrib.auth.models import User  # noqa: PLC0415 - needs Django set up
    from django.db import connection, transaction  # noqa: PLC0415 - ditto

    from leaderboard.models import Run, Submission  # noqa: PLC0415 - ditto
    from leaderboard.queue import claims, versions  # noqa: PLC0415 - ditto

    users = [User.objects.get_or_create(username=f"user{n}")[0] for n in range(100)]
    submissions = Submission.objects.bulk_create(
        Submission(
            owner=users[n % len(users)], file_name="x.so", blob_sha256=f"{n:064x}", size_bytes=1, kind="index"
        )
        for n in range(count // PER_SUBMISSION)
    )  # fmt: skip
    pattern = Run(
        submission=submissions[0], benchmark=BENCHMARK,
        benchmark_version=versions.own_versions()[BENCHMARK], sessions=1,
        kind="performance", instance="preliminary1", scale="smoke", seeds=["0" * 16],
    )  # fmt: skip
    fields = Run._meta.concrete_fields  # noqa: SLF001 - documented by Django
    columns = [field.column for field in fields if not field.primary_key]
    own = {"submission_id": "submission.id", "virtual_time": "number"}
    values = ", ".join(own.get(column, f"pattern.{column}") for column in columns)
    with transaction.atomic(), connection.cursor() as cursor:
        claims.enqueue(submissions[0].owner_id, [pattern])
        cursor.execute(
            f"INSERT INTO leaderboard_run ({', '.join(columns)}) SELECT {values} "  # noqa: S608 - our own names
            "FROM leaderboard_run pattern, leaderboard_submission submission, "
            "generate_series(1, %s) number WHERE pattern.id = %s AND submission.id >= %s",
            [PER_SUBMISSION, pattern.pk, submissions[0].pk],
        )
        Run.objects.filter(pk=pattern.pk).delete()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def search_ms() -> float:
    """Return the median time of a search for lost runs in ms."""
    from leaderboard import services  # noqa: PLC0415 - needs Django set up
    from leaderboard.queue import wakeup  # noqa: PLC0415 - needs Django set up

    # No message broker runs here, and only the search is measured.
    wakeup.wake = lambda _queue: None
    times = []
    for _ in range(SWEEPS):
        begin = time.perf_counter()
        services.recover_and_wake()
        times.append((time.perf_counter() - begin) * 1000)
    return median(times)


def process_queue(load: Load) -> Seen:
    """Apply a load: start its processes, let them work, and end the runs that are still claimed; return the results."""
    from leaderboard.models import ACTIVE_STATES, Run  # noqa: PLC0415 - needs Django set up

    share = load.workers // load.processes
    one = json.dumps({name: getattr(load, name) for name in Load.__slots__} | {"workers": share})
    command = [sys.executable, "-m", "tools.bench.queue_scale", "--role", WORK, "--load", one]
    workers = [
        subprocess.Popen(
            [*command, "--first", str(share * n)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(load.processes)
    ]
    for worker in workers:  # wait until all workers of each process have connected
        assert worker.stdout is not None  # noqa: S101 - Popen was called with PIPE
        worker.stdout.readline()
    for worker in workers:
        assert worker.stdin is not None  # noqa: S101 - ditto
        worker.stdin.write("go\n")
        worker.stdin.flush()
    time.sleep(load.seconds / 2)
    busy = search_ms()
    said = [json.loads(worker.communicate()[0]) for worker in workers]
    if any(worker.returncode for worker in workers):
        raise SystemExit("a process that simulates workers failed: read its error message above")
    Run.objects.filter(state__in=ACTIVE_STATES).update(
        state="done", verdict="passed", lease_until=None
    )
    return Seen(
        load,
        [c for each in said for c in each["claims"]],
        sum(each["beats"] for each in said),
        busy,
    )


def work(load: Load, first: int) -> None:
    """Simulate many workers: connect, wait for the start signal, work, and print the claims with their times."""
    set_up()
    from leaderboard.machines import registry  # noqa: PLC0415 - needs Django set up
    from leaderboard.queue import versions  # noqa: PLC0415 - needs Django set up
    from leaderboard.queue.claims import Slot  # noqa: PLC0415 - ditto

    own = versions.own_versions()
    numbers = range(first, first + load.workers)
    machines = {
        n: registry.seen(f"bench{n}", "simulated", {})
        for n in {number // SLOTS_PER_MACHINE for number in numbers}
    }
    simulated = [
        Simulated(Slot(machines[n // SLOTS_PER_MACHINE], n % SLOTS_PER_MACHINE), own, load, n)
        for n in numbers
    ]
    {IN_TURN: work_in_turn, AT_ONCE: work_at_once}[load.way](simulated, load.seconds)
    found = {
        "claims": [c for each in simulated for c in each.claims],
        "beats": sum(each.beats for each in simulated),
    }
    sys.stdout.write(json.dumps(found))


def wait_for_the_word() -> float:
    """Report that all workers have connected, wait for the start signal, and return the time of the signal."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    return time.monotonic()


def work_in_turn(simulated: list[Simulated], seconds: float) -> None:
    """Serve the simulated workers in one thread, always the one that is due next.

    A worker that is served late keeps its schedule, so lateness does not reduce the load.
    """
    from django.db import connections  # noqa: PLC0415 - needs Django set up

    own = [connections.create_connection("default") for _ in simulated]
    for connection in own:
        connection.ensure_connection()
    begin = wait_for_the_word()
    lives = [each.life() for each in simulated]
    due = [(begin + next(life), number) for number, life in enumerate(lives)]
    heapq.heapify(due)
    while due[0][0] < begin + seconds:
        when, number = due[0]
        time.sleep(max(0.0, when - time.monotonic()))
        connections["default"] = own[number]
        heapq.heapreplace(due, (when + next(lives[number]), number))
    for connection in own:
        connection.close()


def work_at_once(simulated: list[Simulated], seconds: float) -> None:
    """Run one thread per worker."""
    from django.db import connection  # noqa: PLC0415 - needs Django set up

    go = threading.Event()
    connected = threading.Semaphore(0)

    def live(each: Simulated) -> None:
        connection.ensure_connection()
        connected.release()
        go.wait()
        end = time.monotonic() + seconds
        for pause in each.life():
            if time.monotonic() + pause > end:
                break
            time.sleep(pause)
        connection.close()

    threads = [threading.Thread(target=live, args=[each]) for each in simulated]
    for thread in threads:
        thread.start()
    for _ in threads:
        connected.acquire()
    wait_for_the_word()
    go.set()
    for thread in threads:
        thread.join()


class Simulated:
    """A simulated worker. Its runs only wait, for exponentially distributed times, so it claims at random moments."""

    def __init__(self, slot: Any, versions: dict[str, int], load: Load, seed: int) -> None:  # noqa: ANN401 - a Slot
        self.slot = slot
        self.versions = versions
        self.load = load
        self.random = random.Random(seed)  # noqa: S311 - no secret
        self.claims: list[dict[str, float]] = []
        self.beats = 0

    def life(self) -> Iterator[float]:
        """Claim a run, send its heartbeats, end it, and repeat; yield the seconds to wait before the next step."""
        from leaderboard.models import Run  # noqa: PLC0415 - needs Django set up
        from leaderboard.queue import claims  # noqa: PLC0415 - ditto

        lived = self.run_seconds()
        yield lived
        while True:
            begin = time.perf_counter()
            run = claims.claim(self.slot, self.versions)
            taken = time.perf_counter() - begin
            if run is None:
                raise SystemExit(
                    f"the queue became empty before {self.load.seconds:g} s (--seconds) had passed: "
                    "give a larger number of runs with --runs"
                )
            self.claims.append(
                {"run": run.pk, "attempt": run.attempt, "ms": taken * 1000, "at": lived}
            )
            left = self.run_seconds()
            lived += left
            while left > self.load.beat_seconds:
                yield self.load.beat_seconds
                left -= self.load.beat_seconds
                claims.heartbeat(run.pk, run.attempt, 0.5, "make-believe")
                self.beats += 1
            yield left
            # Ends the run as leaderboard/services.py does, but stores no report and updates no ranking.
            Run.objects.filter(pk=run.pk, attempt=run.attempt).update(
                state="done", verdict="passed", lease_until=None
            )

    def run_seconds(self) -> float:
        """Return a random duration for a run, in seconds."""
        return self.random.expovariate(1 / self.load.run_seconds)


def rows(options: argparse.Namespace, seen: list[Seen], few: float, many: float) -> list[Row]:
    """Return the figures of all loads; raise SystemExit if a run was claimed twice."""
    claims = [c for each in seen for c in each.claims]
    twice = len(claims) - len({c["run"] for c in claims}) + sum(c["attempt"] != 1 for c in claims)
    if twice:
        raise SystemExit(
            f"{twice} of {len(claims):,} claims took a run that a worker had already claimed, but only one worker may "
            "execute a run: fix claim() in leaderboard/queue/claims.py"
        )
    return [
        *(row for each in seen for row in rows_of(each)),
        Row("runs claimed twice", f"0 of {len(claims):,}", "0"),
        Row("search for lost runs, 1,000 waiting runs", f"{few:.1f} ms"),
        Row(
            f"search for lost runs, {options.runs:,} waiting runs",
            f"{many:.1f} ms",
            "as with 1,000",
        ),
        *(
            Row(
                f"search for lost runs, while {s.load.workers:,} workers work {s.load.way}",
                f"{s.search_ms:.1f} ms",
            )
            for s in seen
        ),
    ]


def rows_of(seen: Seen) -> list[Row]:
    """Return the figures of one load."""
    load = seen.load
    times = quantiles([c["ms"] for c in seen.claims if c["at"] > load.seconds / 3], n=100)
    shape = f"{load.workers:,} workers {load.way}"
    per_second = f"{len(seen.claims) / load.seconds:.0f} claims/s, {seen.beats / load.seconds:.0f} heartbeats/s"
    target = f"below {CLAIM_TARGET_MS} ms" if load.way == IN_TURN else ""
    return [
        Row(f"{shape}: load", per_second),
        Row(f"{shape}: claim, median", f"{times[49]:.1f} ms"),
        Row(
            f"{shape}: claim, p99",
            f"{times[98]:.1f} ms",
            target,
            measured=times[98],
            at_most=CLAIM_TARGET_MS if target else None,
        ),
    ]


if __name__ == "__main__":
    main()
