"""Tests of runner/inspection/trace_file.py: which instance plays a trace, and what is shown about the trace.

An instance is a named set of parameters of a benchmark. A trace is a file with the calls of a user's own program.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runner.inspection.trace_file import TraceFile, check_plays_trace
from runner.inspection.user_file import UserFile
from runner.manifest import RequestError, parse_benchmark
from runner.strict import StrictError
from runner.tests.samples import MANIFEST

TRACE = TraceFile(
    UserFile("trace", Path("/data/calls"), "0" * 64, {"keys": 7}),
    threads=1,
    loaded=2_000,
    transactions=3_000,
    single_calls=4_000,
)


def with_trace(value: object) -> str:
    manifest = json.loads(MANIFEST)
    manifest["instances"]["small"]["trace"] = value
    return json.dumps(manifest)


def test_only_instances_that_say_so_play_a_trace() -> None:
    plain = parse_benchmark(MANIFEST, "sample")
    check_plays_trace(plain, "small", None)
    with pytest.raises(RequestError, match="sample/small plays no recorded trace: use --benchmark"):
        check_plays_trace(plain, "small", TRACE)
    check_plays_trace(parse_benchmark(with_trace(True), "sample"), "small", TRACE)
    with pytest.raises(StrictError, match="trace: expected a boolean"):
        parse_benchmark(with_trace("yes"), "sample")


def test_the_facts_name_the_file() -> None:
    assert TRACE.file.to_json() == {"file": "calls", "sha256": "0" * 64, "keys": 7}
    assert TRACE.text() == (
        "trace: calls: 2,000 loaded records, 3,000 transactions and 4,000 auto-commit calls of 1 thread"
    )
