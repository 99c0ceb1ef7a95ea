"""What the runner adds to a benchmark's own time: `python -m runner.bench.overhead` as root, on a quiet machine.

Executes one job again and again (global_lock on Preliminary 1, smoke scale, one session without trust or overrides)
and compares the wall time of `execute` with the time that its jails lived, control's included. The rest is copying
and inspecting the library, generating the programs, judging the outcome and reading the reports.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from runner.contract import Job, Scale, Verdict
from runner.execute import execute
from runner.manifest import load_benchmarks
from runner.settings import load_settings
from runner.slots import hold_local_slot
from runner.store import BlobStore

if TYPE_CHECKING:
    from runner.contract import RunReport
    from runner.settings import Settings

REPETITIONS = 15
WARM_UP = 2  # imports, page cache
TARGET_MS = 1000.0
BENCHMARK, INSTANCE = "sigmod2009", "preliminary1"


def main() -> int:
    """Print the medians; 1 when the overhead misses its target of one second."""
    with tempfile.TemporaryDirectory() as folder, hold_local_slot() as slot:
        settings = replace(load_settings(), var=Path(folder), slot=slot)
        with settings.control.open("rb") as stream:
            blob = BlobStore(settings.blobs).put(stream, limit_bytes=settings.library_bytes_max)
        version = load_benchmarks(settings.root)[BENCHMARK].version
        measured = [
            _measure(settings, blob.sha256, version, n) for n in range(WARM_UP + REPETITIONS)
        ]
    total = median(total for total, _ in measured[WARM_UP:])
    jailed = median(jailed for _, jailed in measured[WARM_UP:])
    overhead = median(total - jailed for total, jailed in measured[WARM_UP:])
    sys.stdout.write(
        f"median of {REPETITIONS} jobs, ms: total {total:.0f}, in the jails {jailed:.0f}, "
        f"overhead {overhead:.0f} (target: under {TARGET_MS:.0f})\n"
    )
    return 0 if overhead < TARGET_MS else 1


def _measure(settings: Settings, sha256: str, version: int, number: int) -> tuple[float, float]:
    """Return the wall time of one job and how long its jails lived, in ms."""
    job = Job(
        run_id=number,
        attempt=1,
        blob_sha256=sha256,
        benchmark=BENCHMARK,
        benchmark_version=version,
        instance=INSTANCE,
        scale=Scale.SMOKE,
        seeds=(f"{number:016x}",),
    )
    began = time.perf_counter()
    report = execute(job, lambda _progress: True, settings)
    total = (time.perf_counter() - began) * 1000
    if report.verdict is not Verdict.PASSED:
        raise SystemExit(f"the job ended as {report.verdict}: {report.reason}")
    return total, _jailed_ms(report)


def _jailed_ms(report: RunReport) -> float:
    sides = [side for s in report.sessions for side in (s.candidate, s.control) if side]
    return float(sum(side["jail"]["wall_us"] for side in sides)) / 1000


if __name__ == "__main__":
    sys.exit(main())
