"""Defines `Request`: what to run in a series of sessions, checked against the benchmark's manifest (benchmark.json).

The worker, the site's process that runs libraries, creates a request from a job. The command line creates one from its
arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.inspection.library import LibraryFacts, LibraryKind
from runner.manifest import Kind, RequestError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from runner.inspection.key_file import KeyFile
    from runner.inspection.trace_file import TraceFile
    from runner.inspection.user_file import UserFile
    from runner.manifest import Benchmark
    from runner.settings import Settings
    from runner.terms import JailLevel, Scale


# The factors that multiply the time limits in the first, the second, and each later attempt to judge a library. An
# attempt is repeated if it ended undecided, because the machine was too busy.
_TIMEOUT_FACTORS = (1, 3, 9)


def timeout_factor_of(attempt: int) -> int:
    """Return the timeout factor of an attempt to judge with a correctness benchmark. `attempt` starts at 1."""
    return _TIMEOUT_FACTORS[min(attempt, len(_TIMEOUT_FACTORS)) - 1]


@dataclass(frozen=True, slots=True)
class Loadable:
    """The files that are loaded in a session.

    `library` is a library of contract A (the ten calls of the index API). To run a structure (contract B: a data
    structure without transactions), `library` is Keydrome's runtime, which adds transactions. `structure` and
    `configuration` are then set.
    """

    library: Path
    structure: Path | None = None
    configuration: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One benchmark instance at one scale, with one seed per session.

    Raises RequestError if instance, scale or overrides are invalid.

    An instance is a named set of parameters; the scale is its size. A session is one repetition of the benchmark.
    - `overrides`: the values that replace parameters of the instance.
    - `plain`: whether to run the workload without the extra transactions that check the library.
    - `require`: the weakest level of the jail (the sandbox for the library) to accept.
    - `control`: whether each session also times the control, a fixed library for comparison. Correctness benchmarks
      ignore this field.
    - `configuration`: for a structure, how the runtime runs it; for a library None.
    - `trusted`: whether the file is a reference library, which may link against more shared objects than uploads.
    - `record`: whether to certify the history of each session, that is, to prove that its transactions were isolated.
      `record` does not change how a session is played.
    - `histories`: the folder for the histories (all calls with their results) of failed sessions, or None.
    - `all_histories`: whether to write the histories of sessions that passed, too.
    - `memory_bytes`: the memory limit of a library. If it is None, the referee, the program that runs the session,
      computes the limit from the parameters.
    - `keys`: the file whose keys replace those of the workload, or None. Only the command line uses it, because a run
      that is ranked on the site must use the keys of the benchmark.
    - `trace`: the recorded trace (a file of calls) that sessions play, or None. Only the command line uses it.
    - `counters`: whether to count cycles, cache misses, context switches and more.
    - `verified`: whether a process outside the jail makes every call, so that the library cannot read its next calls in
      memory (docs/explanation/security.md).
    - `timeout_factor`: multiplies the time limits of phase and session. The factor is more than 1 if an earlier attempt
      ended undecided, because the machine was too busy (timeout_factor_of).
    - `audited_seeds`: the seeds of the audited sessions. An audited session is played a second time, with the other
      value of `verified` (runner/audit.py). The field has no effect without a control library.
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
    memory_bytes: int | None = None
    keys: KeyFile | None = None
    trace: TraceFile | None = None
    counters: bool = False
    verified: bool = False
    audited_seeds: tuple[str, ...] = ()
    timeout_factor: int = 1

    @property
    def user_files(self) -> list[UserFile]:
        """Return the user's files that every session reads."""
        return [used.file for used in (self.keys, self.trace) if used is not None]

    def __post_init__(self) -> None:
        self.benchmark.resolve(self.instance, self.scale, self.overrides)

    @property
    def with_control(self) -> bool:
        """Return True if each session also runs the control library."""
        return self.control and self.benchmark.kind is Kind.PERFORMANCE


def make_loadable(
    file: Path, facts: LibraryFacts, request: Request, settings: Settings
) -> Loadable:
    """Return what to load. Raises RequestError if a structure has no configuration, or if a library has one."""
    configuration = request.configuration
    if facts.kind is LibraryKind.STRUCTURE:
        if configuration is None:
            raise RequestError(
                "the file is a structure (a data structure without transactions), so it needs a configuration: choose "
                "one in the site's form, or name one with --config NAME (`keydrome list` prints the names)"
            )
        return Loadable(library=settings.runtime, structure=file, configuration=configuration)
    if configuration is not None:
        raise RequestError(
            "the file is a library (it exports the calls of keydrome/index.h), and configurations are for structures "
            "only: leave the configuration out"
        )
    return Loadable(library=file)
