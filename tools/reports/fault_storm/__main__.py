"""Kills processes of a site with a full queue: `python -m tools.reports.fault_storm`, as root, after a build.

A run is a request to judge one library on one benchmark. The program starts a whole site on this machine, with several
bench workers (processes that take runs from the queue and execute them), and uploads libraries through the web pages.
At random moments it kills one process: a worker, the web server, Redis, PostgreSQL, or a process of a run. A run has
three kinds of processes: the referee judges, the jail confines the library, and the player calls it. Afterwards every
submission must exist once, and every run must have exactly one final verdict. The program prints a table of the kills;
`--write` writes the table to docs/reference/fault-storm.md. Storms with the same seed kill the same targets at the same
intervals. But what the targets are doing at these moments depends on the machine.
"""

from __future__ import annotations

import argparse
import json
import random
import secrets
import time
from collections import Counter
from typing import TYPE_CHECKING

from runner.output_file import output_path, write_file
from runner.settings import load_settings
from runner.slots import TEST_SLOTS, slots_for_tests
from tools.reports.fault_storm.ask import ask
from tools.reports.fault_storm.contestant import Contestant
from tools.reports.fault_storm.judgement import faults
from tools.reports.fault_storm.kills import TARGETS, Hit, note_recovery, strike
from tools.reports.fault_storm.site import LEASE_SECONDS, ROOT, Site, running_site
from tools.reports.made import made_line

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "reference" / "fault-storm.md"
QUIET_SECONDS = 600.0  # time limit for executing the remaining queue after the last kill


def main() -> int:
    """Run the storm, and print what was wrong afterwards; return 0 if nothing was wrong."""
    options = _options()
    file = load_settings().build / "lib" / "indexes" / "global_lock.so"
    print(f"seed {options.seed}", flush=True)
    with running_site(options.workers, options.slot) as site:
        import django  # noqa: PLC0415 - after the environment is set

        django.setup()
        people = [
            Contestant(site.url, f"user{n}", file, random.Random(options.seed + n))  # noqa: S311 - no secret
            for n in range(options.users)
        ]
        for number in range(options.submissions):
            person = people[number % len(people)]
            person.wanted.append(f"{person.user_name} {number}")
        begin = time.monotonic()
        for person in people:
            person.start()
        hits = _storm(site, people, options)
        done = _wait_for_the_end(people, hits)
        wanted = [name for person in people for name in person.wanted]
        found = faults(hits, wanted, site.logs) + (
            [] if done else [f"some runs had not ended {QUIET_SECONDS:.0f} s after the last kill"]
        )
        text = _report(options, hits, found, time.monotonic() - begin)
        if found:
            _keep_logs(site.logs)
    print(text)
    if options.write:
        PAGE.write_text(text)
    return 1 if found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--submissions",
        type=int,
        default=20,
        help="number of uploads, each with about ten runs; default: 20",
    )
    parser.add_argument("--users", type=int, default=3, help="number of users; default: 3")
    parser.add_argument("--workers", type=int, default=4, help="number of workers; default: 4")
    parser.add_argument(
        "--slot",
        type=int,
        help="jail slot (a number that gives a sandbox its own user) of the first worker; the other workers use the "
        "next slots; default: free slots",
    )
    parser.add_argument(
        "--every", type=float, default=3.0, help="mean seconds between two kills; default: 3"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=secrets.randbelow(1 << 32),
        help="number that determines the uploads and the kills; default: a random one, which is printed",
    )
    parser.add_argument("--state", type=output_path, help="also write the kills to this file")
    parser.add_argument("--write", action="store_true", help="write docs/reference/fault-storm.md")
    options = parser.parse_args()
    if options.slot is None:
        options.slot = slots_for_tests()[0]
        if options.workers > TEST_SLOTS:
            parser.error(
                f"--workers {options.workers} is too large: each worker needs a jail slot of its own, and this program "
                f"has reserved only {TEST_SLOTS}; use at most {TEST_SLOTS} workers, or choose free slots yourself: "
                f"--slot N uses the slots N to N + {options.workers - 1}"
            )
    return options


