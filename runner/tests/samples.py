"""Sample values that tests of several folders share.

They are a benchmark's manifest, a report, a file of keys, a witness (the calls that prove a finding) and latencies.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from runner.inspection.key_file import KeyFile, KeyType
from runner.inspection.user_file import UserFile
from runner.report import JailFacts, LatencyClass, Output, Phase, Report
from runner.terms import JailLevel, Scale, Verdict
from runner.witness import Call, Edge, EdgeKind, Transaction, Witness

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST = """{
  "name": "sample", "version": 3, "kind": "performance", "title": "Sample", "description": "d",
  "source": "s",
  "metric": {"name": "total_ms", "direction": "lower", "unit": "ms"},
  "parameters": {"threads": {"unit": "threads", "min": 1, "max": 256, "description": "clients"}},
  "limits": {"smoke": {"phase_timeout_ms": 1000, "memory_bytes": 67108864, "tmpfs_bytes": 0}},
  "instances": {
    "small": {"title": "Small", "description": "d", "scales": {"smoke": {"threads": 4}}}
  }
}"""


def key_file(path: Path) -> KeyFile:
    """Write a file of keys, which the referee would accept."""
    path.write_text("1\n")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return KeyFile(UserFile("keys", path, digest, {}), KeyType.VARCHAR, 1)


def report(verdict: str = "passed", total_ms: float | None = 12.5) -> Report:
    """Return a report of the referee, the program that judges a library. Its JSON form fits the schema."""
    return Report(
        verdict=Verdict(verdict),
        reason="" if verdict == "passed" else "why",
        benchmark="sample",
        benchmark_version=3,
        instance="small",
        scale=Scale.SMOKE,
        seed="00000000000000aa",
        plain=False,
        findings=(),
        phases=(Phase("test", timed=True, wall_ns=12_500_000),),
        metrics={} if total_ms is None else {"total_ms": total_ms},
        jail=JailFacts(JailLevel.FULL),
        output=Output("", ""),
    )


def make_witness() -> Witness:
    """Return a witness, the proof of a finding: two transactions, and neither saw what the other had inserted."""
    first = Transaction(
        name="T1",
        thread=3,
        state="committed",
        begin_us=0.0,
        end_us=9.5,
        calls=(
            Call(0.4, 0.9, 'get("a", 39)', "KEY_NOTFOUND", marked=True),
            Call(2.0, 2.5, 'insertRecord("a", 16, r2)', "SUCCESS", marked=True),
        ),
        calls_left_out=4,
    )
    second = Transaction(
        name="T2",
        thread=0,
        state="committed",
        begin_us=0.2,
        end_us=12.0,
        calls=(
            Call(1.0, 1.4, 'getNext("a")', "17, r1", marked=True),
            Call(3.0, 3.5, 'insertRecord("a", 39, r3)', "SUCCESS", marked=True),
        ),
        calls_left_out=0,
    )
    missed = EdgeKind.PREDICATE_WRITE
    return Witness(
        summary="Two transactions each looked where the other inserted a record, and neither saw it",
        transactions=(first, second),
        edges=(
            Edge(0, 1, missed, "T1's get of key 39 did not see r3, which T2 inserted there"),
            Edge(1, 0, missed, "T2's getNext passed over key 16, where T1 inserted r2"),
        ),
        program="int main(void) { return 0; }\n",
        initial=("r1 under key 17 of index a",),
    )


def latency(name: str, *buckets: tuple[int, int]) -> LatencyClass:
    """Return the latencies of one class of transactions. All quantiles are the bound of the highest bucket."""
    top = max(bound for bound, _ in buckets)
    count = sum(number for _, number in buckets)
    return LatencyClass(name, count, top, top, top, top, top, buckets)
