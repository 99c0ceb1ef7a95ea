"""Sample values that several test files share."""

from __future__ import annotations

from typing import Any

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


def report(verdict: str = "passed", total_ms: float | None = 12.5) -> dict[str, Any]:
    """Return a referee's report that fits the schema."""
    return {
        "schema": "keydrome.report.v1",
        "verdict": verdict,
        "reason": "" if verdict == "passed" else "why",
        "benchmark": "sample",
        "benchmark_version": 3,
        "instance": "small",
        "scale": "smoke",
        "seed": "00000000000000aa",
        "plain": False,
        "findings": [],
        "phases": [{"name": "test", "timed": True, "wall_ns": 12_500_000}],
        "metrics": {} if total_ms is None else {"total_ms": total_ms},
        "jail": {"level": "full"},
        "output": {"stdout": "", "stderr": ""},
    }
