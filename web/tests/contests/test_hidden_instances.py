"""Tests hidden instances, i.e. benchmark instances whose parameters a contest keeps secret until a date.

The tests check who sees them and when, which entries play them, and whether the results of the contest count them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.db.models import F
from django.utils import timezone

from leaderboard import plots
from leaderboard.catalogue import Target
from leaderboard.contests import organising, teams
from leaderboard.contests.hidden import (
    Shown,
    change,
    parse_parameters,
    queue_due_runs,
    remove,
)
from leaderboard.contests.models import Contest, HiddenInstance, PlayedIn, SeedPolicy
from leaderboard.contests.results import newest_result, store_due_results
from leaderboard.lead_history import note_leads
from leaderboard.models import Run, Submission
from leaderboard.queue import quotas, versions
from leaderboard.queue.queue_estimate import current_pace
from leaderboard.services import Refused
from leaderboard.submissions import reruns
from leaderboard.worker import make_job
from runner.terms import Verdict
from web.tests.contests.cups import DAY, add_hidden, move
from web.tests.fixtures import logged_in
from web.tests.world import claim, finish, finish_all, lone_machine

if TYPE_CHECKING:
    from django.test import Client

    from web.tests.contests.cups import Cup

pytestmark = pytest.mark.django_db

VISITORS = ("anonymous", "stranger", "contestant", "mate", "observer", "jury", "organiser", "staff")
OUTSIDERS = ("anonymous", "stranger", "contestant", "mate")
TITLE = "The surprise"
BOARD = "/contests/cup/boards/hidden-{hidden}/"
# Addresses of the run itself.
OWN = (
    "/runs/{run}/",
    "/runs/{run}.json",
    "/runs/{run}/bundle.zip",
    "/runs/{run}/state/",
    "/runs/{run}/throughput.svg",
    "/runs/{run}/latency.svg",
    "/compare/?runs={run},{open}",
    "/compare.csv?runs={run},{open}",
    "/compare.json?runs={run},{open}",
)
# Every other address with data. {open} is a run of the same submission that everyone may see.
OTHERS = (
    "/",
    "/boards/",
    "/boards/preliminary1/",
    "/boards/preliminary1.csv",
    "/boards/preliminary1.json",
    "/boards/preliminary1/history/",
    "/boards/tatp/",
    "/boards/tatp.csv",
    "/boards/tatp.json",
    "/boards/configurations/transactions/",
    "/boards/configurations/transactions.csv",
    "/boards/configurations/transactions.json",
    "/boards/users/alice/",
    "/boards/structures/zebra/",
    "/compare/",
    "/compare/?runs={open}",
    "/news/",
    "/submit/",
    "/submissions/",
    "/submissions/table/",
    "/submissions/{submission}/",
    "/submissions/{submission}/delete/",
    "/runs/{open}/",
    "/runs/{open}.json",
    "/runs/{open}/state/",
    "/contests/",
    "/contests/cup/",
    "/contests/cup/boards/preliminary1/",
    "/contests/cup/boards/preliminary1/?live=1",
    "/contests/cup/news.atom",
    "/contests/cup/team/",
    "/contests/cup/submit/",
)


def open_run(submission: Submission) -> Run:
    """Return a run of the submission that does not belong to a hidden instance."""
    return submission.runs.get(instance="preliminary1")


def play(hidden: HiddenInstance, *, slower: float = 1.7) -> Run:
    """Queue the missing runs of a hidden instance and finish them with times that no other run has."""
    queue_due_runs()
    while Run.objects.filter(hidden=hidden, state="queued").exists():
        finish(claim(), slower=slower)
    plots.draw_missing()
    note_leads()
    return Run.objects.filter(hidden=hidden).latest("pk")


def text_of(browser: Client, path: str) -> tuple[int, str]:
    """Return the status and text of an address, without what differs between two equal requests."""
    answer = browser.get(path)
    text = answer.getvalue().decode("utf-8", "replace")
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)
    return answer.status_code, re.sub(r"<updated>.*?</updated>", "", text)


def test_only_officials_see_anything_that_follows_from_the_runs(cup: Cup) -> None:
    """For visitors who are no officials, a page has the same bytes before and after a hidden instance is played."""
    entry = cup.enter(name="zebra.so")
    finish_all()
    plots.draw_missing()
    note_leads()
    hidden = add_hidden(cup)
    names = {"submission": entry.submission_id, "open": open_run(entry.submission).pk}
    paths = [path.format(**names) for path in OTHERS]
    before = {(who, path): text_of(cup.browser(who), path) for who in OUTSIDERS for path in paths}
    secret = play(hidden)
    assert secret.score is not None
    for (who, path), found in before.items():
        assert text_of(cup.browser(who), path) == found, f"{path} by {who}"
    seen = {path for (_, path), (status, _) in before.items() if status in {200, 286}}
    # Each address responded with a page to at least one visitor, so the loop above did not compare error pages only.
    assert seen == set(paths)
    with_title = {path for (_, path), (_, text) in before.items() if TITLE in text}
    assert with_title == {"/contests/cup/"}


def test_pages_of_machines_leave_hidden_runs_out(cup: Cup) -> None:
    cup.enter()
    finish_all()
    secret = play(add_hidden(cup))
    for who in VISITORS:
        _, page = text_of(cup.browser(who), f"/machines/{lone_machine().pk}/")
        assert "/runs/" in page, who
        assert (f"/runs/{secret.pk}/" in page) == (who not in OUTSIDERS), who
        assert ("hidden_" in page) == (who not in OUTSIDERS), who


def test_addresses_of_a_hidden_run_exist_only_for_officials_until_it_is_public(cup: Cup) -> None:
    entry = cup.enter()
    finish_all()
    hidden = add_hidden(cup)
    secret = play(hidden)
    names = {"run": secret.pk, "open": open_run(entry.submission).pk, "hidden": hidden.pk}
    own = [path.format(**names) for path in OWN]
    board = BOARD.format(**names)
    for who in VISITORS:
        browser = cup.browser(who)
        for path in own:
            official = who not in OUTSIDERS
            assert (text_of(browser, path)[0] in {200, 286}) == official, f"{path} by {who}"
        assert text_of(browser, board)[0] == 404, who
        assert text_of(browser, f"{board}?live=1")[0] == (404 if who in OUTSIDERS else 200), who
        assert text_of(browser, f"/runs/{secret.pk}/log/")[0] == (200 if who == "staff" else 404)
        for action in ("cancel", "rerun"):
            answer = browser.post(f"/runs/{secret.pk}/{action}/")
            if who in OUTSIDERS:
                assert answer.status_code == (302 if who == "anonymous" else 404), who
    change(hidden, Shown(TITLE, counts=True, publish_at=timezone.now()), "x", by=cup.world.olga)
    for who in VISITORS:
        browser = cup.browser(who)
        for path in (*own, board):
            assert text_of(browser, path)[0] in {200, 286}, f"{path} by {who}"
    _, page = text_of(cup.browser("anonymous"), board)
    assert "threads" in page
    assert f"/runs/{secret.pk}/" in page
    assert cup.browser("anonymous").get(own[1]).json()["request"]["parameters"] == {"threads": 7}


def test_a_public_instance_still_follows_the_rules_of_the_contest(cup: Cup) -> None:
    cup.enter()
    finish_all()
    hidden = add_hidden(cup, publish_at=timezone.now() - DAY)
    public = play(hidden)
    assert text_of(cup.browser("anonymous"), f"/runs/{public.pk}/")[0] == 200
    Contest.objects.update(runs_private=True)
    for who in VISITORS:
        hides = who in {"anonymous", "stranger"}
        assert (text_of(cup.browser(who), f"/runs/{public.pk}/")[0] == 404) == hides, who


def test_a_hidden_instance_becomes_public_with_the_results(cup: Cup) -> None:
    cup.enter()
    finish_all()
    secret = play(add_hidden(cup))
    assert text_of(cup.browser("mate"), f"/runs/{secret.pk}/")[0] == 404
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    for who in VISITORS:
        assert text_of(cup.browser(who), f"/runs/{secret.pk}/")[0] == 200, who
        assert "nonuniform" in text_of(cup.browser(who), BOARD.format(hidden=secret.hidden_id))[1]


def test_an_official_of_another_contest_sees_nothing(cup: Cup) -> None:
    """The same submission is entered in both contests, so the other jury has a page with its runs."""
    entry = cup.enter()
    finish_all()
    secret = play(add_hidden(cup))
    other = Contest.objects.get()
    other.pk, other.slug = None, "other"
    other.save()
    other.officials.create(user=cup.world.bob, role="owner")
    team = teams.create(other, "Crane", by=cup.world.alice)
    twin = other.entries.create(team=team, submission=entry.submission)
    stranger = cup.browser("stranger")
    status, page = text_of(stranger, f"/contests/other/organise/entries/{twin.pk}/")
    assert status == 200
    assert TITLE not in page
    assert f"/runs/{secret.pk}/" not in page
    assert text_of(stranger, f"/runs/{secret.pk}/")[0] == 404
    status, page = text_of(cup.browser("jury"), f"/contests/cup/organise/entries/{entry.pk}/")
    assert TITLE in page
    assert f"/runs/{secret.pk}/" in page
    assert organising.rerun(other, [twin], "why", by=cup.world.bob) == 2
    assert organising.rerun(cup.contest, [entry], "why", by=cup.officials["jury"]) == 1


def test_an_organiser_of_the_site_in_a_team_is_a_contestant(cup: Cup) -> None:
    entry = cup.enter()
    finish_all()
    hidden = add_hidden(cup)
    secret = play(hidden)
    with pytest.raises(Refused, match="organiser of this site"):
        teams.create(cup.contest, "Site", by=cup.world.olga)
    cup.tim.is_staff = True
    cup.tim.save()
    staff = logged_in(cup.tim)
    assert text_of(staff, f"/runs/{secret.pk}/")[0] == 404
    assert text_of(staff, "/contests/cup/organise/")[0] == 404
    assert text_of(staff, f"/runs/{open_run(entry.submission).pk}/")[0] == 200
    crane = teams.create(cup.contest, "Crane", by=cup.world.bob, anonymous=True)
    theirs = cup.enter(crane, cup.world.bob, tag=b"crane", name="crane.so")
    finish_all()
    path = f"/runs/{open_run(theirs.submission).pk}/"
    assert text_of(staff, path)[0] == 404
    assert "crane" not in text_of(staff, "/boards/preliminary1/")[1]
    assert text_of(staff, f"/submissions/{theirs.submission_id}/")[0] == 404
    assert text_of(cup.browser("staff"), path)[0] == 200
    assert "crane" in text_of(cup.browser("staff"), "/boards/preliminary1/")[1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": Target("tatp", "other")}, "the benchmark tatp has no instance 'other'"),
        ({"target": Target("nothing", "other")}, "there is no benchmark 'nothing'"),
        ({"scale": "huge"}, "unknown scale 'huge': choose one of smoke, laptop, paper"),
        ({"parameters": {"threads": 5000}}, "threads is 5000, but tatp allows 1 to 1024 threads"),
        (
            {"parameters": {"colour": 3}},
            "the benchmark tatp has no parameter 'colour'; choose one of:",
        ),
        ({"sessions": 0}, "0 sessions are not possible: choose 1 to 99"),
        ({"target": Target("unit", "unit"), "parameters": {}}, "unit tests correctness"),
        ({"publish_at": timezone.now() + 30 * DAY}, "is after the results of the contest"),
    ],
)
def test_what_the_manifest_does_not_allow_is_refused(
    cup: Cup, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(Refused, match=message):
        add_hidden(cup, **changes)
    assert not HiddenInstance.objects.exists()


def test_parameters_are_lines() -> None:
    assert parse_parameters(" threads = 8\n\nsubscribers=-3 ") == {"threads": 8, "subscribers": -3}
    for text, message in [
        (
            "threads",
            "line 1 of the parameters is 'threads': write NAME = NUMBER, for example threads = 8",
        ),
        ("a = 1\n= 2", "line 2 of the parameters is '= 2': write NAME = NUMBER"),
        ("a = 1\na = 2", "line 2 of the parameters gives 'a' a second value"),
        ("a = x", "gives 'a' the value 'x', which is not a whole number"),
        ("a =", "gives 'a' the value '', which is not a whole number"),
    ]:
        with pytest.raises(Refused, match=message):
            parse_parameters(text)


def test_an_organiser_adds_changes_and_removes_one_in_the_browser(cup: Cup) -> None:
    organiser = cup.browser("organiser")
    page = "/contests/cup/organise/hidden/"
    wrong = {
        "title": TITLE,
        "target": "tatp/nonuniform",
        "scale": "smoke",
        "parameters": "threads = 5000",
        "sessions": 3,
        "seed_policy": "common",
        "played_in": "all",
        "counts": "on",
    }
    text = organiser.post(page, wrong).content.decode()
    assert "Threads is 5000, but tatp allows 1 to 1024 threads" in text
    assert organiser.post(page, {**wrong, "parameters": "threads = 7"}).status_code == 302
    hidden = HiddenInstance.objects.get()
    assert (hidden.parameters, hidden.counts, len(hidden.seeds)) == ({"threads": 7}, True, 3)
    assert "threads = 7" in cup.contest.log.get().action
    one = f"{page}{hidden.pk}/"
    assert organiser.post(one, {"title": "Night", "reason": "a better name"}).status_code == 302
    hidden.refresh_from_db()
    assert (hidden.title, hidden.counts) == ("Night", False)
    with pytest.raises(Refused, match="has this title"):
        add_hidden(cup, title="night")
    assert "Give a reason" in organiser.post(one, {"title": "Day"}).content.decode()
    organiser.post(f"{one}remove/", {"reason": ""})
    assert HiddenInstance.objects.get().removed_at is None
    assert organiser.post(f"{one}remove/", {"reason": "too long"}).status_code == 302
    assert organiser.get(one).status_code == 404
    assert "removed" in organiser.get(page).content.decode()
    assert TITLE not in organiser.get("/contests/cup/").content.decode()
    assert cup.contest.log.first().reason == "too long"  # type: ignore[union-attr] # there are lines


def test_the_worker_plays_the_parameters(cup: Cup) -> None:
    cup.enter()
    finish_all()
    hidden = add_hidden(cup)
    (run,) = queue_due_runs()
    Run.objects.filter(pk=run.pk).update(attempt=1)
    job = make_job(Run.objects.get(pk=run.pk))
    assert (job.benchmark, job.instance) == ("tatp", "nonuniform")
    assert job.parameters == (("threads", 7),)
    assert (run.instance, run.ranked_on) == (hidden.name, [])
    assert queue_due_runs() == []
    Run.objects.filter(pk=run.pk).update(attempt=0)
    ended = finish(claim())
    assert (ended.eligible, ended.ranked_on) == (True, [hidden.slug])


@pytest.mark.parametrize("policy", SeedPolicy)
def test_seeds_follow_the_policy(cup: Cup, policy: SeedPolicy) -> None:
    for tag in (b"1", b"2"):
        cup.enter(tag=tag)
    finish_all()
    add_hidden(cup, seed_policy=policy)
    first, second = queue_due_runs()
    assert len(set(first.seeds)) == len(first.seeds) == 3
    assert (first.seeds == second.seeds) == (policy is SeedPolicy.COMMON)


def test_only_ranked_entries_play(cup: Cup) -> None:
    good, deleted, bad = (cup.enter(tag=bytes([number])) for number in range(3))
    finish_all()
    good_run = open_run(good.submission)
    organising.disqualify(bad, "cheats", by=cup.officials["jury"])
    Submission.objects.filter(pk=deleted.submission_id).update(deleted_at=timezone.now())
    cup.enter(tag=b"fails")
    finish_all(verdicts={"unit": Verdict.FAILED})
    add_hidden(cup)
    assert [run.submission_id for run in queue_due_runs()] == [good_run.submission_id]


def test_in_the_finals_the_best_entry_of_each_team_plays(cup: Cup) -> None:
    slow = cup.enter(tag=b"slow")
    finish_all()
    fast = cup.enter(tag=b"fast")
    while Run.objects.filter(state="queued").exists():
        finish(claim(), slower=0.5)
    hidden = add_hidden(cup, played_in=PlayedIn.FINALS)
    assert queue_due_runs() == []
    move(cup.contest, freezes_at=-1, closes_at=0)
    assert [run.submission_id for run in queue_due_runs()] == [fast.submission_id]
    organising.disqualify(fast, "cheats", by=cup.officials["jury"])
    assert [run.submission_id for run in queue_due_runs()] == [slow.submission_id]
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    assert queue_due_runs() == []
    assert hidden.runs.count() == 2


def test_the_owner_pays_no_quota_and_cannot_repeat_the_run(cup: Cup) -> None:
    entry = cup.enter()
    finish_all()
    before = quotas.left(cup.world.alice), quotas.repetitions_left(cup.world.alice)
    secret = play(add_hidden(cup))
    organising.rerun(cup.contest, [entry], "noise", by=cup.officials["jury"])
    assert Run.objects.filter(hidden__isnull=False, state="queued").count() == 1
    Run.objects.filter(hidden=None, state="queued").delete()
    assert (quotas.left(cup.world.alice), quotas.repetitions_left(cup.world.alice)) == before
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    with pytest.raises(Refused, match="only the officials of the contest"):
        reruns.rerun(Run.objects.get(pk=secret.pk), by=cup.world.alice)


def test_a_removed_instance_stays_secret_and_counts_nowhere(cup: Cup) -> None:
    cup.enter(tag=b"1")
    finish_all()
    hidden = add_hidden(cup)
    secret = play(hidden)
    cup.enter(tag=b"2")
    finish_all()
    (waiting,) = queue_due_runs()
    remove(hidden, "a mistake", by=cup.officials["organiser"])
    assert Run.objects.get(pk=waiting.pk).state == "cancelled"
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    store_due_results()
    result = newest_result(cup.contest)
    assert result is not None
    assert [one["board"]["slug"] for one in result.content["boards"]] == cup.contest.boards
    assert text_of(cup.browser("contestant"), f"/runs/{secret.pk}/")[0] == 404
    assert text_of(cup.browser("jury"), f"/runs/{secret.pk}/")[0] == 200
    with pytest.raises(Refused, match="removed already"):
        remove(hidden, "again", by=cup.officials["organiser"])


@pytest.mark.parametrize("counts", [True, False])
def test_the_stored_result_counts_it_as_the_rules_say(cup: Cup, counts: bool) -> None:
    cup.enter()
    finish_all()
    hidden = add_hidden(cup, counts=counts)
    play(hidden)
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    store_due_results()
    answer = cup.browser("anonymous").get("/contests/cup/result.json").json()
    (score,) = answer["combined"]
    assert score["boards"] == (3 if counts else 2)
    ratios = [board["rows"][0]["entry"]["score"] for board in answer["boards"]]
    counted = ratios if counts else ratios[:2]
    product = 1.0
    for ratio in counted:
        product /= ratio
    assert score["score"] == pytest.approx(product ** (1 / len(counted)))
    assert len(ratios) == 3
    page = cup.browser("anonymous").get(BOARD.format(hidden=hidden.pk)).content.decode()
    assert "Heron" in page


def test_the_expected_wait_does_not_tell_how_long_hidden_runs_take(cup: Cup) -> None:
    cup.enter()
    finish_all()
    before = current_pace()
    secret = play(add_hidden(cup))
    Run.objects.filter(pk=secret.pk).update(started_at=timezone.now() - DAY)
    assert current_pace() == before


def test_the_status_page_does_not_name_the_benchmark(cup: Cup) -> None:
    cup.enter()
    finish_all()
    add_hidden(cup)
    queue_due_runs()
    text = versions.refusal({**versions.own_versions(), "tatp": 0}, "2 cores of a test")
    assert "hidden instance" in text
    assert "tatp" not in text
    assert versions.refusal(versions.own_versions(), "2 cores of a test") == ""


def test_a_contest_without_finals_has_no_instance_for_them(cup: Cup) -> None:
    move(cup.contest, closes_at=20, results_at=20)
    Contest.objects.update(results_at=F("closes_at"))
    cup.contest.refresh_from_db()
    with pytest.raises(Refused, match="the contest has no finals"):
        add_hidden(cup, played_in=PlayedIn.FINALS)


def test_adding_needs_a_board(cup: Cup) -> None:
    Contest.objects.update(boards=[])
    cup.contest.refresh_from_db()
    with pytest.raises(Refused, match="the contest has no board"):
        add_hidden(cup)
