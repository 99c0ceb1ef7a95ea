"""Collects facts about this machine for reports.

Machines with the same processor model, number of usable CPUs and memory are one class. Only times of machines of the
same class may be compared.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.contract import Session

_GIBIBYTE = 1 << 30


def machine_facts() -> dict[str, Any]:
    """Return facts about this machine. All values are strings or numbers.

    `class` names the processor model, the number of usable CPUs and the memory in GiB. `fingerprint` is a digest of the
    same facts and the architecture. Reboots and updates do not change these two values, because the kernel, the C
    library and the load are not part of them.
    """
    model = _cpu_model()
    cpus = len(os.sched_getaffinity(0))
    memory_gib = _memory_gib()
    machine_class = f"{model}, {cpus} CPUs, {memory_gib} GiB"
    identity = json.dumps([platform.machine(), model, cpus, memory_gib])
    return {
        "name": platform.node() or "unnamed",
        "class": machine_class,
        "fingerprint": hashlib.sha256(identity.encode()).hexdigest()[:16],
        "architecture": platform.machine(),
        "cpu_model": model,
        "cpus": cpus,
        "memory_gib": memory_gib,
        "kernel": platform.release(),
        "system": _system(),
        "libc": os.confstr("CS_GNU_LIBC_VERSION") or "unknown",
        "load_average": round(os.getloadavg()[0], 2),
    }


def facts_of_sessions(sessions: Sequence[Session]) -> dict[str, Any]:
    """Return machine_facts(), and what the referee reported about the machine in these sessions.

    The referee is the program that runs and judges a session, one repetition of a benchmark.

    `compiler`, `governor` and `pinning` are those of the first session. `frequency_mhz` and `steal_percent` are medians
    over the sessions. A fact that no session reported is missing.
    """
    reported = [session.candidate.machine for session in sessions]
    facts = machine_facts()
    for name in ("compiler", "governor", "pinning"):
        if reported and name in reported[0]:
            facts[name] = reported[0][name]
    for name in ("frequency_mhz", "steal_percent"):
        values = [machine[name] for machine in reported if name in machine]
        if values:
            facts[name] = round(median(values), 3)
    return facts


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return " ".join(value.split())
    return platform.processor() or "unknown processor"


def _memory_gib() -> int:
    """Return the memory in GiB. The number is rounded, so that memory reserved by the firmware does not change it."""
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _GIBIBYTE)


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"
