"""Lists the libraries, structures and configurations of this repository, from the files in their folders.

A library exports the ten calls of the index API (contract A). A structure is a data structure without transactions and
locks (contract B). Keydrome's runtime is a library that adds them to a structure, as a configuration says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.manifest import RequestError
from runner.strict import ObjectReader, parse_object

if TYPE_CHECKING:
    from pathlib import Path

    from runner.settings import Settings

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Reference:
    """A library or structure of this repository: indexes/NAME/index.json or structures/NAME/structure.json."""

    name: str
    description: str
    path: Path  # the file that the build writes; it may not exist yet
    # The shared objects that this library may link against, although uploads may not.
    needed: frozenset[str] = frozenset()
    trusted: bool = False  # whether runner/inspection accepts a file that links against `needed`
    baseline: bool = False  # it stores nothing: it can be timed, but it fails every check
    unordered: bool = False  # a structure without scans, which fails every check that scans


def reference_libraries(settings: Settings) -> list[Reference]:
    """Return this repository's libraries (contract A) by name. Raises StrictError if an index.json is invalid."""
    found = []
    for path in sorted((settings.root / "indexes").glob("*/index.json")):
        reader = ObjectReader(parse_object(path.read_bytes(), str(path)), str(path))
        name = reader.text("name")
        found.append(
            Reference(
                name=name,
                description=reader.text("description"),
                path=settings.build / "lib" / "indexes" / f"{name}.so",
                needed=frozenset(reader.texts("needed", required=False)),
                trusted=reader.boolean("trusted", default=False),
                baseline=reader.boolean("baseline", default=False),
            )
        )
        reader.text("source", default="")
        reader.end()
    return found


def structures(settings: Settings) -> list[Reference]:
    """Return this repository's structures (contract B) by name. Raises StrictError if a structure.json is invalid."""
    found = []
    for path in sorted((settings.root / "structures").glob("*/structure.json")):
        reader = ObjectReader(parse_object(path.read_bytes(), str(path)), str(path))
        name = reader.text("name")
        description = reader.text("description")
        baseline = reader.boolean("baseline", default=False)
        unordered = reader.boolean("unordered", default=False)
        reader.text("source", default="")
        reader.end()
        built = settings.build / "lib" / "structures" / f"{name}.so"
        found.append(
            Reference(
                name=name,
                description=description,
                path=built,
                baseline=baseline,
                unordered=unordered,
            )
        )
    return found


def trusted_needed(settings: Settings) -> frozenset[str]:
    """Return the shared objects that only trusted reference libraries may link against."""
    return frozenset().union(*(reference.needed for reference in reference_libraries(settings)))


def configuration_names(settings: Settings) -> list[str]:
    """Return the names of the runtime's configurations, sorted."""
    folder = settings.root / "runtime" / "configurations"
    return sorted(path.stem for path in folder.glob("*.json") if _NAME.fullmatch(path.stem))


def isolating_configurations(settings: Settings) -> list[str]:
    """Return the sorted names of the configurations that isolate transactions: their concurrency is not `none`."""
    return [
        name
        for name in configuration_names(settings)
        if load_configuration(settings, name)["concurrency"] != "none"
    ]


def reference_configurations(settings: Settings) -> list[str]:
    """Return the names of the configurations with `"reference": true`, sorted.

    The site's command add_reference submits the structures of this repository with each of them.
    """
    return [
        name
        for name in configuration_names(settings)
        if load_configuration(settings, name).get("reference", False)
    ]


def load_configuration(settings: Settings, name: str) -> dict[str, Any]:
    """Return the content of runtime/configurations/NAME.json. Raises RequestError if the file does not exist."""
    known = configuration_names(settings)
    if name not in known:
        raise RequestError(f"there is no configuration {name!r}; choose one of: {', '.join(known)}")
    path = settings.root / "runtime" / "configurations" / f"{name}.json"
    return parse_object(path.read_bytes(), str(path))
