"""Reads the settings of this machine from environment variables. The defaults fit a git clone."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MEBIBYTE = 1 << 20
# The advice for a program or library that is not built, in the messages of all checks for it.
BUILD_FIRST = "run ./dev build, or set KEYDROME_BUILD to the build folder"
SLOT_MAX = 999
_CPU_LIST = re.compile(r"[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")


class SettingsError(ValueError):
    """A setting is invalid; the text says which one, and which values are allowed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that differs between machines. Functions receive this object and do not read the environment."""

    root: Path  # the repository
    build: Path  # the build folder, with bin/ and lib/
    var: Path  # the folder for data, with blobs/ and work/
    slot: int = 0  # the jail slot, a number that gives a jail its own user; one job runs per slot
    # CPUs for the jail, such as 0-3; empty means all. There may be several lists, separated by ";". Slot N then uses
    # list number (N modulo the number of lists), counted from 0. So if there are more slots than lists, some slots
    # share CPUs.
    cpus: str = ""
    library_bytes_max: int = 64 * MEBIBYTE

    @property
    def referee(self) -> Path:
        """The referee, the trusted program that runs and judges a session (one repetition of a benchmark)."""
        return self.build / "bin" / "referee"

    @property
    def player(self) -> Path:
        """The player, the program in the jail that loads a library and makes its calls."""
        return self.build / "bin" / "player"

    @property
    def driver(self) -> Path:
        """The driver, the program outside the jail that makes the calls in verified mode; the player forwards them."""
        return self.build / "bin" / "driver"

    @property
    def jail(self) -> Path:
        """The program that builds the jail, the sandbox for an untrusted library."""
        return self.build / "bin" / "jail"

    @property
    def control(self) -> Path:
        """The control library, which is timed next to every judged library in a performance benchmark."""
        return self.build / "lib" / "indexes" / "global_lock.so"

    @property
    def floor(self) -> Path:
        """The null library, which does nothing, so that its time is the time of the code that makes the calls."""
        return self.build / "lib" / "indexes" / "null.so"

    @property
    def runtime(self) -> Path:
        """The runtime, a library that adds transactions and concurrency control to a data structure."""
        return self.build / "lib" / "runtime" / "runtime.so"

    @property
    def blobs(self) -> Path:
        """The folder of the blob store, which keeps uploaded files under their SHA-256 digests."""
        return self.var / "blobs"

    @property
    def work(self) -> Path:
        """The folder for the working folders of running jobs."""
        return self.var / "work"

    def needed_binaries(self) -> list[Path]:
        """Return the programs and libraries that runs need."""
        return [self.referee, self.player, self.driver, self.jail, self.control, self.runtime]

    def missing_binaries(self) -> list[Path]:
        """Return the paths of needed_binaries() at which no file exists."""
        return [path for path in self.needed_binaries() if not path.is_file()]

    def why_incomplete(self) -> str:
        """Return which programs and libraries are missing and what to do, or an empty string if all exist."""
        missing = ", ".join(map(str, self.missing_binaries()))
        return f"Keydrome's build lacks {missing}: {BUILD_FIRST}" if missing else ""


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings in `environment` (default: os.environ). Raises SettingsError if a variable is invalid.

    - KEYDROME_ROOT: the repository; default: the repository that contains this package.
    - KEYDROME_BUILD: the build folder; default: build/release in the repository.
    - KEYDROME_VAR: the folder for data; default: var in the repository.
    - KEYDROME_SLOT: the jail slot, 0 to 999; default: 0.
    - KEYDROME_CPUS: the CPUs for the jail, for example 0-1, or 0-1;2-3 for two slots; default: all.
    """
    values = os.environ if environment is None else environment
    root = Path(values.get("KEYDROME_ROOT") or Path(__file__).parent.parent).resolve()
    if not (root / "benchmarks").is_dir():
        raise SettingsError(
            f"{root} is not Keydrome's repository (it has no folder benchmarks): set KEYDROME_ROOT to your clone"
        )
    cpus = values.get("KEYDROME_CPUS", "")
    if cpus and not all(map(_CPU_LIST.fullmatch, cpus.split(";"))):
        raise SettingsError(
            f"KEYDROME_CPUS is {cpus!r}, but must be a list of CPUs such as 0-3,8, or several lists such as 0-3;4-7"
        )
    slot = values.get("KEYDROME_SLOT", "0")
    if not (slot.isascii() and slot.isdigit() and int(slot) <= SLOT_MAX):
        raise SettingsError(
            f"KEYDROME_SLOT is {slot!r}, but must be a whole number from 0 to {SLOT_MAX}"
        )
    return Settings(
        root=root,
        build=Path(values.get("KEYDROME_BUILD") or root / "build" / "release").resolve(),
        var=Path(values.get("KEYDROME_VAR") or root / "var").resolve(),
        slot=int(slot),
        cpus=cpus,
    )
