"""Parses the values of options, such as seeds and parameters, and checks the folders that options name."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_PRINTED_SEED = re.compile(r"[0-9a-f]{16}")
_SEED_END = 1 << 64
MEMORY_BYTES_MIN = 1 << 24
"""The smallest memory limit that a jail accepts."""
MEMORY_BYTES_MAX = 1 << 50
PERCENT_MIN, PERCENT_MAX = 0.1, 100.0
"""The limits of the margin within which two libraries count as equal."""


class UsageError(ValueError):
    """The command cannot run with these arguments; the text says what to change."""


def positive(text: str) -> int:
    """Parse a whole number of at least 1, for argparse."""
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number of at least 1: give, for example, 3"
        )
    return int(text)


def percent(text: str) -> float:
    """Parse a percentage from 0.1 to 100, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not PERCENT_MIN <= value <= PERCENT_MAX:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a percentage from {PERCENT_MIN:g} to {PERCENT_MAX:g}: give, for example, 3"
        )
    return value


def gibibytes(text: str) -> int:
    """Parse a positive number of GiB, such as 2 or 0.5, for argparse. Return the number of bytes."""
    try:
        size = round(float(text) * 2**30)
    except (ValueError, OverflowError):
        size = 0
    if not MEMORY_BYTES_MIN <= size <= MEMORY_BYTES_MAX:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of GiB from {MEMORY_BYTES_MIN / 2**30:g} to {MEMORY_BYTES_MAX // 2**30}: give, "
            "for example, 2"
        )
    return size


def seed_series(text: str | None, count: int) -> tuple[str, ...]:
    """Return `count` seeds of 16 hexadecimal digits.

    The first seed is `text`, or random if `text` is None. The others are derived from the first seed. To repeat a
    session, pass its printed seed with --seed and --sessions 1.
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
            f"--seed {text!r} is not a seed: give 16 hexadecimal digits, or a number below 2^64 "
            "(decimal, or hexadecimal after 0x)"
        )
    return f"{value:016x}"


def parse_parameters(items: list[str], threads: int | None) -> dict[str, int]:
    """Return the parameter values that the options `-p NAME=N` and `--threads N` give."""
    values: dict[str, int] = {}
    if threads is not None:
        values["threads"] = threads
    for item in items:
        name, equals, number = item.partition("=")
        if not equals or not re.fullmatch(r"-?[0-9]{1,18}", number):
            raise UsageError(
                f"-p {item!r} is not a parameter: write NAME=NUMBER, for example -p threads=4; a number has at most 18 "
                "digits"
            )
        values[name] = int(number)
    return values


def history_folder(folder: Path | None, option: str, *, everything: bool) -> Path | None:
    """Create and return the folder for recorded histories, or return None if `folder` is None.

    Raises UsageError if --all-histories (`everything`) is given without a folder.
    """
    if folder is None and everything:
        raise UsageError(f"--all-histories needs a folder: give {option} DIR")
    if folder is not None:
        output_folder(folder, option)
    return folder


def output_folder(folder: Path, option: str) -> None:
    """Create the folder that `option` names. Raises UsageError if no files can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        file = next(path for path in (folder, *folder.parents) if path.exists())
        raise UsageError(
            f"{option} {folder}: a folder is needed, but {file} is a file: give another path"
        ) from error
    except OSError as error:
        raise UsageError(
            f"{option} {folder}: the folder cannot be created ({error.strerror}): give another folder"
        ) from error
    if not os.access(folder, os.W_OK):
        raise UsageError(
            f"{option} {folder}: the folder is not writable (no permission, or a read-only file system): give another "
            "folder"
        )
