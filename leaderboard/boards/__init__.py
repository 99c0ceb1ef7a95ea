"""Reads the boards from the folders next to this file. A board is a ranking of libraries on one benchmark instance.

Each folder contains the rules of a board (board.json) and a text (description.md). A board.json has the fields of
`Board` below, except slug, description and provisional. The fields strict and main may be left out. If another field is
missing, or a field is unknown or wrong, the code raises BoardError, which names the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from runner.terms import Scale

BOARDS_DIR = Path(__file__).resolve().parent
DIRECTIONS = ("lower", "higher")
JAIL_LEVELS = ("none", "weak", "full")


@dataclass(frozen=True, slots=True)
class Family:
    """A group of boards with similar workloads. `description` is a sentence for pages."""

    title: str
    description: str


FAMILIES = {
    "sigmod2009": Family(
        "SIGMOD 2009 contest",
        "Short transactions of reads, scans, inserts and deletes on one or several indexes.",
    ),
    "ycsb": Family(
        "Key-value workloads",
        "YCSB and workloads like it: point reads, updates, inserts and short scans of skewed keys.",
    ),
    "transactions": Family(
        "Transactions",
        "Benchmarks of transaction processing, such as TATP and TPC-C, on several indexes.",
    ),
    "operations": Family(
        "Single operations",
        "Inserts, deletes, scans, duplicates and changing skew, each on its own.",
    ),
}


class BoardError(Exception):
    """A board.json has missing, unknown or wrong fields."""


@dataclass(frozen=True, slots=True)
class Board:
    """The rules of one board. A session is one repetition of a run, in a fresh process.

    - `slug`: the name of the board's folder and of its page.
    - `family`: the group of boards with similar workloads to which this board belongs, see FAMILIES. The pages compare
      the boards of a family side by side (configuration_board.py).
    - `scales`: the scales of the runs that the board ranks (smoke, laptop, paper). A submission runs at the first one.
    - `machines`: the machine classes that the board accepts, as patterns such as "*, 2 CPUs, 24 GiB"; "*" accepts all.
      Ranks of different machine classes are never mixed.
    - `metric`, `direction`: the board ranks by the library's value of this metric divided by the value of the control
      library (the baseline). `direction` says whether `lower` or `higher` is better.
    - `top`: how many libraries the board shows, each with all its *variants*: the entries of one binary under several
      configurations.
    - `per_user`: how many libraries of one user the board accepts, each with all its variants.
    - `minimum_sessions`: how many sessions a run must have at least.
    - `jail_level`: the weakest isolation level of a run's jail (its sandbox) that the board accepts.
    - `gates`: the correctness benchmarks that the same binary must have passed. If the binary is a structure (a library
      without transactions), it must have passed them under the same runtime configuration.
    - `strict`: True if stale reads fail a gate. In a stale read, a transaction does not see data that was committed
      before the transaction began. The two boards of the SIGMOD 2009 contest have False: they accept a gate that found
      only stale reads.
    - `main`: True if this board decides a contest. The front page shows the best entries of main boards, and the
      upload form preselects their benchmarks.
    - `provisional`: True for a demonstration board, which accepts a smaller scale and fewer sessions.
    """

    slug: str
    title: str
    description: str
    benchmark: str
    instance: str
    family: str
    scales: tuple[str, ...]
    machines: tuple[str, ...]
    metric: str
    direction: str
    top: int
    per_user: int
    minimum_sessions: int
    gates: tuple[str, ...]
    jail_level: str
    strict: bool = True
    main: bool = False
    provisional: bool = False

    @property
    def lower_is_better(self) -> bool:
        """Return True if the smallest score is the best."""
        return self.direction == "lower"

    def accepts_machine(self, machine_class: str) -> bool:
        """Return True if the board ranks runs on machines of this class."""
        return any(fnmatchcase(machine_class, pattern) for pattern in self.machines)


def parse_board(slug: str, data: dict[str, Any], description: str) -> Board:
    """Return the board that the content of a board.json describes. Raises BoardError, which names every wrong field."""
    derived = {"slug", "description", "provisional"}
    known = {field.name for field in fields(Board)} - derived
    required = known - {"strict", "main"}
    problems = [f"the field {name!r} is missing: add it" for name in sorted(required - set(data))]
    problems += [f"the field {name!r} is unknown: remove it" for name in sorted(set(data) - known)]
    if not problems:
        problems = _wrong_values(data)
    if problems:
        raise BoardError(f"leaderboard/boards/{slug}/board.json: {'; '.join(problems)}")
    values: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in data.items()
    }
    return Board(slug=slug, description=description, **values)


def _wrong_values(data: dict[str, Any]) -> list[str]:
    """Return what is wrong with the values of a board.json. The caller has checked the names of its fields."""
    allowed: dict[str, str] = {}
    for name in ("title", "benchmark", "instance", "metric"):
        if not isinstance(data[name], str) or not data[name]:
            allowed[name] = "a text that is not empty"
    for name in ("top", "per_user", "minimum_sessions"):
        if type(data[name]) is not int or data[name] < 1:
            allowed[name] = "a whole number of at least 1"
    if not _are_names(data["gates"]):
        allowed["gates"] = "a list of names of benchmarks"
    for name in ("strict", "main"):
        if type(data.get(name, True)) is not bool:
            allowed[name] = "true or false"
    if (
        not _are_names(data["scales"])
        or not data["scales"]
        or not set(data["scales"]) <= {s.value for s in Scale}
    ):
        allowed["scales"] = f"a list that is not empty and contains only {', '.join(Scale)}"
    if not _are_names(data["machines"]) or not data["machines"]:
        allowed["machines"] = (
            'a list of machine classes that is not empty, or ["*"] for all classes'
        )
    choices = {"direction": DIRECTIONS, "family": tuple(FAMILIES), "jail_level": JAIL_LEVELS}
    for name, values in choices.items():
        if data[name] not in values:
            allowed[name] = f"one of {', '.join(values)}"
    return [
        f"the field {name!r} has the value {json.dumps(data[name])}; it must be {text}"
        for name, text in allowed.items()
    ]


def _are_names(value: object) -> bool:
    """Return True if the value is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


