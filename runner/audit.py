"""Chooses the sessions that are audited: played once in each of two modes, timed and verified, with the same seed.

A run judges one library, the candidate, in one or more sessions. A session executes one workload, which is a list of
calls, in the jail (sandbox): with the candidate, and with the control, a fixed library for comparison. In timed mode,
the process that contains the library makes the calls. In verified mode, a process outside the jail makes them, so the
library cannot read its next calls in memory. An audit plays a timed session again in verified mode, or a verified
session again in timed mode. It gives two times for each of the two libraries, which results/look_ahead.py compares.

Hashes of the run's own secret seeds choose the sessions. A run that is repeated after a machine failure therefore has
the same audits again. When the seeds have been published, everyone can verify the choice.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.report import AuditPair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.report import Report
    from runner.settings import Settings

# How a reason begins if a library failed when its session was played again, and how a warning begins and ends if the
# machine failed.
AUDITED = "in a session that was played again for an audit: "
NOT_AUDITED = (
    "an audit was not possible, so it is unknown whether the library looks ahead at calls that its caller has not yet "
    "made"
)
NO_EFFECT = "The verdict does not depend on this audit; to repeat the audit, run again"
# A session is audited only if its calls are expected to take at most this time in verified mode.
SECONDS_MAX = 60.0
# Upper estimates of the time of one call in verified mode: if each thread has two CPUs, and if threads share CPUs.
_CALL_SECONDS = 1e-6
_SHARED_CALL_SECONDS = 30e-6
# A call of the control takes some 300 ns longer in verified mode. If it takes longer by more than this limit, other
# processes have used the CPUs, and the session says nothing about the candidate.
CONTROL_ADDED_NS_MAX = 3000.0
# This time is added to the time limit of each phase (a part of the session, such as create or test) when a session is
# played again. It is five times SECONDS_MAX, so a session that is slower than estimated does not time out.
PHASE_EXTRA_MS = 300_000


def audited_seeds(seeds: Sequence[str], one_in: int) -> tuple[str, ...]:
    """Return the seeds of the sessions that are audited: on average one of `one_in`; none if `one_in` is 0."""
    if one_in < 1:
        return ()
    # This text must not change, because users verify the choice with the published seeds.
    digests = {
        seed: hashlib.sha256(f"audit of {seed} in {' '.join(seeds)}".encode()).digest()
        for seed in seeds
    }
    return tuple(seed for seed, digest in digests.items() if int.from_bytes(digest) % one_in == 0)


def has_two_cpus_per_thread(report: Report, settings: Settings) -> bool:
    """Return True if each thread of the workload can have two CPUs: one inside the jail and one outside."""
    cpus = settings.cpus.split(";")[settings.slot % len(settings.cpus.split(";"))]
    count = count_cpus(cpus) if cpus else len(os.sched_getaffinity(0))
    return 2 * report.parameters.get("threads", 1) <= count


def count_cpus(cpus: str) -> int:
    """Return the number of CPUs in a list such as `0-3,8`."""
    ranges = [part.partition("-") for part in cpus.split(",") if part]
    return sum(int(last or first) - int(first) + 1 for first, _, last in ranges)


def is_affordable(report: Report, settings: Settings) -> bool:
    """Return True if the session of this report takes at most SECONDS_MAX in verified mode, by an upper estimate."""
    shared = not has_two_cpus_per_thread(report, settings)
    seconds = report.metrics.get("calls", 0.0) * (_SHARED_CALL_SECONDS if shared else _CALL_SECONDS)
    return 0.0 < seconds <= SECONDS_MAX


def make_pair(
    candidate: tuple[Report, Report], control: tuple[Report, Report], *, comparable: bool
) -> AuditPair | None:
    """Return the times per call of a session that was played in timed and in verified mode.

    Returns None if a report lacks its time.

    `candidate` and `control` each contain two reports of one library: one of each mode, in any order. `comparable` says
    whether the machine has enough CPUs. The pair is comparable only if other processes did not use these CPUs, which
    the time of the control shows (CONTROL_ADDED_NS_MAX).
    """
    times = {}
    for role, reports in (("candidate", candidate), ("control", control)):
        for report in reports:
            mode = "verified" if report.verified else "timed"
            times[f"{role}_{mode}_ns"] = report.metrics.get("ns_per_call", 0.0)
    if not all(times.values()):
        return None
    pair = AuditPair(**times, comparable=comparable)
    quiet = pair.control_added_ns <= CONTROL_ADDED_NS_MAX
    return replace(pair, comparable=comparable and quiet)
