"""Tests how a run's page shows times, and metrics that only one benchmark has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from leaderboard import catalogue
from leaderboard.models import Run, RunDetail
from leaderboard.submissions.phase_times import PhaseTimes
from leaderboard.submissions.report_columns import Curves, StoredSession
from runner.contract import Session
from runner.report import Phase, Throughput
from runner.tests.samples import latency, report
from web import jinja
from web.submissions import figures
from web.submissions.run_curves import CONTROL, LIBRARY, run_curves

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
    assert jinja.nanoseconds(value) == text.replace(" ", jinja.NARROW_SPACE)


def test_a_metric_of_one_benchmark_is_shown_with_its_own_label() -> None:
    measured = replace(report(), metrics={"inserts_per_s": 12345.6, "unheard_of": 1})
    stored = StoredSession.of(Session("0" * 16, True, measured, None), "total_ms")
    detail = RunDetail(sessions=[stored.to_json()])
    own = catalogue.benchmarks()["inserts"].own_metrics
    (figure,) = figures.figures(Run(), detail, own)
    assert figure == figures.Figure("Inserts, 1/s", "12,346")


@pytest.mark.parametrize(("planned", "labels"), [(0, []), (8, ["Transactions completed"])])
def test_completed_transactions_are_shown_only_if_some_were_planned(
    planned: int, labels: list[str]
) -> None:
    run = Run(transactions_completed=0, transactions_planned=planned)
    found = figures.figures(run, RunDetail(sessions=[]), ())
    assert [figure.label for figure in found] == labels


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


def stored_phases(*sessions: tuple[int, int | None]) -> RunDetail:
    """Return the detail of a run with these sessions: the times of a timed phase in ms, of library and control."""

    def run_of(wall_ms: int) -> Report:
        load = Phase("load", timed=False, wall_ns=2_000_000)
        return replace(report(), phases=(load, Phase("test", True, wall_ms * 10**6, cpu_us=7_000)))

    stored = [
        Session(f"{number:016x}", True, run_of(mine), None if control is None else run_of(control))
        for number, (mine, control) in enumerate(sessions)
    ]
    return RunDetail(sessions=[StoredSession.of(one, "total_ms").to_json() for one in stored])


def test_phases_have_the_medians_of_the_sessions_and_of_their_ratios() -> None:
    load, test = figures.phases(stored_phases((10, 20), (40, 40), (30, 10)))
    assert load == PhaseTimes("load", False, 2, 2, 1, None)
    assert test == PhaseTimes("test", True, 30, 20, 1, 7)


def test_phases_without_a_control_have_no_ratio() -> None:
    detail = stored_phases((10, None))
    for session in detail.sessions:
        del session["control_phases"]  # as in rows that older versions stored
    assert figures.phases(detail)[1] == PhaseTimes("test", True, 10, None, None, 7)


def test_phases_of_discarded_sessions_do_not_count() -> None:
    detail = stored_phases((10, 20), (90, 20))
    detail.sessions[1]["void"] = "the control changed"
    assert figures.phases(detail)[1].wall_ms == 10


def test_curves_of_the_control_are_the_second_line() -> None:
    curve, other = Throughput("test", 1_000_000, (4, 2)), Throughput("test", 1_000_000, (1, 1, 1))
    mine, control = (
        latency("get", (1000, 9)),
        (latency("scan", (9000, 1)), latency("get", (3000, 9))),
    )
    found = run_curves(Curves(curve, (mine,), Curves(other, control)))
    assert found.names == (LIBRARY, CONTROL)
    assert found.throughput is not None
    assert [line.style for line in found.throughput.lines] == [1, 2]
    ((names, table),) = found.rates
    assert names == (LIBRARY, CONTROL)
    assert table.rows == [(0.0, [4000, 1000]), (1.0, [2000, 1000]), (2.0, [None, 1000])]
    assert [[line.style for line in plot.lines] for plot in found.latency] == [[1, 2], [2]]
    rows = [(name, row.transaction_class, row.p50_us) for name, row in found.percentiles]
    assert rows == [(LIBRARY, "get", 1), (CONTROL, "get", 3), (CONTROL, "scan", 9)]


def test_curves_with_windows_of_different_lengths_have_a_table_each() -> None:
    found = run_curves(
        Curves(
            Throughput("test", 1_000_000, (4,)), (), Curves(Throughput("test", 500_000, (1,)), ())
        )
    )
    assert [(names, table.rows) for names, table in found.rates] == [
        ((LIBRARY,), [(0.0, [4000])]),
        ((CONTROL,), [(0.0, [2000])]),
    ]


def test_curves_without_those_of_the_control_have_one_name() -> None:
    found = run_curves(Curves(Throughput("test", 1_000_000, (4,)), (latency("get", (1000, 9)),)))
    assert found.names == (LIBRARY,)
    assert [names for names, _ in found.rates] == [(LIBRARY,)]
    assert run_curves(Curves(None, ())).throughput is None
    assert run_curves(Curves(None, ())).rates == []