@cache
def _published() -> tuple[Board, ...]:
    """Read every board folder once per process."""
    found = []
    for path in sorted(BOARDS_DIR.glob("*/board.json")):
        description = (path.parent / "description.md").read_text()
        found.append(parse_board(path.parent.name, json.loads(path.read_text()), description))
    return tuple(found)


def relaxed(board: Board, scale: str) -> Board:
    """Return the board as a demonstration: runs at this scale only, with any number of sessions, on any machine."""
    return replace(
        board,
        scales=(Scale(scale).value,),
        machines=("*",),
        minimum_sessions=1,
        provisional=True,
    )


def all_boards() -> tuple[Board, ...]:
    """Return every board, ordered by slug.

    If KEYDROME_BOARD_SCALE is set, all boards are demonstrations at that scale.
    """
    scale: str = settings.KEYDROME_BOARD_SCALE
    boards = _published()
    return _all_relaxed(boards, scale) if scale else boards


@lru_cache(maxsize=4)
def _all_relaxed(boards: tuple[Board, ...], scale: str) -> tuple[Board, ...]:
    """Return the boards as demonstrations. The result is remembered, because one request asks for it many times."""
    return tuple(relaxed(board, scale) for board in boards)


def main_boards() -> tuple[Board, ...]:
    """Return the boards whose field `main` is True, ordered by slug."""
    return tuple(board for board in all_boards() if board.main)


def board_named(slug: str) -> Board | None:
    """Return the board with this slug, or None."""
    return next((board for board in all_boards() if board.slug == slug), None)


def boards_for(benchmark: str, instance: str) -> tuple[Board, ...]:
    """Return the boards that rank this benchmark instance."""
    return tuple(b for b in all_boards() if (b.benchmark, b.instance) == (benchmark, instance))


def jail_suffices(level: str, needed: str) -> bool:
    """Return True if the jail level `level` isolates at least as well as `needed`; False for an unknown level."""
    return level in JAIL_LEVELS and JAIL_LEVELS.index(level) >= JAIL_LEVELS.index(needed)
