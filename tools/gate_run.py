"""One session of a library, for the programs that run very many of them (kill_matrix, certified, papers)."""

from __future__ import annotations

import math
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from runner.catalogue import load_configuration
from runner.contract import JailLevel, Progress, Scale, Verdict
from runner.execute import copy_into, run_file
from runner.order import Order
from runner.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.manifest import Benchmark
    from runner.series import SeriesResult

ROOT = Path(__file__).resolve().parents[1]
FAULTS_OF_LIBRARY = {Verdict.FAILED, Verdict.CRASHED, Verdict.TIMED_OUT, Verdict.OUT_OF_MEMORY}


@dataclass(frozen=True, slots=True)
class GateRun:
    """Which library plays what. `library` is a path below the build's lib/; `configuration` is for structures.

    `record` is for timed benchmarks, which do not record by themselves; `plain` leaves the checks out.
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


def run(gate: GateRun, *, patience_seconds: float = math.inf) -> SeriesResult:
    """Run one session in the jail slot that KEYDROME_SLOT names, and return what came of it.

    Raises Cancelled, and has the session stopped, when it takes longer than the patience.
    """
    deadline = time.monotonic() + patience_seconds

    def beat(_progress: Progress) -> bool:
        return time.monotonic() < deadline

    settings = load_settings()
    named = gate.configuration
    order = Order(
        benchmark=gate.suite,
        instance=gate.instance,
        scale=gate.scale,
        overrides=gate.overrides,
        seeds=(gate.seed,),
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
        return run_file(copy, order, settings, work, beat)[0]


def commit() -> str:
    """Return the commit that the tables were made on, shortened; with a plus sign when files differ from it."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    return subprocess.run(
        command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=30
    ).stdout.strip()
