"""Checks that C and C++ files include only files of the folders that MAY_INCLUDE allows.

MAY_INCLUDE is a graph of nodes. A node is a folder, or a single header that more folders may include than the rest of
its folder. A file belongs to the deepest node that contains it. A file may include files of its own node and of the
nodes that MAY_INCLUDE lists for its node. A node whose path does not exist has no effect. Tests and measurements
(folders named tests or bench) may include everything that any node of their top-level folder may include.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tree.files import is_test

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree.files import Tree

KIT = "benchmarks/kit"  # what all benchmarks share
# The formats of the data that enters and leaves the jail, the sandbox of the untrusted library. This is the only part
# of the kit that code inside and outside the jail uses.
FORMAT = f"{KIT}/format"
JUDGING = {f"{KIT}/judge", f"{KIT}/script", FORMAT}
# The layout of a recorded event, without the checker that judges it.
EVENT = {"checker/history/event.h"}
# Headers with the words of a finding: severities, and the names of calls and result codes.
WORDS = {"checker/severity.h", "checker/names.h"}
# The folders of the checker.
CHECKER_WINGS = {f"checker/{wing}" for wing in ("history", "model", "certify", "witness")}
CHECKER = {"checker", *CHECKER_WINGS, *WORDS, *EVENT}
LOW = {"api", "base"}
# The folders of the referee, the trusted program outside the jail. Each folder may use some of the folders before it.
REFEREE = tuple(
    f"harness/referee/{folder}"
    for folder in ("machine", "plan", "processes", "hang", "memory", "session", "judging", "report")
)

MAY_INCLUDE: dict[str, set[str]] = {
    "api": set(),
    "base": set(),
    "checker": {*CHECKER, *LOW},
    "checker/severity.h": set(),
    "checker/names.h": {*EVENT, "api"},
    "checker/history/event.h": {"api"},
    "checker/history": {*WORDS, *EVENT, *LOW},
    "checker/model": {"checker/history", *WORDS, *EVENT, *LOW},
    "checker/certify": {"checker/history", "checker/model", *WORDS, *EVENT, *LOW},
    "checker/witness": {"checker/history", "checker/certify", *WORDS, *EVENT, *LOW},
    "benchmarks": {f"{KIT}/workload", *JUDGING, *CHECKER, *LOW},
    # The kit's top folder has no files of its own except tests.
    KIT: set(),
    # The player runs in the jail, in the process of the untrusted library. So no generator, no judge and no expected
    # result may be compiled into it: the player includes none of script, judge and workload. These in turn never
    # include the player.
    f"{KIT}/format": {*EVENT, *LOW},
    f"{KIT}/player": {FORMAT, *EVENT, *LOW},
    f"{KIT}/script": {FORMAT, *WORDS, *EVENT, *LOW},
    f"{KIT}/judge": {f"{KIT}/script", FORMAT, *CHECKER, *LOW},
    f"{KIT}/workload": {*JUDGING, *CHECKER, *LOW},
    "structures": {*LOW},
    "runtime": {*LOW},
    "indexes": {*LOW},
    "harness": {FORMAT, *EVENT, *LOW},
    "harness/player": {"harness", FORMAT, f"{KIT}/player", "jail/tighten.h", *EVENT, *LOW},
    "harness/driver": {"harness", "harness/player", FORMAT, f"{KIT}/player", *EVENT, *LOW},
    # Plays operations in its own process, without a jail, for debuggers. No other program includes it.
    "harness/debug": {
        *REFEREE,
        "harness/player",
        f"{KIT}/player",
        f"{KIT}/workload",
        *JUDGING,
        *EVENT,
        *LOW,
    },
    "harness/referee": {*REFEREE, "harness", f"{KIT}/workload", *JUDGING, *CHECKER, *LOW},
    "harness/referee/machine": {*LOW},
    "harness/referee/plan": {"harness", FORMAT, *LOW},
    "harness/referee/processes": {
        *REFEREE[:2],
        "harness",
        "jail/command.h",
        f"{KIT}/workload",
        f"{KIT}/script",
        *LOW,
    },
    "harness/referee/hang": {"harness", *JUDGING, *LOW},
    "harness/referee/memory": {"harness", f"{KIT}/script", FORMAT, *LOW},
    "harness/referee/session": {
        *REFEREE[:5],
        "harness",
        f"{KIT}/workload",
        f"{KIT}/script",
        FORMAT,
        *LOW,
    },
    # For a crash, judging writes a C program that repeats it, with functions of checker/witness for C literals.
    "harness/referee/judging": {*REFEREE[:6], "harness", "checker/witness", *JUDGING, *LOW},
    "harness/referee/report": {
        *REFEREE[:7],
        "harness",
        f"{KIT}/workload",
        *JUDGING,
        *CHECKER,
        *LOW,
    },
    "jail": {"jail/tighten.h", "jail/command.h"},
    "jail/tighten.h": set(),
    "jail/command.h": set(),
}
# Further folders that the tests of a room may include. The runtime's tests let the checker judge recorded histories.
# The test of the indexes plays the scenarios of benchmarks/, and names result codes as findings do. The room tests/ may
# include everything.
TESTS_MAY_INCLUDE = {
    "runtime": CHECKER,
    "indexes": {"benchmarks", KIT, f"{KIT}/workload", *JUDGING, *WORDS},
    "tests": {*MAY_INCLUDE, "jail/tests"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def check_directions(tree: Tree) -> list[str]:
    """Return the includes that go against MAY_INCLUDE."""
    nodes = [node for node in MAY_INCLUDE if node in tree.folders or node in tree.names]
    complaints = []
    for name in tree.having(".c", ".cc", ".h"):
        for target in INCLUDE.findall(tree.text(name)):
            full = f"api/include/{target}" if target.startswith("keydrome/") else target
            if not _may_include(name, full, nodes):
                complaints.append(
                    f"{name} includes {target}, but MAY_INCLUDE in tools/tree/directions.py does not allow it; "
                    "remove the include"
                )
    return complaints


def _may_include(name: str, target: str, nodes: list[str]) -> bool:
    room, target_room = name.split("/", maxsplit=1)[0], target.split("/", maxsplit=1)[0]
    if "/" not in target or (target_room not in MAY_INCLUDE and target_room != "tests"):
        return True  # a generated or a third-party header
    if room == "tests" and target.startswith(("tests/", "jail/tests/")):
        return True
    if is_test(name) or room == "tests":
        # A test may include its whole room, and everything that any part of the room may include.
        own = [node for node in MAY_INCLUDE if node.split("/")[0] == room]
        allowed = set().union(*(MAY_INCLUDE[node] for node in own), own)
        allowed |= TESTS_MAY_INCLUDE.get(room, set())
    else:
        own_node = node_of(name, nodes)
        if own_node is None:
            return True
        allowed = {own_node, *MAY_INCLUDE[own_node]}
    return node_of(target, nodes) in allowed


def node_of(name: str, nodes: Iterable[str]) -> str | None:
    """Return the deepest node that contains a file, or is that file; None if there is no such node."""
    places = {name, *(str(parent) for parent in PurePosixPath(name).parents)}
    return max((node for node in nodes if node in places), key=len, default=None)
