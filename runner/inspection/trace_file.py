"""Inspects a recorded trace (`--trace FILE`), a file with the calls of a user's own program.

Each session (one repetition of a benchmark) plays these calls in place of generated calls.
docs/reference/trace-files.md describes the format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.inspection.user_file import UserFile, ask_referee
from runner.manifest import RequestError
from runner.strict import ObjectReader, StrictError
from runner.text import display_name

if TYPE_CHECKING:
    from pathlib import Path

    from runner.manifest import Benchmark
    from runner.settings import Settings

TRACE_BENCHMARK = "trace"


@dataclass(frozen=True, slots=True)
class TraceFile:
    """A recorded trace that the referee, the program that runs and judges a session, accepted."""

    file: UserFile
    threads: int
    loaded: int
    transactions: int
    single_calls: int

    @property
    def path(self) -> Path:
        """Return the absolute path."""
        return self.file.path

    def text(self) -> str:
        """Return one line about the trace."""
        counts = (
            (self.loaded, "loaded record"),
            (self.transactions, "transaction"),
            (self.single_calls, "auto-commit call"),
            (self.threads, "thread"),
        )
        records, transactions, calls, threads = (
            f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in counts
        )
        name = display_name(self.path.name)
        return f"trace: {name}: {records}, {transactions} and {calls} of {threads}"


def inspect_trace(path: Path, settings: Settings) -> TraceFile:
    """Let the referee check a trace. Raises RequestError with line and column if the trace is wrong."""
    file = ask_referee("trace", path, settings)
    try:
        reader = ObjectReader(file.facts, "the referee's answer")
        return TraceFile(
            file,
            threads=reader.integer("threads", minimum=1),
            loaded=reader.integer("loaded", minimum=0),
            transactions=reader.integer("transactions", minimum=0),
            single_calls=reader.integer("single_calls", minimum=0),
        )
    except StrictError as error:
        raise RequestError(
            f"--trace {path}: the answer of Keydrome's referee about the trace is malformed ({error}): run "
            "./dev build, because the referee may be of another version"
        ) from error


def check_plays_trace(benchmark: Benchmark, instance: str, trace: TraceFile | None) -> None:
    """Raise RequestError if there is a trace and the instance (a named set of parameters) does not play it."""
    if trace is not None and not benchmark.instance(instance).trace:
        raise RequestError(
            f"--trace: {benchmark.name}/{instance} plays no recorded trace: use --benchmark {TRACE_BENCHMARK}, "
            "or leave --benchmark and --instance out"
        )
