"""Lets the referee check a file of the user, such as keys or a recorded trace, before anything runs.

The referee reads and checks the file again in every session.
"""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.manifest import RequestError
from runner.strict import StrictError, parse_object
from runner.text import printable

if TYPE_CHECKING:
    from pathlib import Path

    from runner.settings import Settings

_REFUSED = 2  # the referee's exit status for a file that it cannot use
_PREFIX = "referee: "


@dataclass(frozen=True, slots=True)
class UserFile:
    """A file that the referee accepted. `facts` is what the referee printed about it."""

    path: Path  # absolute
    sha256: str
    facts: dict[str, Any]


def ask_referee(command: str, path: Path, settings: Settings) -> UserFile:
    """Let the command `command` of the referee check the file that the option `--command` names.

    Raises RequestError with the place of the fault if the file is wrong.
    """
    if not settings.referee.is_file():
        raise RequestError(f"{settings.referee} is missing: run ./dev build")
    absolute = path.absolute()
    try:
        ended = subprocess.run(
            [settings.referee, command, absolute], capture_output=True, text=True, check=False
        )
    except (OSError, ValueError) as error:
        raise RequestError(f"--{command} {path}: {error}: give another file") from error
    if ended.returncode == _REFUSED:
        raise RequestError(f"--{command} {printable(ended.stderr.strip().removeprefix(_PREFIX))}")
    try:
        facts = parse_object(ended.stdout, "the referee's answer")
        with absolute.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, StrictError) as error:
        detail = printable(ended.stderr.strip()) or str(error)
        raise RequestError(
            f"--{command} {path}: the referee could not read it: {detail}"
        ) from error
    return UserFile(absolute, digest, facts)
