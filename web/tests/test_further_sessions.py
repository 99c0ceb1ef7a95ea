"""Tests the form that queues further sessions (repetitions) of compared runs: seeds, permissions, quota, refusals."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import pytest

from leaderboard.models import Run
from leaderboard.queue import quotas
from leaderboard.services import Refused
from leaderboard.submissions import blocks, reruns
from web.tests.test_compare import OTHER, address, seeds, text, timed_run
from web.tests.world import World, finish_all, run_of

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django.fixtures import Settings

    from web.tests.fixtures import ModuleWorld

pytestmark = pytest.mark.django_db
PATH = "/compare/sessions/"


@pytest.fixture(scope="module")
def users_and_runs(module_world: ModuleWorld) -> tuple[World, list[Run]]:
    """The users, and two runs of Alice whose difference of 2 % is undecided."""
    with module_world.filled() as world:
        return world, [
            timed_run(world, name, slower, seeds(100 * number, 8))
            for number, (name, slower) in enumerate((("quick", 1.0), ("near", 1.02)))
        ]


@pytest.fixture
def world(users_and_runs: tuple[World, list[Run]]) -> World:
    """The users of this module. A test gets a copy, so that it may change them."""
    return deepcopy(users_and_runs[0])


@pytest.fixture
def near(users_and_runs: tuple[World, list[Run]]) -> list[Run]:
    """The two runs of this module. A test gets a copy, so that it may change them."""
    return deepcopy(users_and_runs[1])


def form(runs: list[Run], sessions: object = 12) -> dict[str, object]:
    return {"runs": ",".join(str(run.pk) for run in runs), "sessions": sessions}


def test_the_new_runs_have_common_seeds_and_are_compared_in_pairs(
    alice: Client, near: list[Run]
) -> None:
    page = text(alice, address(near))
    assert "Further sessions of each run" in page
    answer = alice.post(PATH, form(near))
    new = list(Run.objects.filter(state="queued").order_by("pk"))
    assert answer["Location"] in {
        f"/compare/?runs={first.pk}%2C{second.pk}" for first, second in (new, new[::-1])
    }
    first, second = new
    assert first.seeds == second.seeds
    assert len(set(first.seeds)) == 12
    assert not {*first.seeds} & {*near[0].seeds, *near[1].seeds}
    assert {run.submission_id for run in new} == {run.submission_id for run in near}
    assert {run.wanted_class for run in new} == {"2 cores of a test"}
    finish_all()
    found = alice.get(answer["Location"].replace("/compare/", "/compare.json")).json()
    assert (found["paired"], found["shared_seeds"]) == (True, 12)


def test_only_the_owner_of_all_runs_and_organisers_may_queue(
    alice: Client, bob: Client, olga: Client, client: Client, near: list[Run]
) -> None:
    for browser in (bob, client):
        assert "Further sessions" not in text(browser, address(near))
    assert bob.post(PATH, form(near)).status_code == 404
    assert client.post(PATH, form(near)).status_code == 302  # to the log-in page
    assert not Run.objects.filter(state="queued").exists()
    assert olga.post(PATH, form(near)).status_code == 302
    assert Run.objects.filter(state="queued").count() == 2
    # The sessions that the organiser queued count towards the quota of the runs' owner.
    assert "your limit allows 576 more sessions within 24 hours" in text(alice, address(near))


def test_the_quota_counts_sessions_of_repeated_runs(
    alice: Client, near: list[Run], world: World, settings: Settings
) -> None:
    settings.KEYDROME_REPEATED_SESSIONS_PER_DAY = 30
    page = alice.post(PATH, form(near, 16), follow=True).content.decode()
    assert (
        "32 sessions are needed (16 for each of 2 runs), and you may repeat only 30 more now"
        in page
    )
    assert "(the limit is 30 sessions in 24 hours): choose at most 15 sessions." in page
    assert not Run.objects.filter(state="queued").exists()
    alice.post(PATH, form(near, 12))
    assert quotas.repetitions_left(world.alice) == 6
    third = timed_run(world, "third", 1.0, seeds(900, 8))
    first = Run.objects.filter(state="queued").order_by("created_at")[0]
    when = f"{first.created_at + quotas.DAY:%Y-%m-%d %H:%M}"
    reason = "8 sessions are needed, and you may repeat only 6 more now"
    with pytest.raises(Refused, match=rf"{reason} .*: try again after {when} UTC$"):
        reruns.rerun(third, by=world.alice)
    Run.objects.filter(state="queued").update(state="cancelled")
    assert quotas.repetitions_left(world.alice) == 30
    assert quotas.repetitions_left(world.olga) is None


@pytest.mark.parametrize("sessions", ["0", "61", "-3", "x", "", "9" * 30])
def test_a_wrong_number_of_sessions_is_refused(
    alice: Client, near: list[Run], sessions: str
) -> None:
    page = alice.post(PATH, form(near, sessions), follow=True).content.decode()
    assert "sessions are not possible: choose 1 to 60" in page
    assert not Run.objects.filter(state="queued").exists()


@pytest.mark.parametrize("runs", ["", "999999", "1,999999"])
def test_unknown_runs_are_not_found(alice: Client, near: list[Run], runs: str) -> None:
    assert alice.post(PATH, {"runs": runs, "sessions": 5}).status_code == 404
    assert alice.post(PATH, {"runs": "x", "sessions": 5}).status_code == 400


def test_runs_that_cannot_be_compared_are_refused(world: World, near: list[Run]) -> None:
    other = world.submit(targets=(OTHER,), content=world.library + b"other")
    finish_all()
    gate = run_of(near[0].submission, "unit")
    waiting = run_of(world.submit(content=world.library + b"waiting"))
    failed = timed_run(world, "failed", 1.0, seeds(900, 8))
    Run.objects.filter(pk=failed.pk).update(score=None, verdict="timed_out")
    failed.refresh_from_db()
    for runs, reason in (
        ([near[0]], "only one run is chosen: choose at least 2 runs"),
        (
            [near[0], near[1], gate],
            f"runs {near[0].pk} and {gate.pk} belong to the same submission: choose at least 2 runs",
        ),
        ([near[0], run_of(other)], "the runs differ in instance: choose runs with the same"),
        ([gate, run_of(near[1].submission, "unit")], f"run {gate.pk} is a correctness test"),
        (
            [near[0], failed],
            rf"run {failed.pk} did not pass \(verdict: timed out\): choose another run instead",
        ),
        ([near[0], waiting], f"run {waiting.pk} has not ended yet: wait"),
    ):
        with pytest.raises(Refused, match=reason):
            blocks.queue_blocks(runs, 5, by=world.alice)


def test_decided_comparisons_offer_no_sessions(alice: Client, world: World) -> None:
    runs = [
        timed_run(world, name, slower, seeds(1, 12))
        for name, slower in (("one", 1.0), ("two", 2.0))
    ]
    assert "Further sessions" not in text(alice, address(runs))
