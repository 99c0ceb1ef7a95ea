"""Tests which contests the site's front page announces, and what it says about their dates."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.contests.models import Contest
from web import jinja
from web.tests.contests.cups import Cup, dates, move

pytestmark = pytest.mark.django_db


def front_page() -> str:
    return " ".join(Client().get("/").content.decode().split())


def test_the_front_page_announces_a_contest_with_the_dates_of_its_phase(cup: Cup) -> None:
    contest = cup.contest
    move(contest, opens_at=1)
    sentence = (
        f"Opens on {jinja.date(contest.opens_at)} and closes on {jinja.date(contest.closes_at)}."
    )
    assert f'<a href="/contests/cup/"><b>{contest.name}</b></a>. {sentence}' in front_page()
    move(contest)
    assert f"The boards freeze on {jinja.date(contest.freezes_at)}." in front_page()
    move(contest, freezes_at=-1)
    assert f"frozen until the results on {jinja.date(contest.results_at)}." in front_page()
    move(contest, freezes_at=-1, closes_at=-1)
    assert f"Closed. The results follow on {jinja.date(contest.results_at)}." in front_page()
    move(contest, opens_at=-9, freezes_at=-9, closes_at=-9, results_at=-9)
    assert f"Ended. The results came out on {jinja.date(contest.results_at)}." in front_page()


def test_a_contest_without_a_freeze_has_no_date_of_the_freeze(cup: Cup) -> None:
    move(cup.contest, freezes_at=10, closes_at=10)
    Contest.objects.update(closes_at=cup.contest.freezes_at)
    page = front_page()
    assert "Open until" in page
    assert "freeze on" not in page


def test_drafts_and_old_contests_are_not_announced(cup: Cup) -> None:
    Contest.objects.update(published=False)
    assert 'id="contests"' not in front_page()
    Contest.objects.update(published=True)
    assert 'id="contests"' in front_page()
    move(cup.contest, opens_at=-30, freezes_at=-30, closes_at=-30, results_at=-15)
    assert 'id="contests"' not in front_page()


def test_the_contest_that_opened_first_comes_first(cup: Cup) -> None:
    Contest.objects.create(slug="later", name="Later", published=True, **dates(opens_at=2))
    page = front_page()
    assert page.index("/contests/cup/") < page.index("/contests/later/")