def _storm(site: Site, people: list[Contestant], options: argparse.Namespace) -> list[Hit]:
    """Kill processes until all uploads are made and nine tenths of the runs have ended; return the kills."""
    chance = random.Random(options.seed)  # noqa: S311 - no secret
    hits: list[Hit] = []
    deck: list[str] = []
    while not (all(person.done.is_set() for person in people) and _share_done() > 0.9):  # noqa: PLR2004
        wait_until = time.monotonic() + chance.expovariate(1 / options.every)
        if not deck:  # a new round: each target as often as TARGETS says, in random order
            deck = [name for name, times in TARGETS.items() for _ in range(times)]
            chance.shuffle(deck)
        target = deck.pop()
        while time.monotonic() < wait_until:
            time.sleep(0.1)
            note_recovery(hits)
        # Searches for the target for 2.5 s, because a worker does not always have a referee or a player.
        for _ in range(50):
            hit = strike(site, target, options.workers, options.slot, chance)
            if hit is not None:
                hits.append(hit)
                print(f"disturbance {len(hits)}: {hit.text}", flush=True)
                break
            time.sleep(0.05)
        if options.state:
            write_file(options.state, json.dumps([hit.to_json() for hit in hits], indent=1))
    return hits


def _share_done() -> float:
    from leaderboard.models import Run  # noqa: PLC0415 - needs Django set up

    total, done = ask(lambda: (Run.objects.count(), Run.objects.filter(state="done").count()))
    return done / total if total else 0.0


def _wait_for_the_end(people: list[Contestant], hits: list[Hit]) -> bool:
    """Wait until every run has ended; return False if this takes longer than QUIET_SECONDS."""
    deadline = time.monotonic() + QUIET_SECONDS
    while _share_done() < 1.0 or not all(person.done.is_set() for person in people):
        if time.monotonic() > deadline:
            return False
        note_recovery(hits)
        time.sleep(0.2)
    note_recovery(hits)
    return True


def _report(options: argparse.Namespace, hits: list[Hit], found: list[str], seconds: float) -> str:
    """Return the page."""
    from leaderboard.models import Run  # noqa: PLC0415 - needs Django set up

    runs = {run.pk: run for run in Run.objects.all()}
    verdicts = Counter(f"{run.verdict or run.state}" for run in runs.values())
    attempts = Counter(run.attempt for run in runs.values())
    head = [
        "# Fault storm",
        "",
        f"Written by `./dev soak` (`python -m tools.reports.fault_storm --write`); do not edit. {made_line()}",
        "The storm kills random processes of a site with a full queue and checks afterwards that no run was lost or",
        "recorded twice.",
        "",
        (
            f"Seed {options.seed}: {len(runs)} runs of {options.submissions} submissions, "
            f"{options.workers} workers, {len(hits)} disturbances, {seconds:.0f} s."
        ),
        "",
        (
            f"Runs by verdict: {_counted(verdicts)}. "
            f"Runs by number of attempts, i.e. tries of a worker to execute the run: {_counted(attempts)}. "
            "All libraries are correct. So every run must have passed, with two exceptions: a run may be "
            "*crashed* if its player, the process that calls the library, was killed, "
            "and *infrastructure* if kills ended all its three attempts."
        ),
        "",
        (
            f"Wrong after the storm: {'; '.join(found) or 'nothing'}.\n\n"
            "Each row is one disturbance: a killed process, the deletion of all messages in Redis, or repeated\n"
            "wake-ups (messages that tell workers to look for runs). *At that moment* is what the killed process was\n"
            "doing, or what was deleted or sent. The last three columns\n"
            "concern the run on which the killed process was working. They are empty if there was none.\n"
            "*Attempt ended after* is the time from the kill to the end of the killed attempt in the database.\n"
            "It is long for a killed worker, because first its right to execute the run must expire\n"
            f"(the lease, {LEASE_SECONDS} s)."
        ),
        "",
        "| disturbance | at that moment | run | attempt ended after | the run ended as |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *(_row(hit, runs) for hit in hits), ""])


def _counted(counts: Counter[str] | Counter[int]) -> str:
    return ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))


def _row(hit: Hit, runs: dict[int, object]) -> str:
    if hit.run_id is None:
        return f"| {hit.target} | {hit.state} | | | |"
    run = runs[hit.run_id]
    over = "" if hit.recovered_seconds is None else f"{hit.recovered_seconds:.1f} s"
    end = f"{run.verdict or run.state}, attempt {run.attempt}"  # type: ignore[attr-defined]
    return f"| {hit.target} | {hit.state} | {hit.run_id} attempt {hit.attempt} | {over} | {end} |"


def _keep_logs(logs: Path) -> None:
    """Copy the logs out of the site's temporary folder, so that the fault can be diagnosed."""
    kept = ROOT / "var" / "log" / "fault-storm"
    kept.mkdir(parents=True, exist_ok=True)
    for log in logs.glob("*.log"):
        (kept / log.name).write_bytes(log.read_bytes())
    print(f"the logs are in {kept}")


if __name__ == "__main__":
    raise SystemExit(main())
