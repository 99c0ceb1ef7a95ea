"""Tests of results/curves.py: rows and points of curves, and curves with too many points."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from results import curves
from runner.report import Throughput
from runner.tests.samples import latency

THROUGHPUT = Throughput("test", 2_000_000, (10, 0, 30))


def test_the_table_has_the_numbers_of_the_curve() -> None:
    rows = curves.throughput_rows(THROUGHPUT)
    assert [(r.start_ms, r.end_ms, r.committed, r.per_second) for r in rows] == [
        (0.0, 2.0, 10, 5000.0),
        (2.0, 4.0, 0, 0.0),
        (4.0, 6.0, 30, 15000.0),
    ]


@given(st.lists(st.integers(0, 10**9), max_size=5000), st.integers(1, 10**9))
@settings(max_examples=30)
def test_thinning_a_curve_loses_no_transaction(committed: list[int], window_ns: int) -> None:
    rows = curves.throughput_rows(Throughput("x", window_ns, tuple(committed)))
    assert sum(row.committed for row in rows) == sum(committed)
    assert len(rows) <= curves.MAX_POINTS
    for before, after in pairwise(rows):
        assert after.start_ms == pytest.approx(before.end_ms)


def test_the_latency_table_leaves_out_classes_that_never_ran() -> None:
    empty = replace(latency("never", (1, 0)), buckets=())
    rows = curves.latency_rows([latency("scan", (1000, 9), (2000, 1)), empty])
    assert [(row.transaction_class, row.count, row.max_us) for row in rows] == [("scan", 10, 2.0)]


def test_the_latency_curve_falls_in_share_and_rises_in_time() -> None:
    curve = curves.latency_curve(latency("scan", (2000, 1), (1000, 9)))
    assert curve == [(1.0, 1.0), (pytest.approx(0.1), 2.0)]


@given(st.lists(st.tuples(st.integers(1, 10**9), st.integers(1, 100)), min_size=1, max_size=2000))
@settings(max_examples=30)
def test_a_thinned_latency_curve_keeps_its_slowest_point(buckets: list[tuple[int, int]]) -> None:
    curve = curves.latency_curve(latency("scan", *buckets))
    assert len(curve) <= curves.MAX_POINTS + 1
    assert curve[-1][1] == max(bound for bound, _ in buckets) / 1e3
    assert [share for share, _ in curve] == sorted((share for share, _ in curve), reverse=True)
