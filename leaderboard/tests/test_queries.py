# Tests the database reads for pages: what each viewer sees, and how many SQL statements each page takes.

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone

from leaderboard import board_page, overview, queries, services
from leaderboard.boards import board_named, main_boards
from leaderboard.machines import registry
from leaderboard.models import Announcement, Machine, Run
from leaderboard.my_submissions import my_submissions
from leaderboard.queue import claims, queue_estimate
from leaderboard.queue.claims import Slot
from leaderboard.queue.queue_estimate import Pace, Wait, about
from leaderboard.tests.conftest import PRELIMINARY1, PRELIMINARY2, Track, enter
from leaderboard.tests.reports import warning
from leaderboard.tests.test_record import gates, ranked, status_of, timed
from runner.terms import Verdict

pytestmark = pytest.mark.django_db


def test_a_board_costs_two_statements_for_any_number_of_entries(
    alice: User, bob: User, track: Track, django_assert_num_queries: Any
) -> None:
    board = board_named("preliminary1")
    assert board is not None
    with django_assert_num_queries(1):
        assert board_page.standings(board).rows == ()
    for count, owner in ((1, alice), (2, bob)):
        ranked(track, enter(owner, count))
        with django_assert_num_queries(2):
            found = board_page.standings(board)
            shown = [
                (row.user.username, row.run.jail_level, row.run.submission.file_name)
                for row in found.rows
                if row.run.machine is not None
            ]
        assert len(shown) == count


def test_my_submissions_cost_five_statements_and_four_more_while_some_wait(
    alice: User, bob: User, track: Track, django_assert_num_queries: Any
) -> None:
    """A page takes five SQL statements. If a run is queued, its position and expected start take four more."""
    first = enter(alice)
    ranked(track, first)
    second = enter(alice, 1, targets=(PRELIMINARY1, PRELIMINARY2))
    enter(bob, 2)
    track.finish(gates(second)[0], verdict=Verdict.FAILED)
    with django_assert_num_queries(9):
        page = my_submissions(alice)
        rows = [row for upload in page.uploads for row in upload.rows]
        names = [[run.machine and run.machine.name for run in row.runs] for row in rows]
    assert [row.submission.pk for row in rows] == [second.pk, first.pk]
    assert names == [[None, None], ["bench1"]]
    assert [row.gates for row in rows] == [
        {"phantom": "failed", "unit": "waiting"},
        {"phantom": "passed", "unit": "passed"},
    ]
    assert [row.is_final for row in rows] == [False, True]
    assert page.next_before is None
    second.runs.filter(state="queued").update(state="cancelled")
    with django_assert_num_queries(5):
        assert my_submissions(alice).waits == {}


def test_my_submissions_come_in_pages(alice: User) -> None:
    entered = [enter(alice, number).pk for number in range(3)]
    first = my_submissions(alice, limit=2)
    assert [upload.first.pk for upload in first.uploads] == [entered[2], entered[1]]
    second = my_submissions(alice, before=first.next_before, limit=2)
    assert [upload.first.pk for upload in second.uploads] == [entered[0]]
    assert second.next_before is None


def test_the_live_tag_changes_with_what_is_shown(alice: User, machine: Machine) -> None:
    enter(alice)
    before = my_submissions(alice).live_tag
    assert my_submissions(alice).live_tag == before
    run = claims.claim(Slot(machine, 0))
    assert run is not None
    claimed = my_submissions(alice).live_tag
    assert claimed != before
    claims.heartbeat(run.pk, run.attempt, 0.5, "halfway")
    assert my_submissions(alice).live_tag != claimed


def test_a_run_page_costs_a_few_statements(
    alice: User, track: Track, django_assert_max_num_queries: Any
) -> None:
    run = ranked(track, enter(alice))
    waiting = timed(enter(alice, 1))
    for shown, statements in ((run, 6), (waiting, 8)):
        with django_assert_max_num_queries(statements):
            page = queries.run_page(shown.pk, alice)
            assert page is not None
            assert page.run.submission.owner.username == "alice"
    assert page is not None
    assert page.wait is not None
    assert page.wait.position == 3


