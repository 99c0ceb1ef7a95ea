"""Lets the referee check a file of the user, such as keys or a recorded trace, before anything runs.

The referee, the program that runs and judges a library, reads and checks the file again in every session (one
repetition of a benchmark). After each session the file is hashed again, because sessions with different content cannot
be compared.
"""

from __future__ import annotations

import errno
import hashlib
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.contract import RefereeError
from runner.manifest import RequestError
from runner.settings import BUILD_FIRST
from runner.strict import StrictError, parse_object
from runner.text import display_name, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from runner.settings import Settings

_REFUSED = 2  # the referee's exit status for a file that it cannot use
_PREFIX = "referee: "


@dataclass(frozen=True, slots=True)
class UserFile:
    """A file that the referee accepted. `facts` is what the referee printed about it."""

    option: str  # the option that names it, without dashes: keys or trace
    path: Path  # absolute
    sha256: str
    facts: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the facts for a result file. The name is for display only."""
        return {"file": display_name(self.path.name), "sha256": self.sha256, **self.facts}

    def check_unchanged(self) -> None:
        """Raise RequestError if the file no longer has the content that the referee accepted."""
        now = _digest(self.option, self.path)
        if now != self.sha256:
            raise RequestError(
                f"--{self.option} {display_name(self.path.name)}: the file changed while the sessions ran (its SHA-256 "
                f"was {self.sha256[:12]}... and is {now[:12]}...), so the sessions may not have had the same "
                f"{self.option}: run again, and leave the file as it is until the end"
            )


@contextmanager
def unchanged(files: Iterable[UserFile]) -> Iterator[None]:
    """Check at the end of the `with` block, which runs a session, that the files are unchanged.

    Raises RequestError if a file changed, even if the block raised a RefereeError: the change of a file that the
    referee was reading may be the cause of that error.
    """
    try:
        yield
    except RefereeError:
        for file in files:
            file.check_unchanged()
        raise
    for file in files:
        file.check_unchanged()


def _digest(option: str, path: Path) -> str:
    """Return the SHA-256 of a file. Raises RequestError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise RequestError(
            f"--{option} {display_name(path.name)}: cannot read the file ({error.strerror}): it must stay "
            "readable at this place until the last session has ended"
        ) from error


def ask_referee(command: str, path: Path, settings: Settings) -> UserFile:
    """Let the referee check a file with its command `command`. The user named the file with the option --`command`.

    Raises RequestError with the place of the fault if the file is wrong.
    """
    if not settings.referee.is_file():
        raise RequestError(f"{settings.referee} is missing: {BUILD_FIRST}")
    absolute = path.absolute()
    try:
        ended = subprocess.run(
            [settings.referee, command, absolute],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise RequestError(
            f"--{command} {path}: cannot start {settings.referee}, which checks the file: {error.strerror}: "
            f"{'run again with more free memory' if error.errno == errno.ENOMEM else BUILD_FIRST}"
        ) from error
    except ValueError as error:
        raise RequestError(
            f"--{command} {path}: the name is unusable ({error}): give another file"
        ) from error
    if ended.returncode == _REFUSED:
        raise RequestError(f"--{command} {printable(ended.stderr.strip().removeprefix(_PREFIX))}")
    try:
        facts = parse_object(ended.stdout, "the referee's answer")
    except StrictError as error:
        status = ended.returncode
        how = f"signal {-status} ended it" if status < 0 else f"its exit status is {status}"
        detail = printable(ended.stderr.strip()) or how
        raise RequestError(
            f"--{command} {path}: Keydrome's referee gave no usable answer about the file ({detail}): run again with "
            "more free memory; if this happens again, run ./dev build, or give another file"
        ) from error
    # The referee has accepted the file, so it is a regular file, and reading it ends.
    return UserFile(command, absolute, _digest(command, absolute), facts)
