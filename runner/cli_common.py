"""What the commands share: arguments made into orders, with messages for people."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import secrets
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runner.catalogue import configuration_names, load_configuration, reference_libraries
from runner.contract import JailLevel
from runner.execute import copy_into
from runner.settings import Settings, load_settings
from runner.slots import hold_local_slot
from runner.strict import parse_object
from runner.text import display_name
from runner.work_folder import work_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PRINTED_SEED = re.compile(r"[0-9a-f]{16}")
_SEED_END = 1 << 64


class UsageError(ValueError):
    """The command cannot do what was asked; the text says what to change."""


def positive(text: str) -> int:
    """Return a whole number of at least 1, for argparse."""
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def seed_series(text: str | None, count: int) -> tuple[str, ...]:
    """Return `count` seeds of 16 hexadecimal digits: the first as given (or drawn), the others derived from it.

    So the seed that is printed for any session, given with one session, repeats exactly that session.
    """
    first = secrets.token_hex(8) if text is None else _parse_seed(text)
    rest = (hashlib.sha256(f"{first} {n}".encode()).hexdigest()[:16] for n in range(1, count))
    return (first, *rest)


def _parse_seed(text: str) -> str:
    if _PRINTED_SEED.fullmatch(text):
        return text
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if not 0 <= value < _SEED_END:
        raise UsageError(
            f"--seed {text!r} is no seed: give 16 hexadecimal digits, or a number below 2^64 "
            "(decimal, or hexadecimal after 0x)"
        )
    return f"{value:016x}"


def parse_parameters(items: list[str], threads: int | None) -> dict[str, int]:
    """Return the overrides that `-p NAME=N` and `--threads N` ask for."""
    values: dict[str, int] = {}
    if threads is not None:
        values["threads"] = threads
    for item in items:
        name, equals, number = item.partition("=")
        if not equals or not re.fullmatch(r"-?[0-9]{1,18}", number):
            raise UsageError(f"-p {item!r}: write NAME=NUMBER, for example -p threads=4")
        values[name] = int(number)
    return values


def find_configuration(text: str | None, settings: Settings) -> dict[str, Any] | None:
    """Return the configuration of that name, or else in that file; None when none is wanted."""
    if text is None:
        return None
    known = configuration_names(settings)
    if text in known:
        return load_configuration(settings, text)
    try:
        with open(text, "rb") as file:  # noqa: PTH123 - a name or a path, as given
            return parse_object(file.read(), text)
    except OSError as error:
        raise UsageError(
            f"--config {text!r} is neither a configuration ({', '.join(known) or 'none'}) "
            f"nor a file that can be read ({error.strerror})"
        ) from error


def check_rights(level: JailLevel) -> None:
    """Refuse early, and clearly, what the jail would refuse: a full or weak jail needs root."""
    if level is not JailLevel.NONE and os.geteuid() != 0:
        raise UsageError(
            "the jail needs root: run this with sudo. (With --require none the library runs with whatever "
            "protection an ordinary user can get: only for libraries that you trust.)"
        )


def is_trusted(library: Path, settings: Settings) -> bool:
    """Say whether a file is one of this build's own reference libraries, which may need more shared objects."""
    ours = {reference.path.resolve() for reference in reference_libraries(settings)}
    return library.resolve() in ours


def check_file(library: Path, settings: Settings) -> None:
    """Refuse what cannot be a library, in words for the person who named it."""
    if not library.exists():
        raise UsageError(f"{library}: there is no such file (see `keydrome list` for ours)")
    if not library.is_file():
        raise UsageError(f"{display_name(library.name)}: not a regular file; give a shared object")
    if library.stat().st_size > settings.library_bytes_max:
        limit = settings.library_bytes_max >> 20
        raise UsageError(f"{display_name(library.name)}: larger than {limit} MiB; strip it")


@contextmanager
def local_jail() -> Iterator[tuple[Settings, Path]]:
    """Give settings with a free jail slot, and a working folder."""
    settings = load_settings()
    with hold_local_slot() as slot, work_folder(settings.work) as folder:
        yield replace(settings, slot=slot), folder


@contextmanager
def prepared(library: Path) -> Iterator[tuple[Settings, Path, Path]]:
    """Give settings with a free jail slot, a working folder, and in it a copy of the user's file."""
    check_file(library, load_settings())
    with local_jail() as (settings, folder):
        yield settings, folder, copy_into(folder, library)


def history_folder(folder: Path | None, option: str, *, everything: bool) -> Path | None:
    """Return where histories are to be kept, made if need be; UsageError for --all-histories without a place."""
    if folder is None and everything:
        raise UsageError(f"--all-histories needs a folder: give {option} DIR")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a result as JSON for scripts, whole or not at all."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        draft.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
