"""Measures the cost of the jail, a sandbox: how long a trivial program takes, and how much slower a busy one runs.

A variant is one way to start the program: without a jail, in the jail, or in the jail without one of its mechanisms.
Every turn runs all variants once, in random order, so that a disturbance of the machine affects all of them alike.

One more variant, for comparison, is the sandbox bubblewrap (Debian package bubblewrap). If it is not installed, the
program skips this variant and prints a message. Bubblewrap does less than the jail. It makes the same namespaces and
the same root folder, and drops all capabilities, but has no control groups and no seccomp filter.

The program prints medians. For the busy program, it divides each turn's time inside the jail by the time outside, and
prints the median of these ratios. It also measures the start at real-time priority, at which other programs cannot
take processor time from the jail. Needs root and a build.

usage: python jail/bench/latency.py [--turns N] [--busy-turns N] [--seed S] [--build FOLDER] [--json FILE]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import socket
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUBBLEWRAP = "bubblewrap"
BWRAP = "/usr/bin/bwrap"
BUSY = ("2", "400000")
REAL_TIME_PRIORITY = 50
# The jail may take at most 5.5 times as long as fork and exec in the same turns: 3 ms / 0.55 ms = 5.5. The target is a
# ratio, because a virtual machine can become half as fast within a minute.
TIMES_FORK_MAX = 5.5
TARGET = f"median at most {TIMES_FORK_MAX} times the median of fork and exec (3 ms if fork and exec take 0.55 ms)"


def _reserve_slot() -> tuple[int, socket.socket]:
    """Reserve a slot (the number that gives a jail its own user) by binding the slot's name, as runner/slots.py does.

    The socket holds the name until this program ends.
    """
    holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    for slot in range(900, 1000):
        with contextlib.suppress(OSError):
            holder.bind(f"\0keydrome-slot-{slot}")
            return slot, holder
    message = (
        "other processes use all sandboxes (jail slots) from number 900 to 999: "
        "wait until one of these processes ends"
    )
    raise SystemExit(message)


_SLOT, _HOLDER = _reserve_slot()


def run_ms(command: list[str]) -> float:
    """Run a command to its end and return the elapsed milliseconds."""
    start = time.perf_counter_ns()
    process = os.posix_spawn(command[0], command, {})
    _, status = os.waitpid(process, 0)
    elapsed = time.perf_counter_ns() - start
    if status != 0:
        code = os.waitstatus_to_exitcode(status)
        how = f"ended with exit status {code}" if code > 0 else f"was killed by signal {-code}"
        message = f"the command `{' '.join(command)}` {how}: run this command alone to see why"
        raise SystemExit(message)
    return elapsed / 1e6


def interleaved(
    variants: dict[str, list[str]], turns: int, order: random.Random
) -> dict[str, list[float]]:
    """Run every variant once per turn, in a new random order, after one turn whose times are discarded."""
    times: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(turns + 1):
        names = list(variants)
        order.shuffle(names)
        for name in names:
            elapsed = run_ms(variants[name])
            if turn > 0:
                times[name].append(elapsed)
    return times


def latency(jail: str, idle: str, turns: int, order: random.Random) -> dict[str, list[float]]:
    """Measure the time from start to exit of a program that does nothing."""
    inside = [jail, "--slot", str(_SLOT), "--bind", f"{idle}:/program"]
    weak = ["--require", "none"]
    variants = {
        "fork and exec": [idle],
        "jail": [*inside, "--", "/program"],
        "jail, v1 cgroups only": [*inside, "--without", "unified", "--", "/program"],
        "jail without cgroups": [*inside, *weak, "--without", "cgroup", "--", "/program"],
        "jail without seccomp": [*inside, *weak, "--without", "seccomp", "--", "/program"],
        **bubblewrap(idle),
    }
    return interleaved(variants, turns, order)


def bubblewrap(program: str) -> dict[str, list[str]]:
    """Return the command that runs a program in bubblewrap, with all namespaces, the libraries and a working folder.

    The result is empty if bubblewrap is not installed.
    """
    if not Path(BWRAP).exists():
        return {}
    command = [BWRAP, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    for folder in ("/lib", "/lib64", "/usr/lib"):
        command += ["--ro-bind", folder, folder]
    for device in ("null", "zero", "urandom"):
        command += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    command += ["--tmpfs", "/work", "--chdir", "/work", "--clearenv"]
    return {BUBBLEWRAP: [*command, "--ro-bind", program, "/program", "/program"]}


def latency_undisturbed(
    jail: str, idle: str, turns: int, order: random.Random
) -> dict[str, list[float]]:
    """Measure the same time as latency(), at real-time priority, so that other programs do not disturb it."""
    inside = [jail, "--slot", str(_SLOT), "--bind", f"{idle}:/program", "--", "/program"]
    variants = {
        "fork and exec, real-time priority": [idle],
        "jail, real-time priority": inside,
        "jail without cgroups, real-time priority": [
            *inside[:-2],
            *("--require", "none", "--without", "cgroup"),
            *inside[-2:],
        ],
        **{f"{name}, real-time priority": command for name, command in bubblewrap(idle).items()},
    }
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REAL_TIME_PRIORITY))
    try:
        return interleaved(variants, turns, order)
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def slowdown(jail: str, busy: str, turns: int, order: random.Random) -> dict[str, list[float]]:
    """Measure how long the busy program, which uses locks and allocates memory, runs inside and outside the jail."""
    inside = [jail, "--slot", str(_SLOT), "--bind", f"{busy}:/program", "--", "/program", *BUSY]
    return interleaved({"outside": [busy, *BUSY], "inside": inside}, turns, order)


def quantiles(times: list[float]) -> dict[str, float]:
    """Return minimum, median, 90th and 99th percentile in milliseconds."""
    ordered = sorted(times)
    last = len(ordered) - 1
    return {
        "min_ms": round(ordered[0], 3),
        "median_ms": round(statistics.median(ordered), 3),
        "p90_ms": round(ordered[int(last * 0.9)], 3),
        "p99_ms": round(ordered[int(last * 0.99)], 3),
    }


def compared(times: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """Return for every variant its quantiles, and the ratio of its median to the median of the first variant."""
    plain = statistics.median(next(iter(times.values())))
    return {
        name: {**quantiles(each), "ratio": round(statistics.median(each) / plain, 2)}
        for name, each in times.items()
    }


def ratios(inside: list[float], outside: list[float]) -> dict[str, float]:
    """Divide each turn's time inside the jail by its time outside. Return the quartiles: low, median and high."""
    each = [a / b for a, b in zip(inside, outside, strict=True)]
    low, middle, high = statistics.quantiles(each, n=4)
    return {"low": round(low, 4), "median": round(middle, 4), "high": round(high, 4)}


