"""The numbers of a run, as its page shows them."""

from __future__ import annotations

from leaderboard import catalogue
from leaderboard.models import Run, RunDetail
from web import jinja
from web.submissions import figures


def test_what_only_a_benchmark_measures_is_shown_as_it_says() -> None:
    detail = RunDetail(sessions=[{"candidate": {"inserts_per_s": 12345.6, "unheard_of": 1}}])
    own = catalogue.benchmarks()["inserts"].own_metrics
    (figure,) = figures.figures(Run(), detail, own)
    assert figure == figures.Figure("Inserts, 1/s", f"12{jinja.NARROW_SPACE}346")
