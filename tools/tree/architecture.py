"""Checks that the table of rooms in ARCHITECTURE.md agrees with the rules that other checks enforce.

A room is a top-level folder. Every room needs a row; its last column lists the rooms that this room may use. The rules
are MAY_INCLUDE (tools/tree/directions.py) for C and C++, and import-linter's layers in pyproject.toml for Python.
"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from tree.directions import MAY_INCLUDE
from tree.sizes import ROOMS

if TYPE_CHECKING:
    from tree.files import Tree

PAGE = "ARCHITECTURE.md"
ROW = re.compile(r"^\| \[?(\w+)/\]?[^|]* \|[^|]+\| ([^|]+) \|$", re.MULTILINE)
# Rooms that may use everything, or that contain no code.
FREE = {"tests", "tools", "deploy", "docs"}


def check_architecture(tree: Tree) -> list[str]:
    """Return the rooms whose row is missing or differs from the enforced rules."""
    rows = dict(ROW.findall(tree.text(PAGE)))
    enforced = {**_native(), **_python(tree)}
    complaints = [
        f"{PAGE}: the table has no row for {room}/; add one" for room in ROOMS if room not in rows
    ]
    for room, used in sorted(enforced.items()):
        if room in rows and room not in FREE and _rooms_in(rows[room]) != used:
            listed = ", ".join(sorted(used)) or "nothing"
            complaints.append(
                f"{PAGE}: MAY_INCLUDE (tools/tree/directions.py) or pyproject.toml allows {room}/ to use {listed}, "
                f"but the table says {rows[room]}; make the table agree"
            )
    return complaints


def _rooms_in(cell: str) -> set[str]:
    """Return the rooms that a cell lists before its first semicolon; the rest of the cell is a remark."""
    return {word for word in re.findall(r"\w+", cell.partition(";")[0]) if word in ROOMS}


def _native() -> dict[str, set[str]]:
    used: dict[str, set[str]] = {}
    for node, allowed in MAY_INCLUDE.items():
        room = node.split("/", maxsplit=1)[0]
        used.setdefault(room, set()).update(name.split("/")[0] for name in allowed)
    return {room: rooms - {room} for room, rooms in used.items()}


def _python(tree: Tree) -> dict[str, set[str]]:
    contracts = tomllib.loads(tree.text("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    used: dict[str, set[str]] = {}
    below: set[str] = set()
    for layer in reversed(layers):
        rooms = {room.strip() for room in layer.split("|")}
        used |= {room: set(below) for room in rooms}
        below |= rooms
    return used