def test_a_waiting_run_says_when_it_will_start(alice: User, bob: User, track: Track) -> None:
    waiting = enter(alice)
    first, last = (waiting.runs.order_by("id")[n] for n in (0, 2))
    nobody = queries.run_page(last.pk, alice)
    assert nobody is not None
    assert str(nobody.wait) == "number 3 in the queue"
    done = enter(bob, 1)
    for run in done.runs.order_by("id"):  # make_report gives each run a duration of five seconds
        track.finish(run)
    registry.alive(track.machine, busy=False)
    page = queries.run_page(last.pk, alice)
    assert page is not None
    assert page.wait == Wait(3, 15.0)
    assert str(page.wait) == "number 3 in the queue, starts in less than a minute"
    before = my_submissions(alice)
    assert before.waits[last.pk].position == 3
    assert claims.claim(Slot(track.machine, 0)) is not None
    after = my_submissions(alice)
    assert first.pk not in after.waits
    assert after.waits[last.pk].position == 2
    assert before.live_tag != after.live_tag


def test_positions_are_counted_up_to_a_maximum(
    alice: User, track: Track, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_estimate, "COUNTED_MAX", 2)
    runs = list(enter(alice).runs.order_by("id"))
    assert [str(wait) for wait in queue_estimate.waits(runs).values()] == [
        "number 1 in the queue",
        "number 2 in the queue",
        "at least 2 runs come first",
    ]
    assert (
        str(Wait(3, 7200.0))
        == "at least 2 runs come first; starts in about 2 hours at the earliest"
    )
    claimed = claims.claim(Slot(track.machine, 0))
    assert claimed is not None
    # The rows in `runs` were read before the claim, so they still say that all runs are queued.
    assert [wait.position for wait in queue_estimate.waits(runs).values()] == [1, 2]
    assert claimed.pk not in queue_estimate.waits(runs)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "less than a minute"),
        (61, "about 1 minute"),
        (600, "about 10 minutes"),
        (7199, "about 2 hours"),
        (86_400, "about 24 hours"),
    ],
)
def test_expected_times_are_as_rough_as_they_are_known(seconds: float, words: str) -> None:
    assert about(seconds) == words


def test_more_slots_make_the_wait_shorter() -> None:
    assert Pace(1, 30.0).seconds_until(4) == 120.0
    assert Pace(4, 30.0).seconds_until(4) == 30.0
    assert Pace(0, 30.0).seconds_until(4) is None
    assert Pace(4, None).seconds_until(4) is None


def test_the_log_is_for_the_owner_and_organisers(
    alice: User, bob: User, organiser: User, track: Track
) -> None:
    submission = enter(alice)
    run = timed(submission)
    track.finish(run, log="my secret output", findings=(warning("odd"),))
    for viewer in (alice, organiser):
        page = queries.run_page(run.pk, viewer)
        assert page is not None
        assert page.private is not None
        assert page.private.log == "my secret output"
        assert len(page.private.seeds) == 15
        assert page.may_change
    for stranger in (bob, AnonymousUser()):
        page = queries.run_page(run.pk, stranger)
        assert page is not None
        assert page.private is None
        assert not page.may_change
        assert [finding.detail for finding in page.advisory] == ["odd"]
        assert page.required == ()


def test_seeds_are_secret_until_the_run_has_ended(alice: User) -> None:
    page = queries.run_page(timed(enter(alice)).pk, alice)
    assert page is not None
    assert page.private is not None
    assert page.private.seeds == ()


def test_a_deleted_submission_exists_for_organisers_only(
    alice: User, organiser: User, track: Track
) -> None:
    submission = enter(alice)
    run = timed(submission)
    services.withdraw(submission, by=alice)
    for viewer in (alice, AnonymousUser()):
        assert queries.run_page(run.pk, viewer) is None
        assert queries.own_submission(submission.pk, viewer) is None
        assert queries.artefact_for(run.pk, "throughput.svg", viewer) is None
    assert my_submissions(alice).uploads == ()
    assert queries.run_page(run.pk, organiser) is not None
    assert queries.own_submission(submission.pk, organiser) is not None


def test_only_the_owner_and_organisers_get_a_submission_to_change(
    alice: User, bob: User, organiser: User
) -> None:
    submission = enter(alice)
    assert queries.own_submission(submission.pk, alice) == submission
    assert queries.own_submission(submission.pk, organiser) == submission
    assert queries.own_submission(submission.pk, bob) is None
    assert queries.own_submission(submission.pk, AnonymousUser()) is None
    assert queries.own_submission(10**9, alice) is None


