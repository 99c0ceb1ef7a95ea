"""Facts about this machine, and the class that decides whose numbers may be compared."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path
from typing import Any

_GIBIBYTE = 1 << 30


def machine_facts() -> dict[str, Any]:
    """Return flat facts about this machine: strings and numbers.

    `class` is what a person compares, `fingerprint` its digest. Both depend only on what decides speed and stays
    the same over reboots and updates (processor model, CPUs in use, memory in GiB); the kernel, the C library and
    the load are recorded beside them.
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


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return " ".join(value.split())
    return platform.processor() or "unknown processor"


def _memory_gib() -> int:
    """Return the memory in GiB, rounded, so that what the firmware keeps for itself changes no class."""
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _GIBIBYTE)


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        return "Linux"