def show(report: dict[str, dict[str, dict[str, float]]]) -> None:
    """Print one table for each part of the report."""
    for title, rows in report.items():
        sys.stdout.write(f"{title}\n")
        for name, values in rows.items():
            figures = "  ".join(f"{key} {value:8.3f}" for key, value in values.items())
            sys.stdout.write(f"  {name:34} {figures}\n")


def main() -> None:
    """Measure all variants, and print the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--turns", type=int, default=200, help="how often the trivial program runs (default: 200)"
    )
    parser.add_argument(
        "--busy-turns", type=int, default=15, help="how often the busy program runs (default: 15)"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the random order of the variants (default: 1)"
    )
    parser.add_argument(
        "--build",
        type=Path,
        default=ROOT / "build" / "release",
        help="build folder (default: build/release)",
    )
    parser.add_argument(
        "--json",
        type=Path,
        help="file for the figures as JSON, in addition to the tables; - is standard output",
    )
    options = parser.parse_args()
    if options.json and not options.json.parent.is_dir():
        parser.error(
            f"--json {options.json}: the folder {options.json.parent} is missing: create it, or name another file"
        )
    jail = str(options.build / "bin" / "jail")
    order = random.Random(options.seed)  # noqa: S311 (shuffles, no secret)
    idle = str(options.build / "lib" / "hostile" / "idle")
    busy = str(options.build / "lib" / "hostile" / "contended")
    starts = latency(jail, idle, options.turns, order)
    undisturbed = latency_undisturbed(jail, idle, options.turns, order)
    runs = slowdown(jail, busy, options.busy_turns, order)
    report = {
        "start to exit": compared(starts) | compared(undisturbed),
        "busy program": {name: quantiles(times) for name, times in runs.items()},
        "busy program, inside/outside": {"ratio": ratios(runs["inside"], runs["outside"])},
    }
    show(report)
    if not Path(BWRAP).exists():
        sys.stdout.write(
            "bubblewrap was not measured, because it is not installed; to install it: apt-get install bubblewrap\n"
        )
    sys.stdout.write(f"seed {options.seed}, load average {os.getloadavg()[0]:.2f}\n")
    if options.json:
        text = json.dumps(published(report), indent=2) + "\n"
        if str(options.json) == "-":
            sys.stdout.write(text)
        else:
            # Writes to the path directly. Renaming a new file to the path would replace a device such as /dev/null.
            options.json.write_text(text)


def published(report: dict[str, dict[str, dict[str, float]]]) -> dict[str, object]:
    """Return the figures in the form that `./dev bench` collects: a title, and rows of figure, value and target."""
    rows = [
        {
            "figure": f"start to exit, {name}",
            "value": f"median {values['median_ms']} ms, p99 {values['p99_ms']} ms, {values['ratio']} times fork"
            " and exec",
            **(
                {"target": TARGET, "measured": values["ratio"], "at_most": TIMES_FORK_MAX}
                if name.startswith("jail") and "without" not in name
                else {"target": ""}
            ),
        }
        for name, values in report["start to exit"].items()
    ]
    starts = report["start to exit"]
    for jail in ("jail", "jail without cgroups"):
        for suffix in ("", ", real-time priority"):
            if BUBBLEWRAP not in starts:
                break
            ratio = starts[BUBBLEWRAP + suffix]["median_ms"] / starts[jail + suffix]["median_ms"]
            figure = {"figure": f"bubblewrap / {jail}{suffix}", "value": f"{ratio:.2f}"}
            rows.append({**figure, "target": "at least 1.5", "measured": ratio, "at_least": 1.5})
    busy = report["busy program, inside/outside"]["ratio"]
    rows.append(
        {
            "figure": "busy program, inside / outside",
            "value": f"{busy['median']} (quartiles {busy['low']} to {busy['high']})",
            "target": "slowdown under 3 %",
            "measured": busy["median"],
            "at_most": 1.03,
        }
    )
    return {"title": "The jail", "rows": rows}


if __name__ == "__main__":
    main()
