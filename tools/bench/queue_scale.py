"""The queue with a thousand workers and a hundred thousand waiting runs, on a PostgreSQL of its own.

Each worker is a thread with a database connection of its own and a slot of its own: it claims for real, beats while a
make-believe run lasts, ends the run, and claims again. Threads come in a few processes, as Python runs one thread at a
time; the time of a claim includes what it waits for its turn. Measured are claims while all workers beat, sweeps with
few and with many waiting runs, and that no run was claimed twice.
`.venv/bin/python -m tools.bench.queue_scale --workers 1000 --runs 100000`
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from statistics import median, quantiles

from tools.bench.figures import Row, publish

CLAIM_TARGET_MS = 20
SWEEPS = 30
SLOTS_PER_MACHINE = 10
PER_SUBMISSION = 100
MEASURE, WORK = "measure", "work"


def main() -> None:
    """Play one of the two roles: the measurement, or a process full of workers that it starts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long they work")
    parser.add_argument("--run-seconds", type=float, default=30.0, help="mean time of a run")
    parser.add_argument("--beat-seconds", type=float, default=5.0, help="real workers: 1")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--role", choices=[MEASURE, WORK], default=MEASURE, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    {MEASURE: measure, WORK: work}[options.role](options)


def set_up() -> None:
    """Set Django up on the database of the environment."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "web.settings"
    import django  # noqa: PLC0415 - after the environment is set

    django.setup()


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
        claims, beats, busy = work_off(options)
        publish("The queue", rows(options, claims, beats, (few, many, busy)), options.json)


def fill(count: int) -> None:
    """Queue so many runs, a hundred a submission, of a hundred users, and tell the database's planner.

    One run is queued as usual; the others are copied from it by the database, which takes seconds instead of minutes.
    """
    from django.contrib.auth.models import User  # noqa: PLC0415 - needs Django set up
    from django.db import connection, transaction  # noqa: PLC0415 - ditto

    from leaderboard import claims  # noqa: PLC0415 - ditto
    from leaderboard.models import Run, Submission  # noqa: PLC0415 - ditto

    users = [User.objects.get_or_create(username=f"user{n}")[0] for n in range(100)]
    submissions = Submission.objects.bulk_create(
        Submission(
            owner=users[n % len(users)], file_name="x.so", blob_sha256=f"{n:064x}", size_bytes=1, kind="index"
        )
        for n in range(count // PER_SUBMISSION)
    )  # fmt: skip
    pattern = Run(
        submission=submissions[0], benchmark="sigmod2009", benchmark_version=1, sessions=1,
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


def work_off(options: argparse.Namespace) -> tuple[list[dict[str, float]], int, float]:
    """Let the workers work; return their claims, their number of beats, and a sweep's time meanwhile."""
    share = options.workers // options.processes
    command = [sys.executable, "-m", "tools.bench.queue_scale", "--role", WORK]
    for name in ("seconds", "run-seconds", "beat-seconds"):
        command += [f"--{name}", str(vars(options)[name.replace("-", "_")])]
    workers = [
        subprocess.Popen(
            [*command, "--workers", str(share), "--first", str(share * n)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(options.processes)
    ]
    for worker in workers:  # all have connected: go
        assert worker.stdout is not None  # noqa: S101 - a pipe was asked for
        worker.stdout.readline()
    for worker in workers:
        assert worker.stdin is not None  # noqa: S101 - ditto
        worker.stdin.write("go\n")
        worker.stdin.flush()
    time.sleep(options.seconds / 2)
    busy = sweep_ms()
    said = [json.loads(worker.communicate()[0]) for worker in workers]
    if any(worker.returncode for worker in workers):
        raise SystemExit("a process of workers failed")
    return [c for each in said for c in each["claims"]], sum(each["beats"] for each in said), busy


def work(options: argparse.Namespace) -> None:
    """Be many workers: connect, say so, wait for the word, work, and say what was claimed and how long it took."""
    set_up()
    from leaderboard import services  # noqa: PLC0415 - needs Django set up
    from leaderboard.claims import Slot  # noqa: PLC0415 - ditto

    machines = [
        services.machine_seen(f"bench{n}", "simulated", {})
        for n in range(options.first // SLOTS_PER_MACHINE, (options.first + options.workers) // SLOTS_PER_MACHINE)
    ]  # fmt: skip
    simulated = [
        Simulated(Slot(machines[n // SLOTS_PER_MACHINE], n % SLOTS_PER_MACHINE), options, options.first + n)
        for n in range(options.workers)
    ]  # fmt: skip
    for each in simulated:
        each.start()
    for each in simulated:
        each.connected.wait()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    Simulated.go.set()
    for each in simulated:
        each.join()
    found = {
        "claims": [c for each in simulated for c in each.claims],
        "beats": sum(each.beats for each in simulated),
    }
    sys.stdout.write(json.dumps(found))


class Simulated(threading.Thread):
    """A worker whose runs only take time. Workers begin one after another, so that claims spread as in life."""

    go = threading.Event()

    def __init__(self, slot: object, options: argparse.Namespace, seed: int) -> None:
        super().__init__()
        self.slot = slot
        self.options = options
        self.random = random.Random(seed)  # noqa: S311 - no secret
        self.connected = threading.Event()
        self.claims: list[dict[str, float]] = []
        self.beats = 0

    def run(self) -> None:
        """Claim, beat, end, again, until the time is over."""
        from django.db import connection  # noqa: PLC0415 - needs Django set up

        connection.ensure_connection()
        self.connected.set()
        self.go.wait()
        end = time.monotonic() + self.options.seconds
        time.sleep(self.random.uniform(0, self.options.seconds / 3))
        while time.monotonic() < end:
            self.one_run(end)
        connection.close()

    def one_run(self, end: float) -> None:
        """Claim a run and note what that took; beat until the run is over; end it."""
        from leaderboard import claims  # noqa: PLC0415 - needs Django set up
        from leaderboard.models import Run  # noqa: PLC0415 - ditto

        begin = time.perf_counter()
        run = claims.claim(self.slot, {"sigmod2009": 1})
        taken = time.perf_counter() - begin
        if run is None:
            raise SystemExit("the queue ran empty: give more --runs")
        self.claims.append({"run": run.pk, "attempt": run.attempt, "ms": taken * 1000})
        until = min(end, time.monotonic() + self.random.expovariate(1 / self.options.run_seconds))
        while time.monotonic() < until:
            time.sleep(min(self.options.beat_seconds, max(0.0, until - time.monotonic())))
            claims.beat(run.pk, run.attempt, 0.5, "make-believe")
            self.beats += 1
        # As record() does, without the report and the boards, which `board page` measures.
        Run.objects.filter(pk=run.pk, attempt=run.attempt).update(
            state="done", verdict="passed", lease_until=None
        )


def rows(
    options: argparse.Namespace,
    claims: list[dict[str, float]],
    beats: int,
    sweeps: tuple[float, float, float],
) -> list[Row]:
    """Return the figures; SystemExit when a run was claimed twice."""
    runs = [c["run"] for c in claims]
    twice = len(runs) - len(set(runs)) + sum(c["attempt"] != 1 for c in claims)
    if twice:
        raise SystemExit(f"{twice} runs were claimed twice")
    times = quantiles([c["ms"] for c in claims], n=100)
    per_second = (
        f"{len(claims) / options.seconds:.0f} claims/s, {beats / options.seconds:.0f} beats/s"
    )
    shape = f"{options.workers:,} workers, {options.runs:,} waiting runs"
    few, many, busy = sweeps
    return [
        Row(f"load, {shape}", per_second),
        Row("claim, median", f"{times[49]:.1f} ms"),
        Row("claim, p99", f"{times[98]:.1f} ms", f"below {CLAIM_TARGET_MS} ms"),
        Row("runs claimed twice", f"0 of {len(runs):,}", "0"),
        Row("sweep, 1,000 waiting runs", f"{few:.1f} ms"),
        Row(f"sweep, {options.runs:,} waiting runs", f"{many:.1f} ms", "as with 1,000"),
        Row(f"sweep, and {options.workers:,} runs at work", f"{busy:.1f} ms"),
    ]


if __name__ == "__main__":
    main()
