"""Tests that the page of a running run shows the throughput of its newest ended session (repetition)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from leaderboard.live_curve import live_json
from leaderboard.queue import claims
from runner.contract import SessionCurves
from runner.report import Throughput
from web import jinja
from web.tests.world import claim, finish

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

    from web.tests.world import World

pytestmark = pytest.mark.django_db

CURVE = Throughput("test", 1_000_000, (1000, 2000, 3000))


def test_the_page_of_a_running_run_shows_its_last_session(
    client: Client, world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    world.submit()
    run = claim()
    path = f"/runs/{run.pk}/state/"
    first = client.get(path)
    assert "Throughput in session" not in first.content.decode()
    for control, lines in ((CURVE, 2), (None, 1)):
        live = live_json(SessionCurves(3 - lines, CURVE, control))
        claims.heartbeat(run.pk, run.attempt, 0.5, "", live)
        answer = client.get(path, headers={"If-None-Match": first["ETag"]})
        page = answer.content.decode()
        assert answer.status_code == 200
        assert f"Throughput in session {3 - lines}" in page
        assert len(re.findall("<polyline", page)) == lines
        rate = jinja.number(2_000_000)
        assert f"candidate: {rate} transactions per second" in page
        assert (f"control library: {rate}" in page) == (lines == 2)
    with django_assert_num_queries(2):
        client.get(path)
    finish(run)
    assert "Throughput in session" not in client.get(path).content.decode()


def test_a_session_without_commits_has_no_curve(client: Client, world: World) -> None:
    world.submit()
    run = claim()
    idle = Throughput("test", 1_000_000, (0, 0))
    claims.heartbeat(run.pk, run.attempt, 0.5, "", live_json(SessionCurves(1, idle, None)))
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "Throughput in session" not in page
