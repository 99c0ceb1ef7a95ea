"""Reads the output of callgrind, the tool of valgrind that counts instructions and simulates caches and branches.

The format is described in valgrind's manual (Callgrind Format Specification). Only the report `structure_profile` uses
this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_NAME = re.compile(r"\((\d+)\)(?: (.*))?$")


@dataclass(frozen=True, slots=True)
class Cost:
    """Costs of a function, with all that it called."""

    instructions: float
    mispredicted: float
    first_misses: float  # data, in the simulated first-level cache
    last_misses: float  # data, in the simulated last-level cache

    def per(self, operations: int) -> Cost:
        """Return the costs per operation."""
        return Cost(
            self.instructions / operations,
            self.mispredicted / operations,
            self.first_misses / operations,
            self.last_misses / operations,
        )


def inclusive_costs(text: str) -> dict[str, Cost]:
    """Return the mean inclusive costs of one call of each function that was called.

    A call is three lines: `cfn=(3) name`, `calls=NUMBER ...`, and a line with a position and the inclusive costs. Only
    the first mention of a function has its name. Trailing zeros of the costs are left out.
    """
    events: list[str] = []
    names: dict[str, str] = {}
    totals: dict[str, list[int]] = {}
    calls: dict[str, int] = {}
    called, costs_follow = "", False
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if line.startswith("events:"):
            events = line.split()[1:]
        elif key in {"fn", "cfn"}:
            name = _name(value, names)
            called = name if key == "cfn" else called
        elif key == "calls":
            calls[called] = calls.get(called, 0) + int(value.split()[0])
            costs_follow = True
        elif costs_follow:
            costs = [int(number) for number in line.split()[1:]]
            costs += [0] * (len(events) - len(costs))
            before = totals.get(called, [0] * len(events))
            totals[called] = [a + b for a, b in zip(before, costs, strict=True)]
            costs_follow = False
    return {
        name: _cost(dict(zip(events, total, strict=True))).per(calls[name])
        for name, total in totals.items()
    }


def _name(value: str, names: dict[str, str]) -> str:
    """Return the full name of a function, which may be written as a number. `names` keeps the names by number."""
    found = _NAME.match(value)
    if found is None:
        return value
    number, name = found.groups()
    if name is not None:
        names[number] = name
    return names[number]


def _cost(counts: dict[str, int]) -> Cost:
    def total(*events: str) -> float:
        return float(sum(counts.get(event, 0) for event in events))

    return Cost(total("Ir"), total("Bcm", "Bim"), total("D1mr", "D1mw"), total("DLmr", "DLmw"))


def simulated_caches(folder: Path = _CACHES) -> list[str]:
    """Return callgrind's options for caches of the sizes of this machine; no options if the sizes are unknown.

    callgrind needs a number of sets that is a power of two. If the machine's cache has another one, the simulated cache
    is the next smaller one.
    """
    found: dict[tuple[int, str], str] = {}
    for index in sorted(folder.glob("index*")):
        facts = {
            name: (index / name).read_text().strip()
            for name in ("level", "type", "size", "ways_of_associativity", "coherency_line_size")
        }
        ways, line = int(facts["ways_of_associativity"]), int(facts["coherency_line_size"])
        sets = int(facts["size"].removesuffix("K")) * 1024 // (ways * line) if ways else 0
        if sets == 0:
            continue
        size = (1 << (sets.bit_length() - 1)) * ways * line
        found[int(facts["level"]), facts["type"]] = f"{size},{ways},{line}"
    if not found:
        return []
    options = {"I1": (1, "Instruction"), "D1": (1, "Data"), "LL": max(found)}
    return [f"--{name}={found[cache]}" for name, cache in options.items() if cache in found]
