"""Tests the page of a submission: its gates, benchmarks with ranks, its history, and what each visitor sees.

A gate is a correctness test that boards require. The page lists each gate once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leaderboard.catalogue import Target
from runner.terms import Verdict
from web.tests.world import BOARD, World, claim, finish, finish_all, run_of

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

pytestmark = pytest.mark.django_db
SECOND = Target("sigmod2009", "preliminary2")


def test_gates_are_listed_once_and_benchmarks_have_their_ranks(
    client: Client, world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    submission = world.submit(targets=(BOARD, SECOND))
    finish_all()
    with django_assert_num_queries(7):
        page = client.get(f"/submissions/{submission.pk}/").content.decode()
    for gate in submission.runs.filter(kind="correctness"):
        assert page.count(f'href="/runs/{gate.pk}/"') == 1
    gates = submission.runs.filter(kind="correctness").count()  # as many as the list below has
    assert f"{gates} of {gates} passed." in page
    for slug in ("preliminary1", "preliminary2"):
        assert f'1 on <a href="/boards/{slug}/">' in page
    assert "History of" not in page


def test_the_states_follow_the_runs_until_all_have_ended(client: Client, world: World) -> None:
    submission = world.submit()
    path = f"/submissions/{submission.pk}/"
    unfinished = submission.runs.count()
    page = client.get(path).content.decode()
    assert f'hx-get="{path}?seen={unfinished}"' in page
    first = client.get(path, headers={"HX-Request": "true"})
    assert first.status_code == 200
    ask = {"HX-Request": "true", "If-None-Match": first["ETag"]}
    assert client.get(path, headers=ask).status_code == 304
    finish(claim())
    second = client.get(path, {"seen": unfinished}, headers=ask)
    assert second.status_code == 200
    assert f"Runs not finished: {unfinished - 1}" in second.content.decode()
    finish_all()
    last = client.get(path, headers=ask)
    assert last.status_code == 286
    assert "hx-get" not in last.content.decode()


def test_a_submission_says_why_it_is_not_ranked(client: Client, world: World) -> None:
    submission = world.submit()
    finish_all(verdicts={"unit": Verdict.FAILED})
    page = client.get(f"/submissions/{submission.pk}/").content.decode()
    assert "not ranked because" in page
    assert "1 on <a" not in page


def test_history_has_the_owners_versions_of_the_file(
    client: Client, world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    old = world.submit()
    new = world.submit(content=world.library + b"v2")
    foreign = world.submit(world.bob)
    finish_all()
    with django_assert_num_queries(7):
        page = client.get(f"/submissions/{new.pk}/").content.decode()
    history = page[page.index("History of mine.so") :]
    assert f'href="/submissions/{old.pk}/"' in history
    assert f'href="/runs/{run_of(old).pk}/"' in history
    assert f'href="/submissions/{foreign.pk}/"' not in history


def test_a_deleted_submission_is_for_organisers(alice: Client, olga: Client, world: World) -> None:
    submission = world.submit()
    address = f"/submissions/{submission.pk}/"
    assert "Delete the submission" in alice.get(address).content.decode()
    alice.post(f"{address}delete/")
    assert alice.get(address).status_code == 404
    assert "Only organisers see this page" in olga.get(address).content.decode()


def test_the_file_of_another_user_cannot_be_downloaded(bob: Client, world: World) -> None:
    page = bob.get(f"/submissions/{world.submit().pk}/").content.decode()
    assert "Download the library" not in page
    assert "hello from the library" not in page


def test_a_submission_has_the_columns_of_2009(alice: Client, bob: Client, world: World) -> None:
    submission = world.submit()
    finish_all()
    columns = ("State", "Time (ms)", "Deadlocks", "Failed", "Completed", "Output")
    page = alice.get(f"/submissions/{submission.pk}/").content.decode()
    for column in columns:
        assert f">{column}</th>" in page
    assert "41.0" in page
    assert f'href="/runs/{run_of(submission).pk}/log/"' in page
    other = bob.get(f"/submissions/{submission.pk}/").content.decode()
    assert "Output" not in other
    assert "/log/" not in other
