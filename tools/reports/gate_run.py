"""Runs sessions (repetitions of a benchmark) with one library in the jail (a sandbox), for the reports of tools."""

from __future__ import annotations

import math
import subprocess
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from runner.catalogue import load_configuration
from runner.execute import copy_into, run_file
from runner.request import Request
from runner.settings import load_settings
from runner.slots import hold_local_slot
from runner.terms import JailLevel, Scale, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.contract import Progress
    from runner.manifest import Benchmark
    from runner.series import SeriesResult
    from runner.settings import Settings

    Heartbeat = Callable[[Progress], bool]

ROOT = Path(__file__).resolve().parents[2]
FAULTS_OF_LIBRARY = {Verdict.FAILED, Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY}


@dataclass(frozen=True, slots=True)
class GateRun:
    """A library and the session that it plays.

    `library` is a path below the build's lib/. `configuration` is set only for structures (data structures without
    transactions), and says how transactions are added. With `record`, all calls are logged, and the checker searches
    the log for isolation faults, even if the benchmark does not ask for it. With `plain`, the operations that only
    check the library are left out. `more_seeds` are the seeds of further sessions.
    """

    library: str
    suite: Benchmark
    instance: str
    scale: Scale
    seed: str
    overrides: Mapping[str, int] = field(default_factory=dict)
    configuration: str | None = None
    record: bool = False
    plain: bool = False
    more_seeds: tuple[str, ...] = ()


def run(
    gate: GateRun,
    *,
    timeout_seconds: float = math.inf,
    watch: Callable[[Progress], None] | None = None,
) -> SeriesResult:
    """Run the sessions, usually one, and return the result. Use a free slot, a number that gives the jail its own user.

    If the sessions take longer than `timeout_seconds`, stop them and raise Cancelled. `watch` is called at least once a
    second while the session runs.
    """
    deadline = time.monotonic() + timeout_seconds

    def heartbeat(progress: Progress) -> bool:
        if watch is not None:
            watch(progress)
        return time.monotonic() < deadline

    with hold_local_slot() as slot:
        return _run(gate, replace(load_settings(), slot=slot), heartbeat)


def _run(gate: GateRun, settings: Settings, heartbeat: Heartbeat) -> SeriesResult:
    named = gate.configuration
    request = Request(
        benchmark=gate.suite,
        instance=gate.instance,
        scale=gate.scale,
        overrides=gate.overrides,
        seeds=(gate.seed, *gate.more_seeds),
        plain=gate.plain,
        require=JailLevel.FULL,
        control=False,
        configuration=None if named is None else load_configuration(settings, named),
        trusted=True,
        record=gate.record,
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        copy = copy_into(Path(folder), settings.build / "lib" / gate.library)
        work = Path(folder) / "work"
        work.mkdir(mode=0o700)
        return run_file(copy, request, settings, work, heartbeat)[0]


def commit() -> str:
    """Return the short hash of the commit, with a plus sign if the checkout has local changes."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=30
    ).stdout.strip()
