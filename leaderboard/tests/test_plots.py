import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard import plots, plotting, queries, series
from leaderboard.models import RunDetail
from leaderboard.tests.conftest import Track, enter
from leaderboard.tests.test_record import timed

THROUGHPUT = {"phase": "test", "window_ns": 2_000_000, "committed": [10, 0, 30]}


def latency(name: str, *buckets: tuple[int, int]) -> dict[str, Any]:
    top = max(bound for bound, _ in buckets)
    return {
        "class": name,
        "count": sum(count for _, count in buckets),
        "p50_ns": top,
        "p90_ns": top,
        "p99_ns": top,
        "p999_ns": top,
        "max_ns": top,
        "buckets": [list(bucket) for bucket in buckets],
    }


def test_the_table_has_the_numbers_of_the_curve() -> None:
    rows = series.throughput_rows(THROUGHPUT)
    assert [(r.start_ms, r.end_ms, r.committed, r.per_second) for r in rows] == [
        (0.0, 2.0, 10, 5000.0),
        (2.0, 4.0, 0, 0.0),
        (4.0, 6.0, 30, 15000.0),
    ]


@given(st.lists(st.integers(0, 10**9), max_size=5000), st.integers(1, 10**9))
@settings(max_examples=30)
def test_thinning_a_curve_loses_no_transaction(committed: list[int], window_ns: int) -> None:
    rows = series.throughput_rows({"phase": "x", "window_ns": window_ns, "committed": committed})
    assert sum(row.committed for row in rows) == sum(committed)
    assert len(rows) <= series.MAX_POINTS
    for before, after in pairwise(rows):
        assert after.start_ms == pytest.approx(before.end_ms)


def test_the_latency_table_leaves_out_classes_that_never_ran() -> None:
    empty = latency("never", (1, 0)) | {"buckets": []}
    rows = series.latency_rows([latency("scan", (1000, 9), (2000, 1)), empty])
    assert [(row.transaction_class, row.count, row.max_us) for row in rows] == [("scan", 10, 2.0)]


def test_the_latency_curve_falls_in_share_and_rises_in_time() -> None:
    curve = plots.latency_curve(latency("scan", (2000, 1), (1000, 9)))
    assert curve == [(1.0, 1.0), (pytest.approx(0.1), 2.0)]


@given(st.lists(st.tuples(st.integers(1, 10**9), st.integers(1, 100)), min_size=1, max_size=2000))
@settings(max_examples=30)
def test_a_thinned_latency_curve_keeps_its_slowest_point(buckets: list[tuple[int, int]]) -> None:
    curve = plots.latency_curve(latency("scan", *buckets))
    assert len(curve) <= series.MAX_POINTS + 1
    assert curve[-1][1] == max(bound for bound, _ in buckets) / 1e3
    assert [share for share, _ in curve] == sorted((share for share, _ in curve), reverse=True)


def draw_both() -> list[bytes]:
    classes = [latency("scan", (1000, 9), (2000, 1)), latency("update", (500, 4))]
    return [plots.draw_throughput(THROUGHPUT), plots.draw_latency(classes)]


def test_pictures_are_the_same_bytes_every_time() -> None:
    pictures = draw_both()
    assert pictures == draw_both()
    for picture in pictures:
        root = ET.fromstring(picture)  # noqa: S314 - our own drawing
        assert root.tag.endswith("svg")
        assert b"prefers-color-scheme: dark" in picture
        assert b"<script" not in picture
        assert plots.INK.encode() in picture
        assert len(picture) < 60_000


def test_text_stays_text_and_names_the_classes() -> None:
    picture = plots.draw_latency([latency("scan", (1000, 9)), latency("update", (500, 4))]).decode()
    assert ">scan</text>" in picture
    assert ">update</text>" in picture
    assert ">percentile of transactions</text>" in picture


@pytest.mark.parametrize("committed", [[], [0], [1]])
def test_a_curve_with_hardly_any_window_is_drawn(committed: list[int]) -> None:
    plots.draw_throughput(THROUGHPUT | {"committed": committed})
    plots.draw_latency([])


@pytest.mark.django_db
def test_finished_runs_are_drawn_once(alice: User, bob: User, track: Track) -> None:
    run = timed(enter(alice))
    track.finish(run)
    assert plotting.draw_missing() == 1
    assert plotting.draw_missing() == 0
    page = queries.run_page(run.pk, bob)
    assert page is not None
    assert page.artefacts == ("latency.svg", "throughput.svg")
    found = queries.artefact_for(run.pk, "throughput.svg", bob)
    assert found is not None
    with found.file.open() as file:
        assert file.read() == plots.draw_throughput(
            RunDetail.objects.get(pk=run.pk).series["throughput"]
        )
    RunDetail.objects.update(drawn_at=None)
    assert plotting.draw_missing() == 1
    assert len(run.artefacts.all()) == 2


@pytest.mark.django_db
def test_a_series_that_cannot_be_drawn_is_left_out(
    alice: User, track: Track, caplog: pytest.LogCaptureFixture
) -> None:
    run = timed(enter(alice))
    track.finish(run)
    RunDetail.objects.update(
        series={"throughput": {"phase": "x", "window_ns": 0, "committed": [1]}}
    )
    assert plotting.draw_missing() == 1
    assert "throughput.svg cannot be drawn" in caplog.text
    assert plotting.draw_missing() == 0
    assert run.artefacts.count() == 0
