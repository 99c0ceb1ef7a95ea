"""Tests the limits of each user's submissions: how many may be unfinished, and how many are allowed in 24 hours."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from leaderboard import services
from leaderboard.models import Machine, Run, State, Submission
from leaderboard.queue import claims, quotas
from leaderboard.queue.claims import Slot
from leaderboard.queue.quotas import reason_against
from leaderboard.tests.conftest import LibraryMaker, enter
from leaderboard.tests.test_submit import submit

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_quotas(settings: Any) -> None:
    settings.KEYDROME_SUBMISSIONS_PER_DAY = 2
    settings.KEYDROME_SUBMISSIONS_OPEN = 2


def end(submission: Submission, verdict: str) -> None:
    submission.runs.update(state=State.DONE, verdict=verdict)


def test_the_number_of_open_submissions_is_limited(
    alice: User, bob: User, library_maker: LibraryMaker
) -> None:
    for _ in range(2):
        submit(alice, library_maker())
    with pytest.raises(services.Refused, match="2 of your submissions have not ended yet"):
        submit(alice, library_maker())
    assert Submission.objects.count() == 2
    submit(bob, library_maker())


def test_the_number_of_submissions_a_day_is_limited(
    alice: User, library_maker: LibraryMaker
) -> None:
    for number in range(2):
        end(enter(alice, number), "crashed")
    with pytest.raises(
        services.Refused, match=r"2 times in the last 24 hours, and the limit is 2: try again after"
    ):
        submit(alice, library_maker())
    Submission.objects.update(created_at=timezone.now() - timedelta(hours=25))
    submit(alice, library_maker())


@pytest.mark.parametrize("verdict", ["infrastructure", "refused"])
def test_failures_of_the_site_and_refusals_are_not_charged(alice: User, verdict: str) -> None:
    for number in range(5):
        end(enter(alice, number), verdict)
    assert reason_against(alice) == ""


def test_what_was_cancelled_before_it_started_is_not_charged(alice: User, machine: Machine) -> None:
    for number in range(2):
        services.withdraw(enter(alice, number), by=alice)
    assert reason_against(alice) == ""
    for number in range(2):
        submission = enter(alice, number)
        run = claims.claim(Slot(machine, 0))
        assert run is not None
        assert claims.start(run.pk, run.attempt)
        services.withdraw(submission, by=alice)
        assert claims.finish_cancelled(run.pk, run.attempt)
    assert "2 times in the last 24 hours" in reason_against(alice)


def test_a_run_that_was_lost_and_then_cancelled_is_not_charged(
    alice: User, machine: Machine
) -> None:
    for number in range(2):
        submission = enter(alice, number)
        run = claims.claim(Slot(machine, 0))
        assert run is not None
        assert claims.start(run.pk, run.attempt)
        assert claims.requeue(run.pk, run.attempt)
        services.withdraw(submission, by=alice)
    assert not Run.objects.exclude(state=State.CANCELLED).exists()
    assert reason_against(alice) == ""


@pytest.mark.parametrize(
    ("unfinished", "wanted", "advice"),
    [
        (3, 1, "limit is 3: try again after"),
        (2, 2, "limit is 3: choose at most 1 configuration, or try again after"),
        (2, 4, "limit is 3: choose at most 1 configuration"),
        (3, 4, "limit is 3: you may submit one configuration after"),
    ],
)
def test_the_advice_about_the_daily_limit_can_be_followed(
    unfinished: int, wanted: int, advice: str
) -> None:
    now = timezone.now()
    times = [now - timedelta(hours=hours) for hours in (3, 2, 1)][:unfinished]
    assert f"and the {advice}" in quotas._too_many_a_day(times, wanted, 3)


@pytest.mark.parametrize(
    ("unfinished", "wanted", "advice"),
    [
        (3, 1, "wait until submissions end, or cancel runs"),
        (2, 2, "wait until submissions end, or cancel runs, or choose at most 1 configuration"),
        (0, 4, "choose at most 3 configurations"),
        (1, 4, "choose at most 2 configurations"),
        (3, 4, "choose at most 3 configurations"),
    ],
)
def test_the_advice_about_unfinished_submissions_can_be_followed(
    unfinished: int, wanted: int, advice: str
) -> None:
    assert quotas._too_many_open(unfinished, wanted, 3).endswith(f": {advice}")


def test_a_limit_of_zero_closes_the_site(alice: User, settings: Any) -> None:
    settings.KEYDROME_SUBMISSIONS_PER_DAY = 0
    assert reason_against(alice) == (
        "the site takes no submissions now, because its organisers have set a limit of submissions to 0: "
        "ask an organiser when the site takes submissions again"
    )


def test_organisers_have_no_quota(organiser: User) -> None:
    for number in range(5):
        enter(organiser, number)
    assert reason_against(organiser) == ""
