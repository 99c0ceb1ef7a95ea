"""Where things are and what a run may use, from the environment. Every variable has a default that suits a clone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.contract import JailLevel

if TYPE_CHECKING:
    from collections.abc import Mapping

MEBIBYTE = 1 << 20
SLOT_MAX = 999


class SettingsError(ValueError):
    """A variable of the environment cannot be used; the text says which and what it should be."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that differs between machines. Immutable; pass it on instead of reading the environment again."""

    root: Path  # the repository: benchmarks/, runtime/configurations/, harness/schema/
    build: Path  # bin/, lib/
    var: Path  # blobs/, work/
    slot: int = 0  # number in the jail's uid pool: one running job per slot
    cpus: str = ""  # cpuset list for the jail, or several with ";", one per slot; empty: all
    library_bytes_max: int = 64 * MEBIBYTE

    @property
    def referee(self) -> Path:
        """The referee binary."""
        return self.build / "bin" / "referee"

    @property
    def player(self) -> Path:
        """The player binary."""
        return self.build / "bin" / "player"

    @property
    def driver(self) -> Path:
        """The driver binary, which plays in verified mode."""
        return self.build / "bin" / "driver"

    @property
    def jail(self) -> Path:
        """The jail binary."""
        return self.build / "bin" / "jail"

    @property
    def control(self) -> Path:
        """The library that runs beside every candidate of a performance benchmark."""
        return self.build / "lib" / "indexes" / "global_lock.so"

    @property
    def floor(self) -> Path:
        """The library that does nothing: what is left is the harness's own time."""
        return self.build / "lib" / "indexes" / "null.so"

    @property
    def runtime(self) -> Path:
        """Keydrome's runtime: the contract A library that runs a bare structure."""
        return self.build / "lib" / "runtime" / "runtime.so"

    @property
    def blobs(self) -> Path:
        """The folder of the blob store."""
        return self.var / "blobs"

    @property
    def work(self) -> Path:
        """The folder in which each session has a folder of its own while it runs."""
        return self.var / "work"

    def needed_binaries(self) -> list[Path]:
        """Return the programs and libraries that a machine needs to run whatever is asked."""
        return [self.referee, self.player, self.driver, self.jail, self.control, self.runtime]

    def missing_binaries(self) -> list[Path]:
        """Return which of them are not built."""
        return [path for path in self.needed_binaries() if not path.is_file()]


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings that the environment (default: this process's) describes; SettingsError when it cannot.

    KEYDROME_ROOT: the repository (default: where this package lies). KEYDROME_BUILD: default build/release in it.
    KEYDROME_VAR: default var in it. KEYDROME_SLOT: 0..999. KEYDROME_CPUS: e.g. 0-1, or 0-1;2-3.
    """
    values = os.environ if environment is None else environment
    root = Path(values.get("KEYDROME_ROOT") or Path(__file__).parent.parent).resolve()
    if not (root / "benchmarks").is_dir():
        raise SettingsError(
            f"{root} is not Keydrome's repository (it has no folder benchmarks): set KEYDROME_ROOT to the clone"
        )
    slot = values.get("KEYDROME_SLOT", "0")
    if not (slot.isascii() and slot.isdigit() and int(slot) <= SLOT_MAX):
        raise SettingsError(f"KEYDROME_SLOT is {slot!r}: it must be a number from 0 to {SLOT_MAX}")
    return Settings(
        root=root,
        build=Path(values.get("KEYDROME_BUILD") or root / "build" / "release").resolve(),
        var=Path(values.get("KEYDROME_VAR") or root / "var").resolve(),
        slot=int(slot),
        cpus=values.get("KEYDROME_CPUS", ""),
    )


def parse_level(text: str) -> JailLevel:
    """Return the jail level that `text` names; SettingsError otherwise."""
    try:
        return JailLevel(text)
    except ValueError as error:
        raise SettingsError(f"{text!r} is no jail level: use {', '.join(JailLevel)}") from error
