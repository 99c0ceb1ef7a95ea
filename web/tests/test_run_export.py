"""Tests the JSON export of a run: its content, and that it shows seeds only to those who may see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from leaderboard.models import Submission
from web.tests.world import World, finish_all, run_of

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db


def test_the_export_has_what_the_page_shows(client: Client, world: World) -> None:
    submission = world.submit()
    finish_all()
    run = run_of(submission)
    found = client.get(f"/runs/{run.pk}.json").json()
    assert (found["schema"], found["run"]) == ("keydrome.run.v1", f"/runs/{run.pk}/")
    assert found["request"]["instance"] == run.instance
    assert found["library"]["sha256"] == submission.blob_sha256
    assert found["result"]["score"] == pytest.approx(run.score)
    assert len(found["sessions"]) == run.sessions
    assert found["sessions"][0]["candidate"]["total_ms"] == 40.0
    assert found["curves"]["throughput"]["window_ns"] == 500_000
    assert found["machine"]["facts"]["cpu"] == "Test CPU"


def test_seeds_are_exported_to_the_owner_after_the_end(
    alice: Client, bob: Client, client: Client, olga: Client, world: World
) -> None:
    submission = world.submit()
    run = run_of(submission)
    for browser in (alice, bob, client, olga):
        answer = browser.get(f"/runs/{run.pk}.json")
        assert not any(seed in answer.content.decode() for seed in run.seeds)
        assert answer.json()["sessions"] == []
    finish_all()
    for browser, sees in ((alice, True), (olga, True), (bob, False), (client, False)):
        answer = browser.get(f"/runs/{run.pk}.json")
        assert answer.json()["seeds"] == (run.seeds if sees else [])
        assert all((seed in answer.content.decode()) is sees for seed in run.seeds)
        assert "hello from the library" not in answer.content.decode(), "the log is no part of it"


def test_a_deleted_run_is_exported_to_organisers_only(
    alice: Client, olga: Client, world: World
) -> None:
    submission = world.submit()
    finish_all()
    Submission.objects.update(deleted_at=timezone.now())
    path = f"/runs/{run_of(submission).pk}.json"
    assert (alice.get(path).status_code, olga.get(path).status_code) == (404, 200)
    assert alice.get("/runs/987654321.json").status_code == 404
