"""Measures the overhead of a run (a request to judge a library), from a worker's claim to the recorded result.

A worker is the process that takes runs from the queue and executes them. The program submits `global_lock` again and
again. This is the control library, with which every library is compared. A real worker claims, executes and records
each run. A run here has one session (repetition) of sigmod2009/preliminary1 at smoke scale, the smallest size. In this
session the worker also times the control library for comparison. The time that the benchmark itself takes is the
lifetime of its jails (sandboxes). The overhead is the rest: inspecting the file, generating the operations, judging,
reading reports and using the database. Needs root: `sudo .venv/bin/python -m tools.bench.overhead`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from tools.bench.figures import Row, parse_arguments, publish
from tools.bench.site import temporary_site

if TYPE_CHECKING:
    from leaderboard.worker import Worker
    from runner.contract import RunReport

REPETITIONS = 15
WARM_UP = 2  # first runs that are not counted, because they import modules and fill the page cache
TARGET_S = 1.0


def main() -> None:
    """Measure the overhead of each run, and publish the median and the extremes."""
    options = parse_arguments(__doc__, REPETITIONS)
    with temporary_site():
        added = measure(options.repetitions)
    value = f"{median(added):.2f} s ({min(added):.2f} to {max(added):.2f}, {len(added)} runs)"
    row = Row(
        "time from the claim of a run to its recorded result, without the lifetime of the jails",
        value,
        f"under {TARGET_S:.0f} s",
        measured=median(added),
        at_most=TARGET_S,
    )
    publish("Overhead of a run", [row], options.json)


def measure(repetitions: int) -> list[float]:
    """Return the seconds of each run beyond the lifetime of its jails."""
    from django.contrib.auth.models import User  # noqa: PLC0415 - needs Django set up

    from leaderboard import services  # noqa: PLC0415 - as above
    from leaderboard.catalogue import parse_target  # noqa: PLC0415 - as above
    from leaderboard.worker import Worker, register_slot  # noqa: PLC0415 - as above
    from runner.execute import execute  # noqa: PLC0415 - as above
    from runner.settings import load_settings  # noqa: PLC0415 - as above
    from runner.slots import hold_local_slot  # noqa: PLC0415 - as above

    owner = User.objects.create_user("bench")
    reports: list[RunReport] = []

    def keep(job: object, beat: object) -> RunReport:
        reports.append(execute(job, beat, settings))  # type: ignore[arg-type] # the worker's own types
        return reports[-1]

    with hold_local_slot() as slot:
        settings = replace(load_settings(), slot=slot)
        worker = Worker(register_slot(slot), execute=keep)
        target = parse_target("sigmod2009/preliminary1")
        times = []
        for _ in range(WARM_UP + repetitions):
            with load_settings().control.open("rb") as file:
                services.submit(
                    owner=owner, file=file, file_name="c.so", targets=[target], sessions=1
                )
            times.append(timed_runs(worker, reports))
    return times[WARM_UP:]


def timed_runs(worker: Worker, reports: list[RunReport]) -> float:
    """Let the worker execute the correctness benchmarks, which come first; then time the run of sigmod2009.

    Return the seconds beyond the lifetime of the jails.
    """
    while True:
        begin = time.perf_counter()
        if not worker.run_one():
            raise SystemExit(
                "the queue became empty before the worker claimed the run of sigmod2009, so the submission "
                "or a correctness run failed: read the messages above"
            )
        seconds = time.perf_counter() - begin
        sides = [
            s for session in reports[-1].sessions for s in (session.candidate, session.control) if s
        ]
        if sides and sides[0].benchmark == "sigmod2009":
            return seconds - sum(side.jail.wall_us or 0 for side in sides) / 1e6


if __name__ == "__main__":
    main()
