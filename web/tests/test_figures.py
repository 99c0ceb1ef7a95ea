"""Tests how a run's page shows metrics that only one benchmark has."""

from __future__ import annotations

from dataclasses import replace

from leaderboard import catalogue
from leaderboard.models import Run, RunDetail
from leaderboard.submissions.report_columns import StoredSession
from runner.contract import Session
from runner.tests.samples import report
from web import jinja
from web.submissions import figures


def test_what_only_a_benchmark_measures_is_shown_as_it_says() -> None:
    measured = replace(report(), metrics={"inserts_per_s": 12345.6, "unheard_of": 1})
    stored = StoredSession.of(Session("0" * 16, True, measured, None), "total_ms")
    detail = RunDetail(sessions=[stored.to_json()])
    own = catalogue.benchmarks()["inserts"].own_metrics
    (figure,) = figures.figures(Run(), detail, own)
    assert figure == figures.Figure("Inserts, 1/s", f"12{jinja.NARROW_SPACE}346")
