"""Tests bundles, i.e. ZIP files with a run's results: who gets one, what it contains, and that the site signed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.conf import settings as live_settings
from django.utils import timezone

from leaderboard import plots
from leaderboard.models import Submission
from results.bundle import read_bundle
from web.tests.world import World, finish_all, run_of

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db


def test_a_bundle_has_the_export_and_the_plots(client: Client, world: World) -> None:
    run = run_of(world.submit())
    finish_all()
    plots.draw_missing()
    answer = client.get(f"/runs/{run.pk}/bundle.zip")
    assert answer["Content-Type"] == "application/zip"
    key = client.get("/bundle-key.txt").content.decode().strip()
    found = read_bundle(b"".join(answer), key)
    assert found.run == client.get(f"/runs/{run.pk}.json").json()
    pictures = {"throughput.svg", "throughput.png", "latency.svg", "latency.png"}
    assert set(found.files) == {"run.json"} | pictures
    assert found.files["latency.png"].startswith(b"\x89PNG")
    assert found.software == {"keydrome": "0.1.0", "commit": "unknown"}
    assert live_settings.SECRET_KEY not in key


def test_only_the_owner_and_organisers_get_seeds(
    alice: Client, bob: Client, client: Client, olga: Client, world: World
) -> None:
    run = run_of(world.submit())
    finish_all()
    for browser, sees in ((alice, True), (olga, True), (bob, False), (client, False)):
        found = read_bundle(b"".join(browser.get(f"/runs/{run.pk}/bundle.zip")))
        assert found.run["seeds"] == (run.seeds if sees else [])


def test_a_run_without_an_end_has_no_bundle(alice: Client, world: World) -> None:
    run = run_of(world.submit())
    assert alice.get(f"/runs/{run.pk}/bundle.zip").status_code == 404
    assert "signed bundle" not in alice.get(f"/runs/{run.pk}/").content.decode()
    finish_all()
    page = alice.get(f"/runs/{run.pk}/").content.decode()
    assert "signed bundle" in page
    assert 'href="/bundle-key.txt"' in page


def test_the_bundle_of_a_deleted_run_is_for_organisers_only(
    alice: Client, olga: Client, world: World
) -> None:
    path = f"/runs/{run_of(world.submit()).pk}/bundle.zip"
    finish_all()
    Submission.objects.update(deleted_at=timezone.now())
    assert (alice.get(path).status_code, olga.get(path).status_code) == (404, 200)
