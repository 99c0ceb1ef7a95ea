# Tests the plots of finished runs: the same curve gives the same bytes, and each run is drawn once.

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from leaderboard import plots, queries
from leaderboard.models import RunDetail
from leaderboard.tests.conftest import Track, enter
from leaderboard.tests.test_record import timed
from results.plots.style import INK
from runner.report import Throughput
from runner.tests.samples import latency

THROUGHPUT = Throughput("test", 2_000_000, (10, 0, 30))


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
        assert INK.encode() in picture
        assert len(picture) < 60_000


def test_text_stays_text_and_names_the_classes() -> None:
    picture = plots.draw_latency([latency("scan", (1000, 9)), latency("update", (500, 4))]).decode()
    assert ">scan</text>" in picture
    assert ">update</text>" in picture
    assert ">percentile of transactions</text>" in picture


@pytest.mark.parametrize("committed", [[], [0], [1]])
def test_a_curve_with_at_most_one_window_is_drawn(committed: list[int]) -> None:
    plots.draw_throughput(replace(THROUGHPUT, committed=tuple(committed)))
    plots.draw_latency([])


@pytest.mark.django_db
def test_finished_runs_are_drawn_once(alice: User, bob: User, track: Track) -> None:
    run = timed(enter(alice))
    track.finish(run)
    assert plots.draw_missing() == 1
    assert plots.draw_missing() == 0
    page = queries.run_page(run.pk, bob)
    assert page is not None
    assert page.artefacts == ("latency.png", "latency.svg", "throughput.png", "throughput.svg")
    found = queries.artefact_for(run.pk, "throughput.svg", bob)
    assert found is not None
    with found.file.open() as file:
        assert file.read() == plots.draw_throughput(
            Throughput.from_json(RunDetail.objects.get(pk=run.pk).series["throughput"])
        )
    RunDetail.objects.update(drawn_at=None)
    assert plots.draw_missing() == 1
    assert len(run.artefacts.all()) == 4


@pytest.mark.django_db
def test_a_series_that_cannot_be_drawn_is_left_out(
    alice: User, track: Track, caplog: pytest.LogCaptureFixture
) -> None:
    run = timed(enter(alice))
    track.finish(run)
    RunDetail.objects.update(
        series={"throughput": {"phase": "x", "window_ns": 0, "committed": [1]}}
    )
    assert plots.draw_missing() == 1
    assert "cannot draw throughput.svg" in caplog.text
    assert plots.draw_missing() == 0
    assert run.artefacts.count() == 0
