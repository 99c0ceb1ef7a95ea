"""The queue with a thousand workers and a hundred thousand waiting runs, on a PostgreSQL of its own.

Every simulated worker has a slot and a database connection of its own: it claims for real, beats while a make-believe
run lasts, ends the run, and claims again. There are two ways to have so many of them on a few cores.

*In turn*: a process is one worker after another, whoever is due, each on its own connection. So the database sees as
many clients and as many statements a second as in life, and a claim is timed from its first statement on, in a process
where nothing else wants to run. In life each worker has a core of its own; here they share theirs with the database, so
the figure is an upper bound. Claims of the first third, while the load builds up, are not counted.

*At once*: a thread for each, in a few processes. Python runs one thread of a process at a time, so a claim's time is
mostly what it waits for its neighbours: how the queue behaves when there is more to do than can be done.

Measured are claims while all workers beat, sweeps with few and many waiting runs, and that no run was claimed twice.
`.venv/bin/python -m tools.bench.queue_scale --workers 1000 --runs 100000`
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
    """How the workers work. `seconds` is how long, `run_seconds` the mean time of a run."""

    way: str
    workers: int
    processes: int
    seconds: float
    run_seconds: float
    beat_seconds: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What the workers of a load saw: their claims, the number of their beats, a sweep's time meanwhile."""

    load: Load
    claims: list[dict[str, float]]
    beats: int
    sweep_ms: float


def main() -> None:
    """Play one of the two roles: the measurement, or a process full of workers that it starts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long they work")
    parser.add_argument("--run-seconds", type=float, default=20.0, help="mean time of a run")
    parser.add_argument("--beat-seconds", type=float, default=1.0, help="as real workers")
    parser.add_argument("--json", type=Path, help="also write the figures here")
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
    """Return the loads to measure: few workers and all of them in turn, and all of them at once."""
    times = (options.seconds, options.run_seconds, options.beat_seconds)
    all_in_turn = Load(IN_TURN, options.workers, 2, *times)
    return [
        replace(all_in_turn, workers=min(FEW_WORKERS, options.workers)),
        all_in_turn,
        # What a few processes of threads can do; with a beat a second they would do nothing else.
        Load(AT_ONCE, options.workers, 4, options.seconds, 30.0, 5.0),
    ]


def measure(options: argparse.Namespace) -> None:
    """Start the server and the workers, wait for them, publish."""
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
        few = sweep_ms()
        fill(options.runs - 1000)
        many = sweep_ms()
        seen = [work_off(load) for load in loads(options)]
        publish("The queue", rows(options, seen, few, many), options.json)


def fill(count: int) -> None:
    """Queue so many runs, a hundred a submission, of a hundred users, and tell the database's planner.

    One run is queued as usual; the others are copied from it by the database, which takes seconds instead of minutes.
    """
    from django.contrib.auth.models import User  # noqa: PLC0415 - needs Django set up
    from django.db import connection, transaction  # noqa: PLC0415 - ditto

    from leaderboard import claims, versions  # noqa: PLC0415 - ditto
    from leaderboard.models import Run, Submission  # noqa: PLC0415 - ditto

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


def sweep_ms() -> float:
    """Return the median time of a sweep in ms."""
    from leaderboard import bell, services  # noqa: PLC0415 - needs Django set up

    bell.ring = lambda _queue: None  # there is no broker, and the sweep alone is measured
    times = []
    for _ in range(SWEEPS):
        begin = time.perf_counter()
        services.sweep()
        times.append((time.perf_counter() - begin) * 1000)
    return median(times)


def work_off(load: Load) -> Seen:
    """Let workers work and leave nothing claimed; return what they saw."""
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
    for worker in workers:  # all have connected: go
        assert worker.stdout is not None  # noqa: S101 - a pipe was asked for
        worker.stdout.readline()
    for worker in workers:
        assert worker.stdin is not None  # noqa: S101 - ditto
        worker.stdin.write("go\n")
        worker.stdin.flush()
    time.sleep(load.seconds / 2)
    busy = sweep_ms()
    said = [json.loads(worker.communicate()[0]) for worker in workers]
    if any(worker.returncode for worker in workers):
        raise SystemExit("a process of workers failed")
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
    """Be many workers: connect, say so, wait for the word, work, and say what was claimed and how long it took."""
    set_up()
    from leaderboard import machines, versions  # noqa: PLC0415 - needs Django set up
    from leaderboard.claims import Slot  # noqa: PLC0415 - ditto

    own = versions.own_versions()
    numbers = range(first, first + load.workers)
    machines = {
        n: machines.seen(f"bench{n}", "simulated", {})
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
    """Say that all have connected; return when the word came."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    return time.monotonic()


