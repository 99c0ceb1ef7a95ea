"""Tests the list of a user's uploads: one row each, ranks, reasons with links, pages, and updates of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leaderboard import catalogue, plots
from leaderboard.catalogue import Target
from leaderboard.models import Run, Submission
from runner.terms import Verdict
from web.tests.world import BOARD, World, claim, finish, finish_all, run_of

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

pytestmark = pytest.mark.django_db


def test_my_submissions_are_one_row_an_upload_with_ranks(alice: Client, world: World) -> None:
    submission = world.submit(targets=(BOARD, Target("ycsb", "a")))
    finish_all()
    page = alice.get("/submissions/").content.decode()
    assert page.count("<tr") == 2
    gates = len(catalogue.gate_targets())
    assert f"{gates} of {gates} passed" in page
    for slug, title in (("preliminary1", "Preliminary 1"), ("ycsb_a", "YCSB A")):
        assert f'href="/boards/{slug}/"><strong>rank 1</strong></a>' in page
        assert f">{title}</a>" in page
    assert "0.506" in page  # 41 ms / 81 ms
    assert f'id="compare-{run_of(submission).pk}"' in page


def test_configurations_of_an_upload_share_its_row(alice: Client, world: World) -> None:
    first = world.submit()
    second = world.submit()
    Submission.objects.filter(pk=first.pk).update(configuration="occ")
    Submission.objects.filter(pk=second.pk).update(configuration="rw", upload=first)
    while Run.objects.filter(state="queued").exists():
        run = claim()
        finish(run, slower=2.0 if run.submission_id == first.pk else 1.0)
    page = alice.get("/submissions/").content.decode()
    assert page.count("<tr") == 2
    assert "best: rw" in page
    compared = "%2C".join(str(run_of(submission).pk) for submission in (second, first))
    assert f'href="/compare/?runs={compared}">Compare the configurations</a>' in page
    detail = alice.get(f"/submissions/{second.pk}/").content.decode()
    assert f'<a href="/submissions/{first.pk}/">occ</a>' in detail
    # After one configuration is deleted, the row still shows the other one. One button deletes both.
    alice.post(f"/submissions/{first.pk}/delete/")
    page = alice.get("/submissions/").content.decode()
    assert f'href="/submissions/{second.pk}/"' in page
    assert "best:" not in page
    Submission.objects.update(deleted_at=None)
    assert (
        "Delete all 2 configurations"
        in alice.get(f"/submissions/{second.pk}/delete/").content.decode()
    )
    answer = alice.post(f"/submissions/{second.pk}/delete/", {"all": "1"}, follow=True)
    assert "2 submissions were deleted." in answer.content.decode()
    assert "You have not submitted a library yet." in answer.content.decode()


def test_not_ranked_links_to_the_run_that_says_so(alice: Client, world: World) -> None:
    submission = world.submit()
    finish_all(verdicts={"unit": Verdict.FAILED})
    gate = run_of(submission, "unit")
    link = f'<a href="/runs/{gate.pk}/">the unit tests did not pass (verdict: failed)</a>'
    for path in ("/submissions/", f"/submissions/{submission.pk}/"):
        assert link in alice.get(path).content.decode()


def test_the_list_costs_the_same_for_one_and_for_many(
    alice: Client, world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    world.submit()
    expected = 10  # SQL statements: session, user, four for the uploads and four for the waits
    with django_assert_num_queries(expected):
        alice.get("/submissions/table/")
    for _ in range(3):
        world.submit()
    with django_assert_num_queries(expected):
        alice.get("/submissions/table/")
    finish_all()
    with django_assert_num_queries(7):
        alice.get("/submissions/table/")


def test_long_list_has_pages(alice: Client, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "leaderboard.my_submissions.my_submissions.__kwdefaults__", {"before": None, "limit": 2}
    )
    for number in range(3):
        world.submit(description=f"number {number}")
    first = alice.get("/submissions/").content.decode()
    assert "number 2" in first
    assert "number 0" not in first
    before = Submission.objects.get(description="number 1").pk
    assert f'href="/submissions/?before={before}"' in first
    second = alice.get("/submissions/", {"before": before}).content.decode()
    assert "number 0" in second
    assert "number 2" not in second


@pytest.mark.parametrize("before", ["x", "-1", "\u00b2", "\u0663", "9" * 18, "9" * 5000])
def test_a_wrong_number_in_the_query_is_ignored(alice: Client, world: World, before: str) -> None:
    world.submit()
    for path in ("/submissions/", "/submissions/table/"):
        assert alice.get(path, {"before": before}).status_code in {200, 286}


def test_the_table_follows_the_runs_and_then_stops(alice: Client, world: World) -> None:
    world.submit()
    first = alice.get("/submissions/table/")
    assert first.status_code == 200
    assert 'hx-trigger="every 2s"' in first.content.decode()
    tag = first["ETag"]
    unchanged = alice.get("/submissions/table/", HTTP_IF_NONE_MATCH=tag)
    assert unchanged.status_code == 304
    run = claim()
    changed = alice.get("/submissions/table/", HTTP_IF_NONE_MATCH=tag)
    assert changed.status_code == 200
    finish(run)
    finish_all()
    last = alice.get("/submissions/table/", {"seen": "3"})
    assert last.status_code == 286
    page = last.content.decode()
    assert "hx-trigger" not in page
    assert 'hx-swap-oob="innerHTML"' in page
    assert "Runs not finished: 0" in page


def test_without_script_the_pages_reload_until_all_is_done(alice: Client, world: World) -> None:
    run = run_of(world.submit())
    for path in ("/submissions/", f"/runs/{run.pk}/"):
        assert '<noscript><meta http-equiv="refresh"' in alice.get(path).content.decode()
    finish_all()
    plots.draw_missing()
    for path in ("/submissions/", f"/runs/{run.pk}/"):
        assert "http-equiv" not in alice.get(path).content.decode()
