"""Tests the boards (rankings) of a contest: whose entries they rank, what a freeze hides, and the combined score."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from leaderboard.contests import entries, organising, teams
from leaderboard.contests.combined import TEAMS_MAX, combine
from leaderboard.contests.models import Contest, Phase
from leaderboard.contests.standings import combined_standing, contest_boards
from leaderboard.services import Refused
from web.contests.forms import ContestForm, user_named
from web.tests.contests.cups import dates, move
from web.tests.world import BOARD, finish_all, run_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

    from leaderboard.contests.models import Entry
    from leaderboard.models import Run
    from web.tests.contests.cups import Cup

pytestmark = pytest.mark.django_db


def test_each_phase_begins_at_its_date() -> None:
    now = timezone.now()
    hour = timedelta(hours=1)
    contest = Contest(
        opens_at=now, freezes_at=now + hour, closes_at=now + 2 * hour, results_at=now + 3 * hour
    )
    found = [contest.phase_at(now + count * hour) for count in range(-1, 4)]
    assert found == list(Phase)
    assert contest.phase_at(now + hour - timedelta(microseconds=1)) is Phase.OPEN


def test_the_database_keeps_dates_in_order() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Contest.objects.create(slug="late", name="Late", **dates(freezes_at=11))


def test_the_form_reports_dates_out_of_order_and_unknown_guests() -> None:
    form = ContestForm(
        {
            "name": "Cup",
            "slug": "cup",
            "opens_at": "2026-10-01T00:00",
            "freezes_at": "2026-09-01T00:00",
            "closes_at": "2026-11-01T00:00",
            "results_at": "2026-12-01T00:00",
            "boards": ["preliminary1"],
            "guest_names": "nemo",
            "admission": "guests",
            "team_size": "5",
            "quota_open": "5",
            "quota_frozen": "5",
        }
    )
    assert not form.is_valid()
    assert form.errors.keys() == {"freezes_at", "guest_names"}
    with pytest.raises(ValidationError, match="No user has the name 'nemo'"):
        user_named("nemo")


def test_only_entries_of_the_contest_are_ranked_and_a_team_is_one(cup: Cup) -> None:
    outside = cup.world.submit(cup.world.bob, content=cup.world.library + b"outside")
    cup.enter()
    for number in range(3):
        cup.enter(by=cup.tim, tag=bytes([number]))
    finish_all()
    board = contest_boards(cup.contest)[0]
    assert run_of(outside).eligible
    assert {row.team for row in board.rows} == {cup.heron}
    assert len(board.rows) == board.board.per_user == 3  # of the team's four binaries


def test_a_frozen_board_shows_the_state_at_the_freeze(cup: Cup, client: Client) -> None:
    before = cup.enter(name="before.so")
    finish_all()
    move(cup.contest, freezes_at=0)
    after = cup.enter(tag=b"after", name="after.so")
    finish_all()
    page = "/contests/cup/boards/preliminary1/"
    assert "before" in client.get(page).content.decode()
    assert "after" not in client.get(page).content.decode()
    assert "after" not in client.get(f"{page}?live=1").content.decode()
    jury = cup.browser("jury")
    assert "after" not in jury.get(page).content.decode()
    assert "after" in jury.get(f"{page}?live=1").content.decode()
    assert client.get(f"/submissions/{before.submission_id}/").status_code == 200
    assert client.get(f"/submissions/{after.submission_id}/").status_code == 404
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    assert "after" in client.get(page).content.decode()
    assert client.get(f"/submissions/{after.submission_id}/").status_code == 200


def test_a_submission_entered_after_the_freeze_is_not_on_the_frozen_board(cup: Cup) -> None:
    submission = cup.world.submit()
    finish_all()
    move(cup.contest, freezes_at=0)
    entries.enter(cup.heron, submission)
    assert contest_boards(cup.contest)[0].rows == ()
    assert len(contest_boards(cup.contest, live=True)[0].rows) == 1


def test_what_ends_after_the_freeze_stays_off_the_public_pages(cup: Cup, client: Client) -> None:
    entry = cup.enter(name="zebra.so")
    move(cup.contest, freezes_at=0)
    finish_all()
    run = run_of_entry(entry)
    paths = (
        "/",
        "/boards/",
        "/boards/preliminary1/",
        "/boards/preliminary1.json",
        "/contests/cup/",
    )
    for path in paths:
        assert "zebra" not in client.get(path).content.decode(), path
    hidden = (
        f"/runs/{run.pk}/",
        f"/runs/{run.pk}.json",
        f"/compare.json?runs={run.pk},{run.pk + 1}",
    )
    for path in hidden:
        assert client.get(path).status_code == 404, path
        assert cup.browser("stranger").get(path).status_code == 404, path
    assert (
        f"/runs/{run.pk}/" not in client.get(f"/submissions/{run.submission_id}/").content.decode()
    )
    for who in ("contestant", "mate", "observer", "staff"):
        assert cup.browser(who).get(f"/runs/{run.pk}/").status_code == 200, who


def run_of_entry(entry: Entry) -> Run:
    run: Run = entry.submission.runs.get(benchmark=BOARD.benchmark, instance=BOARD.instance)
    return run


@pytest.mark.parametrize("how", ["private", "anonymous"])
def test_private_runs_and_anonymous_teams_are_hidden_until_the_results(
    cup: Cup, client: Client, how: str
) -> None:
    if how == "private":
        Contest.objects.update(runs_private=True)
    else:
        teams.change(cup.heron, "Heron", anonymous=True)
    run = run_of_entry(cup.enter(name="zebra.so"))
    other = cup.enter(name="zebra.so", tag=b"2")  # its page shows the history of zebra.so
    finish_all()
    board = client.get("/contests/cup/boards/preliminary1/").content.decode()
    front = client.get("/contests/cup/").content.decode()
    assert "library hidden until the results are published" in board
    assert "zebra" not in board
    assert ("Anonymous team 1" in board) == (how == "anonymous")
    assert ("Heron" in board + front) == (how == "private")
    for path in (f"/runs/{run.pk}/", f"/submissions/{other.submission_id}/"):
        assert client.get(path).status_code == 404
        assert cup.browser("mate").get(path).status_code == 200
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    assert client.get(f"/runs/{run.pk}/").status_code == 200
    assert "Heron" in client.get("/contests/cup/").content.decode()


def test_a_disqualified_entry_leaves_the_contest_only(cup: Cup, client: Client) -> None:
    entry = cup.enter(name="cheat.so")
    finish_all()
    by = cup.officials["jury"]
    organising.disqualify(entry, "reads the clock", by=by)
    assert contest_boards(cup.contest)[0].rows == ()
    assert "cheat" in client.get("/boards/preliminary1/").content.decode()
    organising.restore(entry, "a mistake", by=by)
    assert len(contest_boards(cup.contest)[0].rows) == 1


def test_a_deleted_submission_is_not_ranked(cup: Cup) -> None:
    entry = cup.enter()
    finish_all()
    cup.browser("contestant").post(f"/submissions/{entry.submission_id}/delete/")
    assert contest_boards(cup.contest)[0].rows == ()


def test_the_front_page_needs_few_statements(
    cup: Cup, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    cup.enter()
    finish_all()
    client.get("/contests/cup/")
    with django_assert_num_queries(9):
        client.get("/contests/cup/")
    for number in range(3):
        cup.enter(tag=bytes([number]))
    finish_all()
    with django_assert_num_queries(9):
        client.get("/contests/cup/")


def test_the_combined_score_is_the_geometric_mean_of_the_speeds(cup: Cup) -> None:
    cup.enter()
    finish_all()
    boards = contest_boards(cup.contest)
    (row,) = combined_standing(boards)
    ratios = [board.rows[0].entry.score for board in boards]
    assert row.team == cup.heron
    assert row.score.score == pytest.approx((1 / ratios[0] / ratios[1]) ** 0.5)
    assert row.score.low <= row.score.score <= row.score.high
    assert row.score.boards == 2


def test_a_board_without_an_entry_counts_as_the_control() -> None:
    (score,) = combine({7: [(4.0,) * 15]}, 2)
    assert score.score == score.low == score.high == pytest.approx(2.0)
    assert (score.team, score.boards, score.provisional) == (7, 1, False)


def test_teams_share_a_rank_if_the_data_do_not_tell_them_apart() -> None:
    near = [2.0 + 0.1 * (i % 5) for i in range(15)]
    nearer = [2.02 + 0.1 * (i % 5) for i in range(15)]
    fast = [9.0 + 0.1 * (i % 5) for i in range(15)]
    found = combine({1: [near], 2: [nearer], 3: [fast]}, 1)
    assert [score.team for score in found] == [3, 2, 1]
    assert [(s.rank.low, s.rank.high) for s in found] == [(1, 1), (2, 3), (2, 3)]
    assert combine({}, 3) == []


def test_the_combined_ranking_has_a_limit_and_marks_few_sessions() -> None:
    found = combine({team: [(1.0 + team, 1.1 + team)] for team in range(TEAMS_MAX + 2)}, 1)
    assert len(found) == TEAMS_MAX
    assert found[0].team == TEAMS_MAX + 1
    assert all(score.provisional for score in found)


def test_a_team_has_a_quota_in_each_phase(cup: Cup) -> None:
    Contest.objects.update(quota_open=0, quota_frozen=3)
    with pytest.raises(
        Refused,
        match=r"the limit in this phase is 0: try again after .* when the next phase begins",
    ):
        cup.enter(tag=b"first")
    Contest.objects.update(quota_open=2)
    for number in range(2):
        cup.enter(by=(cup.world.alice, cup.tim)[number], tag=bytes([number]))
    with pytest.raises(
        Refused,
        match="has entered 2 submissions in the last 24 hours, and the limit in this phase is 2: try again after 20",
    ):
        cup.enter(tag=b"third")
    move(cup.contest, freezes_at=0)
    cup.enter(tag=b"third")
    with pytest.raises(Refused, match="the limit in this phase is 3: try again after"):
        cup.enter(tag=b"fourth")
    Contest.objects.update(quota_frozen=0)
    with pytest.raises(Refused, match="the limit in this phase is 0: the contest takes no more"):
        cup.enter(tag=b"fourth")
    assert cup.contest.entries.count() == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"opens_at": 1},
        {"freezes_at": 0, "closes_at": 0},
        {"freezes_at": 0, "closes_at": 0, "results_at": 0},
    ],
)
def test_nothing_enters_outside_of_the_dates(cup: Cup, changes: dict[str, int]) -> None:
    submission = cup.world.submit()
    move(cup.contest, **changes)
    attempts: tuple[Callable[[], Entry], ...] = (
        cup.enter,
        lambda: entries.enter(cup.heron, submission),
    )
    for attempt in attempts:
        with pytest.raises(Refused, match="takes submissions only from 20"):
            attempt()


def test_an_old_or_entered_submission_is_refused(cup: Cup) -> None:
    submission = cup.world.submit()
    entries.enter(cup.heron, submission)
    with pytest.raises(Refused, match="in this contest already"):
        entries.enter(cup.heron, submission)
    type(submission).objects.update(created_at=cup.contest.opens_at - timedelta(seconds=1))
    other = cup.world.submit()
    type(submission).objects.filter(pk=other.pk).update(
        created_at=cup.contest.opens_at - timedelta(seconds=1)
    )
    other.refresh_from_db()
    with pytest.raises(Refused, match="uploaded before the contest opened"):
        entries.enter(cup.heron, other)