def work_in_turn(simulated: list[Simulated], seconds: float) -> None:
    """Be whoever is due next. Who is late stays on schedule, as others' runs do not wait for him either."""
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
    """Be a thread for each."""
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
    """A worker whose runs only take time, exponentially distributed: any moment is like any other."""

    def __init__(self, slot: Any, versions: dict[str, int], load: Load, seed: int) -> None:  # noqa: ANN401 - a Slot
        self.slot = slot
        self.versions = versions
        self.load = load
        self.random = random.Random(seed)  # noqa: S311 - no secret
        self.claims: list[dict[str, float]] = []
        self.beats = 0

    def life(self) -> Iterator[float]:
        """Claim, beat, end, again; yield how many seconds to wait each time."""
        from leaderboard import claims  # noqa: PLC0415 - needs Django set up
        from leaderboard.models import Run  # noqa: PLC0415 - ditto

        lived = self.run_seconds()
        yield lived
        while True:
            begin = time.perf_counter()
            run = claims.claim(self.slot, self.versions)
            taken = time.perf_counter() - begin
            if run is None:
                raise SystemExit("the queue ran empty: give more --runs")
            self.claims.append(
                {"run": run.pk, "attempt": run.attempt, "ms": taken * 1000, "at": lived}
            )
            left = self.run_seconds()
            lived += left
            while left > self.load.beat_seconds:
                yield self.load.beat_seconds
                left -= self.load.beat_seconds
                claims.beat(run.pk, run.attempt, 0.5, "make-believe")
                self.beats += 1
            yield left
            # As record() does, without the report and the boards, which `board page` measures.
            Run.objects.filter(pk=run.pk, attempt=run.attempt).update(
                state="done", verdict="passed", lease_until=None
            )

    def run_seconds(self) -> float:
        """Return how long a run takes."""
        return self.random.expovariate(1 / self.load.run_seconds)


def rows(options: argparse.Namespace, seen: list[Seen], few: float, many: float) -> list[Row]:
    """Return the figures; SystemExit when a run was claimed twice."""
    claims = [c for each in seen for c in each.claims]
    twice = len(claims) - len({c["run"] for c in claims}) + sum(c["attempt"] != 1 for c in claims)
    if twice:
        raise SystemExit(f"{twice} runs were claimed twice")
    return [
        *(row for each in seen for row in rows_of(each)),
        Row("runs claimed twice", f"0 of {len(claims):,}", "0"),
        Row("sweep, 1,000 waiting runs", f"{few:.1f} ms"),
        Row(f"sweep, {options.runs:,} waiting runs", f"{many:.1f} ms", "as with 1,000"),
        *(
            Row(f"sweep, and {s.load.workers:,} runs at work, {s.load.way}", f"{s.sweep_ms:.1f} ms")
            for s in seen
        ),
    ]


def rows_of(seen: Seen) -> list[Row]:
    """Return the figures of one load."""
    load = seen.load
    times = quantiles([c["ms"] for c in seen.claims if c["at"] > load.seconds / 3], n=100)
    shape = f"{load.workers:,} workers {load.way}"
    per_second = (
        f"{len(seen.claims) / load.seconds:.0f} claims/s, {seen.beats / load.seconds:.0f} beats/s"
    )
    target = f"below {CLAIM_TARGET_MS} ms" if load.way == IN_TURN else ""
    return [
        Row(f"{shape}: load", per_second),
        Row(f"{shape}: claim, median", f"{times[49]:.1f} ms"),
        Row(f"{shape}: claim, p99", f"{times[98]:.1f} ms", target),
    ]


if __name__ == "__main__":
    main()
