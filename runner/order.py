"""What a series of sessions is to do: the checked request that the job and the command line both become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.elf import LibraryFacts, LibraryKind
from runner.manifest import Kind, RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from runner.contract import JailLevel, Scale
    from runner.manifest import Benchmark
    from runner.settings import Settings


@dataclass(frozen=True, slots=True)
class Target:
    """What the referee loads: a contract A library, or our runtime with a structure and its configuration."""

    library: Path
    structure: Path | None = None
    configuration: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """One benchmark instance at one scale, with the seeds of its sessions. Raises RequestError when it is not sound.

    `control` says whether the control library runs beside the candidate; correctness benchmarks never do that.
    `configuration` is for bare structures; `trusted` lets a reference library need more shared objects.
    `record` has every call noted and the history certified. `histories` is a folder for what was recorded when the
    candidate was found wrong, with `all_histories` also when it was not. `counters` has processor and kernel count.
    `verified` has the driver play outside of the library's process (docs/explanation/security.md).
    """

    benchmark: Benchmark
    instance: str
    scale: Scale
    overrides: Mapping[str, int]
    seeds: tuple[str, ...]
    plain: bool
    require: JailLevel
    control: bool
    configuration: dict[str, Any] | None = None
    trusted: bool = False
    record: bool = False
    histories: Path | None = None
    all_histories: bool = False
    counters: bool = False
    verified: bool = False

    def __post_init__(self) -> None:
        self.benchmark.resolve(self.instance, self.scale, self.overrides)

    @property
    def with_control(self) -> bool:
        """Whether each session also runs the control library."""
        return self.control and self.benchmark.kind is Kind.PERFORMANCE


def make_target(file: Path, facts: LibraryFacts, order: Order, settings: Settings) -> Target:
    """Return what to load for an inspected file; RequestError when it does not fit the order's configuration."""
    configuration = order.configuration
    if facts.kind is LibraryKind.STRUCTURE:
        if configuration is None:
            raise RequestError(
                "the file is a bare structure: it needs a configuration to run under "
                "(see `keydrome list`; --config NAME)"
            )
        return Target(library=settings.runtime, structure=file, configuration=configuration)
    if configuration is not None:
        raise RequestError(
            "the file is a whole library (it exports the ten calls): configurations are for bare structures only; "
            "leave the configuration out"
        )
    return Target(library=file)
