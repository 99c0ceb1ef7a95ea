"""Inspects a file of keys (`--keys FILE`), whose keys replace the keys of a benchmark.

The referee, the program that runs and judges a library, reads and checks the file in every session (one repetition of
the benchmark). Its command `keys` makes the same checks before the first session, so a wrong file is refused before
anything runs. After each session the file is hashed again, because sessions with different keys cannot be compared.
docs/reference/key-files.md describes the formats.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.inspection.user_file import UserFile, ask_referee
from runner.manifest import RequestError
from runner.strict import ObjectReader, StrictError
from runner.text import display_name

if TYPE_CHECKING:
    from pathlib import Path

    from runner.manifest import Benchmark
    from runner.settings import Settings


class KeyType(StrEnum):
    """The type of the keys in a file. The manifests (benchmark.json) of the benchmarks use the same names."""

    INT64 = "int64"
    VARCHAR = "varchar"


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A file of keys that the referee accepted."""

    file: UserFile
    type: KeyType
    count: int

    @property
    def path(self) -> Path:
        """Return the absolute path."""
        return self.file.path

    def text(self) -> str:
        """Return one line about the keys.

        For integers, the line has their hardness: how many line segments are needed to approximate the function from a
        key to its position in key order, with an error of at most 32 or 4,096 positions.
        """
        name, facts = display_name(self.path.name), self.file.facts
        s = "" if self.count == 1 else "s"
        if self.type is KeyType.VARCHAR:
            return (
                f"keys: {name}: {self.count:,} string{s} of {facts['mean_bytes']:.1f} bytes on average and at most "
                f"{facts['longest_bytes']}; in key order, a key and the key before it begin with the same "
                f"{facts['mean_shared_bytes']:.1f} bytes on average"
            )
        shifted = (
            "; the keys in the file are unsigned, so 2^63 was subtracted from each key (the API's keys are signed), "
            "which keeps their order"
            if facts["shifted"]
            else ""
        )
        return (
            f"keys: {name}: {self.count:,} integer{s}; hardness: {facts['segments_32_per_million']:,.0f} line "
            "segments per million keys approximate the positions of the keys with an error of at most 32, and "
            f"{facts['segments_4096_per_million']:,.0f} with an error of at most 4,096{shifted}"
        )


def inspect_keys(path: Path, settings: Settings) -> KeyFile:
    """Let the referee check a file of keys. Raises RequestError with the place of the fault if the file is wrong."""
    file = ask_referee("keys", path, settings)
    try:
        reader = ObjectReader(file.facts, "keys")
        kind, count = reader.word("type", KeyType), reader.integer("count", minimum=1)
    except StrictError as error:
        raise RequestError(
            f"--keys {path}: the answer of Keydrome's referee about the file is malformed ({error}): run "
            "./dev build, because the referee may be of another version"
        ) from error
    return KeyFile(file, kind, count)


def instance_for(benchmark: Benchmark, named: str | None, keys: KeyFile | None) -> str:
    """Return the name of the instance to run: `named`, or else the first one that can use the keys.

    An instance is a named set of parameters of the benchmark. Raises RequestError if the named instance, or every
    instance of the benchmark, cannot use the keys. The message then suggests other instances or another benchmark.
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
