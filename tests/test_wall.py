"""Tests that the player, the program inside the jail, contains no code that generates operations or judges results.

tools/tree/directions.py checks the same for includes. This test checks the linked program: it reads the link map, the
linker's list of objects, and finds the sources of each object in the compiler's commands. Every source must be in a
folder that the player may use.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from tree.directions import KIT, MAY_INCLUDE, node_of  # noqa: E402 - the path above makes it importable
from tree.files import tracked  # noqa: E402

BUILD = Path(os.environ.get("KEYDROME_BUILD", ROOT / "build" / "release"))
LOADED = re.compile(r"^LOAD (\S+\.o)$", re.MULTILINE)
MEMBER = re.compile(r"^(\S+)/lib(\w+)\.a\((\S+\.o)\)$", re.MULTILINE)
# Namespaces, as they appear in mangled names, of the folders of benchmarks/kit whose code must not be in the player.
FORBIDDEN = re.compile(r"8keydrome(6script|5judge|8workload)")


def commands() -> dict[str, Path]:
    """Return the source of each object that the build compiles."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        output = re.search(r" -o (\S+)", entry["command"])
        assert output, entry
        found[output[1]] = Path(entry["file"])
    return found


def objects(link_map: str) -> set[str]:
    """Return the project's objects in a link map, with the paths to which the compiler wrote them."""
    compiled = commands()
    found = {name for name in LOADED.findall(link_map) if not name.startswith("/")}
    for folder, library, member in MEMBER.findall(link_map):
        if folder.startswith("/"):
            continue  # an object of the system
        prefix = f"{folder}/CMakeFiles/{library}.dir/"
        members = {
            name for name in compiled if name.startswith(prefix) and Path(name).name == member
        }
        assert members, f"no command compiles {member} of lib{library}.a, so its source is unknown"
        found |= members
    return found


def sources(link_map: str) -> set[str]:
    """Return the sources of a program, from its link map.

    A file of a unity build includes several sources; these sources are returned instead of the file.
    """
    compiled = commands()
    found = set()
    for name in objects(link_map):
        source = compiled[name]
        if "Unity" in source.parts:
            found |= {Path(path) for path in re.findall(r'#include "(/.*)"', source.read_text())}
        else:
            found.add(source)
    return {str(path.relative_to(ROOT)) for path in found if not path.is_relative_to(BUILD)}


def refused(link_map: str, start: str) -> list[str]:
    """Return the sources in a link map that are outside the folders that `start` may use, directly or indirectly."""
    tree = tracked(ROOT)
    nodes = [node for node in MAY_INCLUDE if node in tree.folders or node in tree.names]
    allowed, edge = set(), {start}
    while edge:
        allowed |= edge
        edge = set().union(*(MAY_INCLUDE[node] for node in edge)) - allowed
    headers = {name: re.sub(r"\.cc?$", ".h", name) for name in sources(link_map)}
    return sorted(name for name, header in headers.items() if node_of(header, nodes) not in allowed)


def symbols(program: str) -> str:
    return subprocess.run(
        ["nm", str(BUILD / "bin" / program)], capture_output=True, text=True, check=True
    ).stdout


def test_player_holds_nothing_that_generates_or_judges() -> None:
    link_map = (BUILD / "player.map").read_text()
    assert any(name.startswith(f"{KIT}/player/") for name in sources(link_map))
    assert refused(link_map, "harness/player") == []


def test_no_symbol_of_a_forbidden_wing_is_in_the_player() -> None:
    assert "8keydrome6player" in symbols("player")
    assert not FORBIDDEN.findall(symbols("player"))


@pytest.mark.parametrize("wing", ["script", "judge", "workload"])
def test_the_referee_would_be_refused(wing: str) -> None:
    """The referee generates and judges, so the check must fail for it. This shows that the check can fail."""
    complaints = refused((BUILD / "referee.map").read_text(), "harness/player")
    assert any(name.startswith(f"{KIT}/{wing}/") for name in complaints)
    assert wing in {found[1:] for found in FORBIDDEN.findall(symbols("referee"))}


def test_an_object_of_unknown_origin_is_refused() -> None:
    with pytest.raises(AssertionError, match="so its source is unknown"):
        objects("benchmarks/libbenchmarks.a(stranger.cc.o)\n")
