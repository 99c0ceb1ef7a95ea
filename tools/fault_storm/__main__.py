"""A queue under kill -9: `python -m tools.fault_storm`, as root, after a build.

Starts a whole site with several bench workers on this machine, uploads through the web pages, and kills at random
moments whatever takes part: workers, referees, jails, players, web server, Redis, PostgreSQL. Afterwards every
submission must be there once and every run must have exactly one final verdict; prints a table of each kill and what it
hit, and writes docs/reference/fault-storm.md with `--write`. The seed decides who is killed and after how long; what is
hit depends on the machine.
"""

from __future__ import annotations

import argparse
import json
import random
import secrets
import subprocess
import time
from collections import Counter
from pathlib import Path

from runner.settings import load_settings
from tools.fault_storm.ask import ask
from tools.fault_storm.contestant import Contestant
from tools.fault_storm.judgement import faults
from tools.fault_storm.kills import TARGETS, Hit, note_recovery, strike
from tools.fault_storm.site import ROOT, Site, running_site

PAGE = ROOT / "docs" / "reference" / "fault-storm.md"
QUIET_SECONDS = 600.0  # nothing more is killed: so long may the rest of the queue take


def main() -> int:
    """Let the storm loose, judge, print; 0 when nothing was lost, doubled or wrong."""
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
        found = faults(hits, wanted, site.logs) + ([] if done else ["the queue did not end"])
        text = _report(options, hits, found, time.monotonic() - begin)
        if found:
            _keep_logs(site.logs)
    print(text)
    if options.write:
        PAGE.write_text(text)
    return 1 if found else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=20, help="each is about ten runs")
    parser.add_argument("--users", type=int, default=3)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--slot", type=int, default=940, help="first of the jail's slots")
    parser.add_argument("--every", type=float, default=3.0, help="mean seconds between two kills")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 32))
    parser.add_argument("--state", type=Path, help="also write the kills here, as JSON")
    parser.add_argument("--write", action="store_true", help="write docs/reference/fault-storm.md")
    return parser.parse_args()


def _storm(site: Site, people: list[Contestant], options: argparse.Namespace) -> list[Hit]:
    """Kill until all was uploaded and nine tenths of the runs have ended; return the kills."""
    chance = random.Random(options.seed)  # noqa: S311 - no secret
    hits: list[Hit] = []
    deck: list[str] = []
    while not (all(person.done.is_set() for person in people) and _share_done() > 0.9):  # noqa: PLR2004
        wait_until = time.monotonic() + chance.expovariate(1 / options.every)
        if not deck:  # everybody's turn comes, in an order that nobody knows
            deck = [name for name, times in TARGETS.items() for _ in range(times)]
            chance.shuffle(deck)
        target = deck.pop()
        while time.monotonic() < wait_until:
            time.sleep(0.1)
            note_recovery(hits)
        # A referee or a player is there most of the time only: look for one for a moment.
        for _ in range(50):
            hit = strike(site, target, options.workers, options.slot, chance)
            if hit is not None:
                hits.append(hit)
                print(f"{len(hits)}: {hit.target}, {hit.state}", flush=True)
                break
            time.sleep(0.05)
        if options.state:
            options.state.write_text(json.dumps([hit.to_json() for hit in hits], indent=1))
    return hits


def _share_done() -> float:
    from leaderboard.models import Run  # noqa: PLC0415 - needs Django set up

    total, done = ask(lambda: (Run.objects.count(), Run.objects.filter(state="done").count()))
    return done / total if total else 0.0


def _wait_for_the_end(people: list[Contestant], hits: list[Hit]) -> bool:
    """Wait until every run has ended; False when that takes too long."""
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
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()  # fmt: skip
    head = [
        "# Fault storm",
        "",
        "Written by `./dev soak` (`python -m tools.fault_storm --write`); not edited by hand.",
        (
            f"Commit {commit}, seed {options.seed}: {len(runs)} runs of {options.submissions} submissions, "
            f"{options.workers} workers, {len(hits)} kills, {seconds:.0f} s."
        ),
        "",
        (
            f"Verdicts: {_counted(verdicts)}. Attempts: {_counted(attempts)}. All libraries are right: *crashed* is "
            "a run whose player was killed, *infrastructure* one whose three attempts were hit."
        ),
        "",
        f"Wrong: {'; '.join(found) or 'nothing'}.",
        "",
        "| kill | hit | run | its lease was over after | the run ended |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *(_row(hit, runs) for hit in hits), ""])


def _counted(counts: Counter[str] | Counter[int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _row(hit: Hit, runs: dict[int, object]) -> str:
    if hit.run_id is None:
        return f"| {hit.target} | {hit.state} | | | |"
    run = runs[hit.run_id]
    over = "" if hit.recovered_seconds is None else f"{hit.recovered_seconds:.1f} s"
    end = f"{run.verdict or run.state}, attempt {run.attempt}"  # type: ignore[attr-defined]
    return f"| {hit.target} | {hit.state} | {hit.run_id} attempt {hit.attempt} | {over} | {end} |"


def _keep_logs(logs: Path) -> None:
    """Copy the logs to where they outlive the site, for whoever looks for the reason."""
    kept = ROOT / "var" / "log" / "fault-storm"
    kept.mkdir(parents=True, exist_ok=True)
    for log in logs.glob("*.log"):
        (kept / log.name).write_bytes(log.read_bytes())
    print(f"logs: {kept}")


if __name__ == "__main__":
    raise SystemExit(main())
