"""Tests what the pages show about the queue of runs, and the button that queues a finished run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leaderboard.models import Machine, Run
from web.tests.world import World, finish_all

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db


def test_a_waiting_run_shows_its_place_and_a_finished_one_can_run_again(
    alice: Client, bob: Client, world: World
) -> None:
    submission = world.submit()
    waiting = submission.runs.order_by("id").last()
    assert waiting is not None
    count = submission.runs.count()
    for path in ("/submissions/", f"/runs/{waiting.pk}/"):
        assert f"number {count} in the queue" in alice.get(path).content.decode()
    finish_all()
    page = alice.get(f"/runs/{waiting.pk}/").content.decode()
    assert "in the queue" not in page
    assert "Run again" in page
    assert "Run again" not in bob.get(f"/runs/{waiting.pk}/").content.decode()
    assert bob.post(f"/runs/{waiting.pk}/rerun/").status_code == 404
    answer = alice.post(f"/runs/{waiting.pk}/rerun/")
    again = Run.objects.latest("id")
    assert answer["Location"] == f"/runs/{again.pk}/"
    assert (again.submission_id, again.instance, again.state) == (
        submission.pk,
        waiting.instance,
        "queued",
    )
    page = alice.post(f"/runs/{waiting.pk}/rerun/", follow=True).content.decode()
    assert (
        "The run was not repeated: another run of this submission on the same benchmark instance is queued or running "
        "already: wait until that run ends."
    ) in page


def test_the_status_page_says_why_a_machine_leaves_runs(client: Client) -> None:
    reason = "some waiting runs need version 2 of the benchmark unit, and this worker has version 1"
    Machine.objects.create(name="bench1", machine_class="fast", refusal=reason)
    assert f"{reason[0].upper()}{reason[1:]}." in (client.get("/status/").content.decode())
