"""Tests how a run's page shows times, and metrics that only one benchmark has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from leaderboard import catalogue
from leaderboard.models import Run, RunDetail
from leaderboard.submissions.report_columns import StoredSession
from runner.contract import Session
from runner.tests.samples import report
from web import jinja
from web.submissions import figures

if TYPE_CHECKING:
    from runner.report import Report


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 ns"),
        (999.4, "999 ns"),
        (999.5, "1 µs"),
        (999_600, "1 ms"),
        (1.5e9, "1.5 s"),
        (1.234e12, "1,234 s"),
    ],
)
def test_a_time_has_three_digits_and_no_exponent(value: float, text: str) -> None:
    assert jinja.nanoseconds(value) == text.replace(" ", jinja.NARROW_SPACE).replace(
        ",", jinja.NARROW_SPACE
    )


def test_a_metric_of_one_benchmark_is_shown_with_its_own_label() -> None:
    measured = replace(report(), metrics={"inserts_per_s": 12345.6, "unheard_of": 1})
    stored = StoredSession.of(Session("0" * 16, True, measured, None), "total_ms")
    detail = RunDetail(sessions=[stored.to_json()])
    own = catalogue.benchmarks()["inserts"].own_metrics
    (figure,) = figures.figures(Run(), detail, own)
    assert figure == figures.Figure("Inserts, 1/s", f"12{jinja.NARROW_SPACE}346")


def test_the_final_scan_of_the_control_is_shown_next_to_the_candidates() -> None:
    def run_of(us: int) -> Report:
        return replace(report(), metrics={"final_scan_cpu_us": us})

    sessions = [
        Session("0" * 16, True, run_of(30_000), run_of(10_000)),
        Session("1" * 16, True, run_of(50_000), run_of(12_000)),
        Session("2" * 16, True, run_of(40_000), None),
    ]
    stored = [StoredSession.of(session, "total_ms").to_json() for session in sessions]
    (figure,) = figures.figures(Run(), RunDetail(sessions=stored), ())
    space = jinja.NARROW_SPACE
    assert figure.label == "CPU time of the final scan"
    assert figure.value == f"40{space}ms (control library: 11{space}ms)"
    alone = RunDetail(sessions=stored[2:])
    (figure,) = figures.figures(Run(), alone, ())
    assert figure.value == f"40{space}ms"
