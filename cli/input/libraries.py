"""Finds the library and the configuration that the arguments of a command name.

An argument names a library by the path of its file, or by the name of a library or structure of this build. A
structure is a data structure without transactions; a configuration says how Keydrome's runtime adds them.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.input.configuration_file import check_configuration
from cli.input.values import UsageError
from runner.catalogue import (
    configuration_names,
    load_configuration,
    reference_libraries,
    structures,
)
from runner.inspection.library import LibraryKind, file_kind
from runner.settings import BUILD_FIRST
from runner.store import MAKE_SMALLER, sizes_in_mib
from runner.strict import parse_object
from runner.text import display_name, printable

if TYPE_CHECKING:
    from runner.inspection.library import LibraryFacts
    from runner.settings import Settings

DEFAULT_CONFIGURATION = "exclusive"
"""The configuration of a structure that is given without one. It suits every structure, even without thread safety."""
_NO_ISOLATION = "none"


@dataclass(frozen=True, slots=True)
class Named:
    """A library that the user has named. `configuration` is the name or file after the colon in LIB:CONFIG, or None."""

    path: Path
    configuration: str | None = None


def find_library(text: str, settings: Settings) -> Named:
    """Return what LIB or LIB:CONFIG means. LIB is a path, or the name of a library or structure of this build.

    If there is a file with the path `text`, the text is not split at its colon. Raises UsageError if LIB names neither
    a file nor a library of this build, or a library that is not built yet.
    """
    if Path(text).exists():
        return Named(Path(text))
    file, colon, configuration = text.rpartition(":")
    name, after = (file, configuration) if colon else (text, None)
    ours = _ours(settings)
    path = ours.get(name, Path(name))
    if path.exists():
        return Named(path, after)
    if name in ours:
        raise UsageError(f"{path} is not built yet: {BUILD_FIRST}")
    raise UsageError(
        f"{path}: no such file, and no library of this build has this name; the names are: {', '.join(ours)}"
    )


def find_runnable(text: str, settings: Settings) -> Named:
    """Return what find_library() returns. Also raises UsageError if the file cannot be a library."""
    named = find_library(text, settings)
    path = named.path
    if not path.is_file():
        raise UsageError(
            f"{printable(text)}: not a regular file, but {file_kind(path.stat().st_mode)}; give the path of a shared "
            "object, such as ./NAME.so"
        )
    size, limit = path.stat().st_size, settings.library_bytes_max
    if size > limit:
        raise UsageError(f"{display_name(path.name)} {sizes_in_mib(size, limit)}: {MAKE_SMALLER}")
    return named


def _ours(settings: Settings) -> dict[str, Path]:
    """Return the libraries and structures of this build by name."""
    known = [*reference_libraries(settings), *structures(settings)]
    return {reference.name: reference.path for reference in known}


def is_trusted(library: Path, settings: Settings) -> bool:
    """Return True if the file is a reference library of this build.

    The inspection lets reference libraries link against shared objects that other libraries must not use.
    """
    ours = {reference.path.resolve() for reference in reference_libraries(settings)}
    return library.resolve() in ours


def find_configuration(text: str | None, settings: Settings) -> dict[str, Any] | None:
    """Return the configuration that `text` names, or that the file `text` contains. Return None if `text` is None.

    Raises UsageError if the file is not a configuration. Also raises UsageError if it has the name of a configuration
    of this clone but different content, because the results of both would look the same.
    """
    if text is None:
        return None
    known = configuration_names(settings)
    if text in known:
        return load_configuration(settings, text)
    try:
        with open(text, "rb") as file:  # noqa: PTH123 - `text` may be a name or a path
            found = parse_object(file.read(), text)
    except OSError as error:
        raise UsageError(
            f"{text!r} is neither a configuration of Keydrome nor a file that can be read ({error.strerror}): choose "
            f"one of {', '.join(known)}, or give the path of a file"
        ) from error
    check_configuration(found, text, settings)
    name = found["name"]
    if name in known and found != load_configuration(settings, name):
        raise UsageError(
            f"{text}: the field 'name' is {name!r}, as in a configuration of Keydrome, but other fields differ from "
            "that configuration: change the field 'name'"
        )
    return found


def configured(
    facts: LibraryFacts, configuration: dict[str, Any] | None, settings: Settings
) -> dict[str, Any] | None:
    """Return the configuration to run a file with: the default if the file is a structure that came without one."""
    if facts.kind is LibraryKind.STRUCTURE and configuration is None:
        return load_configuration(settings, DEFAULT_CONFIGURATION)
    return configuration


def chosen_configuration(
    named: Named, option: str | None, settings: Settings
) -> dict[str, Any] | None:
    """Return the configuration from LIB:CONFIG or from --config. Raises UsageError if both are given."""
    if named.configuration is not None and option is not None:
        raise UsageError(
            f"LIB:CONFIG gives the configuration {named.configuration!r}, and --config gives {option!r}: give only one "
            "of them"
        )
    return find_configuration(named.configuration or option, settings)


def isolates(configuration: dict[str, Any] | None) -> bool:
    """Return False for a configuration that isolates no transactions.

    A library with the ten calls has no configuration (None), and must isolate transactions itself.
    """
    return configuration is None or configuration.get("concurrency") != _NO_ISOLATION


def check_isolates(configuration: dict[str, Any] | None) -> None:
    """Raise UsageError for a configuration that isolates no transactions: the correctness suites cannot judge it."""
    if configuration is None or isolates(configuration):
        return
    raise UsageError(
        f"the configuration {configuration.get('name', '')!r} adds no transactions, so there is no isolation that "
        "`keydrome check` could judge: choose a configuration that adds transactions, for example "
        f"--config {DEFAULT_CONFIGURATION}. To time the structure alone: "
        "keydrome bench LIB --config bare --benchmark ycsb -p auto_commit=1 --threads 1"
    )


def as_given(library: str, option: str | None) -> str:
    """Return the arguments that name the library in a command for a shell. `option` is the value of --config."""
    configured_by = () if option is None else ("--config", option)
    return shlex.join((library, *configured_by))


def title(name: str, configuration: dict[str, Any] | None, *, is_default: bool) -> str:
    """Return how to name a library on the screen: with its configuration, and whether it is the default."""
    if configuration is None:
        return name
    shown = f"{name} under the configuration {printable(str(configuration.get('name', 'unnamed')))}"
    return f"{shown} (the default; --config NAME chooses another)" if is_default else shown
