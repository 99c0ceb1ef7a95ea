"""Boards: rules that order runs, one folder each (board.json, description.md), no code.

A board.json holds exactly the fields of `Board` below except slug and description; anything else is
an error, told with the file's name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from runner.contract import Scale

BOARDS_DIR = Path(__file__).resolve().parent
JAIL_LEVELS = ("none", "weak", "full")


class BoardError(Exception):
    """A board.json is not what it should be."""


@dataclass(frozen=True, slots=True)
class Board:
    """The rules of one board.

    `scales` are accepted; `direction` says whether a `lower` or `higher` metric is better; `top`
    entries are shown, at most `per_user` of one user; a run needs `minimum_sessions`; every
    benchmark in `gates` must have been passed by the same binary under the same configuration.
    A `strict` board does not forgive a stale read, that a transaction did not see what was committed before it began;
    the boards of 2009 do, if nothing else was wrong. `main` boards are those that a contest is about: the front page
    shows their best, and their benchmarks are chosen in the upload form from the start. `provisional` marks a
    demonstration board: smaller scale, few sessions.
    """

    slug: str
    title: str
    description: str
    benchmark: str
    instance: str
    scales: tuple[str, ...]
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
        """Whether the smallest score leads."""
        return self.direction == "lower"


def parse_board(slug: str, data: dict[str, Any], description: str) -> Board:
    """Return the board that a board.json describes. Raises BoardError naming every wrong field."""
    derived = {"slug", "description", "provisional"}
    known = {field.name for field in fields(Board)} - derived
    required = known - {"strict", "main"}
    problems = [f"field {name!r} is missing" for name in sorted(required - set(data))]
    problems += [f"field {name!r} is unknown" for name in sorted(set(data) - known)]
    if not problems:
        problems = _wrong_values(data)
    if problems:
        raise BoardError(f"boards/{slug}/board.json: {'; '.join(problems)}")
    values: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in data.items()
    }
    return Board(slug=slug, description=description, **values)


def _wrong_values(data: dict[str, Any]) -> list[str]:
    """Return what is wrong with the values of a board.json that has the right fields."""
    problems = []
    for name in ("title", "benchmark", "instance", "metric"):
        if not isinstance(data[name], str) or not data[name]:
            problems.append(f"{name} must be a name")
    for name in ("top", "per_user", "minimum_sessions"):
        if type(data[name]) is not int or data[name] < 1:
            problems.append(f"{name} must be a positive integer")
    if not _are_names(data["gates"]):
        problems.append("gates must be a list of benchmarks")
    for name in ("strict", "main"):
        if type(data.get(name, True)) is not bool:
            problems.append(f"{name} must be true or false")
    if not _are_names(data["scales"]) or not set(data["scales"]) <= {s.value for s in Scale}:
        problems.append(f"scales must be a list of {', '.join(Scale)}")
    if data["direction"] not in {"lower", "higher"}:
        problems.append("direction must be lower or higher")
    if data["jail_level"] not in JAIL_LEVELS:
        problems.append(f"jail_level must be one of {', '.join(JAIL_LEVELS)}")
    return problems


def _are_names(value: object) -> bool:
    """Whether a value is a list of strings."""
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
    """Return the board as a demonstration: it accepts one scale and any number of sessions."""
    return replace(board, scales=(Scale(scale).value,), minimum_sessions=1, provisional=True)


def all_boards() -> tuple[Board, ...]:
    """Return every board by slug; KEYDROME_BOARD_SCALE turns them into demonstrations."""
    scale: str = settings.KEYDROME_BOARD_SCALE
    boards = _published()
    return tuple(relaxed(board, scale) for board in boards) if scale else boards


def main_boards() -> tuple[Board, ...]:
    """Return the boards that a contest is about."""
    return tuple(board for board in all_boards() if board.main)


def board_named(slug: str) -> Board | None:
    """Return the board of this slug, or None."""
    return next((board for board in all_boards() if board.slug == slug), None)


def boards_for(benchmark: str, instance: str) -> tuple[Board, ...]:
    """Return the boards that rank this benchmark instance."""
    return tuple(b for b in all_boards() if (b.benchmark, b.instance) == (benchmark, instance))


def jail_suffices(level: str, needed: str) -> bool:
    """Whether a jail level is at least the needed one; an unknown level never is."""
    return level in JAIL_LEVELS and JAIL_LEVELS.index(level) >= JAIL_LEVELS.index(needed)
