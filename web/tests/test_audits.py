"""Tests audits on the pages. An audit repeats a ranked run in verified mode, in which another process makes all calls.

Only organisers can queue an audit. Everyone sees on the run's page how much slower the run was in verified mode.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leaderboard.models import Run
from web.tests.fixtures import logged_in
from web.tests.world import finish_all, run_of

if TYPE_CHECKING:
    from web.tests.world import World

pytestmark = pytest.mark.django_db


def test_an_organiser_audits_a_submission_and_everybody_sees_the_ratio(world: World) -> None:
    submission = world.submit()
    finish_all()
    ranked = run_of(submission)
    address = f"/runs/{ranked.pk}/"
    alice, olga = logged_in(world.alice), logged_in(world.olga)
    assert "Audit this submission" not in alice.get(address).content.decode()
    assert "Audit this submission" in olga.get(address).content.decode()

    page = olga.post(f"{address}audit/", follow=True).content.decode()
    gates = submission.runs.filter(verified=False, kind="correctness").count()
    assert f"Queued an audit of {gates + 1} runs" in page
    again = olga.post(f"{address}audit/", follow=True).content.decode()
    assert "The audit was not queued: no run is left to audit" in again
    finish_all()

    page = alice.get(address).content.decode()
    assert "Verified / ranked" in page
    audit = Run.objects.get(verified=True, kind="performance")
    assert f'<a href="/runs/{audit.pk}/">Run {audit.pk}</a>' in page
    assert ">1.00</td>" in page, "both runs had the same ratio to the control"
    page = alice.get(f"/runs/{audit.pk}/").content.decode()
    assert "This run is an audit: all calls come from another process" in page
    assert "Not ranked because the run is an audit" in page
    listing = alice.get("/submissions/").content.decode()
    assert listing.count(f'href="/runs/{audit.pk}/"') == 1, (
        "the audit is shown next to the gates, not as a row of its own"
    )
