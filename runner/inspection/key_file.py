"""Inspects a file of keys (`--keys FILE`), with which sessions replace the keys of a workload.

The referee, the program that runs and judges a library, reads and checks the file in every session. Its command `keys`
makes the same checks before the first session, so a wrong file is refused before anything runs. After each session the
file is hashed again, because sessions with different keys cannot be compared. docs/reference/key-files.md describes the
formats.
"""

from __future__ import annotations

import hashlib
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from runner.manifest import RequestError
from runner.referee import RefereeError
from runner.strict import ObjectReader, StrictError, parse_object
from runner.text import display_name, printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.manifest import Benchmark
    from runner.settings import Settings

_REFUSED = 2  # the referee's exit status for a file that it cannot use
_PREFIX = "referee: "


class KeyType(StrEnum):
    """The type of the keys in a file. The benchmarks' manifests use the same names."""

    INT64 = "int64"
    VARCHAR = "varchar"


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A file of keys that the referee accepted. `facts` is what the referee printed about it."""

    path: Path
    type: KeyType
    count: int
    sha256: str
    facts: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the facts for a result file. The name is for display only."""
        return {"file": display_name(self.path.name), "sha256": self.sha256, **self.facts}

    def check_unchanged(self) -> None:
        """Raise RequestError if the file no longer has the content that the referee accepted."""
        now = _digest(self.path)
        if now != self.sha256:
            raise RequestError(
                f"--keys {display_name(self.path.name)}: the file changed while the sessions ran (its SHA-256 was "
                f"{self.sha256[:12]}... and is {now[:12]}...), so the sessions may have had different keys: run again, "
                "and leave the file as it is until the end"
            )

    def text(self) -> str:
        """Return one line about the keys.

        For integers, the line has their hardness: how many line segments approximate the function from a key to its
        position, with an error of at most 32 or 4,096 positions.
        """
        name = display_name(self.path.name)
        if self.type is KeyType.VARCHAR:
            return (
                f"keys: {name}: {self.count:,} strings of {self.facts['mean_bytes']:.1f} bytes on average, at most "
                f"{self.facts['longest_bytes']}; on average a key begins with the same "
                f"{self.facts['mean_shared_bytes']:.1f} bytes as the key before it, in key order"
            )
        shifted = "; 2^63 was subtracted from each" if self.facts["shifted"] else ""
        return (
            f"keys: {name}: {self.count:,} integers; hardness {self.facts['segments_32_per_million']:,.0f} / "
            f"{self.facts['segments_4096_per_million']:,.0f} line segments per million keys (errors within 32 / 4,096)"
            f"{shifted}"
        )


@contextmanager
def unchanged(keys: KeyFile | None) -> Iterator[None]:
    """Check at the end of the `with` block, which runs a session, that the file of keys is unchanged.

    Raises RequestError if it changed. A RefereeError of the block is replaced, because a file that changes while the
    referee reads it may be the cause.
    """
    try:
        yield
    except RefereeError:
        if keys is not None:
            keys.check_unchanged()
        raise
    if keys is not None:
        keys.check_unchanged()


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file. Raises RequestError if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise RequestError(
            f"--keys {display_name(path.name)}: cannot read the file ({error.strerror}): leave it where it is until "
            "the last session has ended"
        ) from error


def inspect_keys(path: Path, settings: Settings) -> KeyFile:
    """Let the referee check a file of keys. Raises RequestError with the place of the fault if the file is wrong."""
    if not settings.referee.is_file():
        raise RequestError(f"{settings.referee} is missing: run ./dev build")
    absolute = path.absolute()
    try:
        ended = subprocess.run(
            [settings.referee, "keys", absolute], capture_output=True, text=True, check=False
        )
    except (OSError, ValueError) as error:
        raise RequestError(f"--keys {path}: {error}: give another file") from error
    if ended.returncode == _REFUSED:
        raise RequestError(f"--keys {printable(ended.stderr.strip().removeprefix(_PREFIX))}")
    try:
        reader = ObjectReader(parse_object(ended.stdout, "the referee's answer"), "keys")
        kind, count = reader.word("type", KeyType), reader.integer("count", minimum=1)
        facts = parse_object(ended.stdout, "the referee's answer")
    except StrictError as error:
        detail = printable(ended.stderr.strip()) or str(error)
        raise RequestError(
            f"--keys {path}: the referee could not read it: {detail}: give another file, or run ./dev build if the "
            "referee is of another version"
        ) from error
    # The referee has accepted the file, so it is a regular file, and reading it ends.
    return KeyFile(absolute, kind, count, _digest(absolute), facts)


def instance_for(benchmark: Benchmark, named: str | None, keys: KeyFile | None) -> str:
    """Return the name of the instance to run: `named`, or else the first one that can use the keys.

    Raises RequestError if the instance cannot use the keys. The text names instances that can.
    """
    if keys is None:
        return named or next(iter(benchmark.instances))
    fitting = [name for name, found in benchmark.instances.items() if found.keys == keys.type]
    if not fitting:
        raise RequestError(
            f"--keys: no instance of {benchmark.name} uses keys of type {keys.type.value} from a file; "
            "choose another benchmark, for example --benchmark keysets (`keydrome list` says which do)"
        )
    if named is not None and benchmark.instance(named).keys != keys.type:
        raise RequestError(
            f"--keys: {benchmark.name}/{named} does not use keys of type {keys.type.value} from a file; choose one "
            f"of: {', '.join(fitting)}"
        )
    return named or fitting[0]