def test_a_ranked_run_has_its_rank_interval(alice: User, bob: User, track: Track) -> None:
    first = ranked(track, enter(alice), ratio=0.5)
    second = ranked(track, enter(bob, 1), ratio=0.501)
    assert [str(place) for place in status_of(first).ranks] == ["1-2 on Preliminary 1"]
    assert status_of(second).ranks[0].high == 2
    assert list(map(str, status_of(timed(enter(alice, 5))).why_not)) == [
        "the run has not finished yet"
    ]


def test_announcements_appear_when_they_are_published(django_assert_num_queries: Any) -> None:
    now = timezone.now()
    Announcement.objects.create(title="draft", body="")
    Announcement.objects.create(title="later", body="", published_at=now + timedelta(hours=1))
    Announcement.objects.create(title="old", body="", published_at=now - timedelta(hours=2))
    Announcement.objects.create(title="new", body="", published_at=now - timedelta(hours=1))
    with django_assert_num_queries(1):
        assert [news.title for news in queries.announcements()] == ["new", "old"]


def test_leads_need_four_statements_and_name_the_first_run_of_the_leader(
    alice: User, bob: User, track: Track, django_assert_num_queries: Any
) -> None:
    boards = main_boards()
    with django_assert_num_queries(3):
        assert [lead.entries for lead in overview.leads(boards)] == [(), ()]
    first = ranked(track, enter(alice))
    ranked(track, enter(alice))  # the same binary again: the entry links to the newest run
    ranked(track, enter(bob))
    with django_assert_num_queries(4):
        lead, other = overview.leads(boards)
    assert (lead.board.slug, other.board.slug) == ("preliminary1", "preliminary2")
    assert [entry.position for entry in lead.entries] == [1, 2]
    assert lead.since == first.finished_at
    assert (other.entries, other.since) == ((), None)


def test_recent_runs_are_timed_ended_and_not_deleted(
    alice: User, track: Track, django_assert_num_queries: Any
) -> None:
    old, new = (ranked(track, enter(alice)) for _ in range(2))
    deleted = ranked(track, enter(alice))
    services.withdraw(deleted.submission, by=alice)
    enter(alice)  # still queued
    with django_assert_num_queries(1):
        found = overview.recent_runs(5)
    assert [run.pk for run in found] == [new.pk, old.pk]
    assert overview.recent_runs(1) == [new]


def test_the_queue_is_stalled_when_no_worker_claims_runs(
    alice: User, machine: Machine, django_assert_num_queries: Any
) -> None:
    enter(alice)
    with django_assert_num_queries(3):
        status = queries.system_status()
    assert (status.waiting, status.active, status.stalled) == (3, 0, False)
    Run.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    status = queries.system_status()
    assert status.stalled
    assert status.oldest_wait_seconds > 290
    assert [found.lost for found in status.machines] == [True]
    registry.alive(machine, busy=True)
    assert not queries.system_status().stalled
    Machine.objects.update(last_busy=None, last_seen=None)
    assert claims.claim(Slot(machine, 0)) is not None
    status = queries.system_status()
    assert (status.active, status.stalled) == (1, False)
    assert [found.lost for found in status.machines] == [False]


def test_the_last_sign_of_a_machine_follows_the_heartbeats_of_its_runs(
    alice: User, machine: Machine
) -> None:
    """A worker updates the machine's row only between two runs, and a run can take hours."""
    enter(alice)
    first, second = (claims.claim(Slot(machine, number)) for number in (0, 1))
    assert first is not None
    assert second is not None
    now = timezone.now()
    Machine.objects.update(last_busy=now - timedelta(hours=2), last_seen=now - timedelta(hours=2))
    Run.objects.filter(pk=first.pk).update(heartbeat_at=now)
    Run.objects.filter(pk=second.pk).update(heartbeat_at=now - timedelta(hours=1))
    status = queries.system_status()
    page = queries.machine_page(machine.pk, alice)
    assert page is not None
    assert [found.last_sign for found in status.machines] == [now]
    assert page.last_sign == queries.last_sign_of_machine(machine.pk) == now
    Run.objects.filter(pk=first.pk).update(heartbeat_at=now + timedelta(seconds=2))
    assert queries.system_status().live_tag != status.live_tag
