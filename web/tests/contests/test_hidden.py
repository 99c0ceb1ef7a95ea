"""Tests that public URLs do not show the runs and entries that a contest hides, and show them after the results."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import pytest

from leaderboard import plots
from leaderboard.catalogue import Target
from leaderboard.contests import teams
from leaderboard.contests.models import Contest
from leaderboard.lead_history import note_leads
from web.tests.contests.cups import move
from web.tests.world import BOARD, finish_all

if TYPE_CHECKING:
    from django.test import Client

    from leaderboard.models import Submission
    from web.tests.contests.cups import Cup

pytestmark = pytest.mark.django_db

YCSB = Target("ycsb", "a")
# A board and its exports show each viewer the entries that the viewer may see.
BOARDS = (
    "/boards/preliminary1/",
    "/boards/preliminary1.csv",
    "/boards/preliminary1.json",
    "/boards/ycsb_a/",
    "/boards/ycsb_a.csv",
    "/boards/ycsb_a.json",
)
# Pages for the public: they leave hidden entries out for everyone, so that officials see what the public sees.
LISTS = (
    "/",
    "/boards/",
    "/boards/preliminary1/history/",
    "/boards/configurations/ycsb/",
    "/boards/configurations/ycsb.csv",
    "/boards/configurations/ycsb.json",
    "/boards/users/alice/",
    "/boards/structures/zebra/",
)
# These pages show no entries at all, not even after the results.
OTHER_LISTS = ("/news/", "/status/", "/contests/", "/contests/cup/news.atom", "/compare/")
# Addresses with the id of a run or a submission.
DETAILS = (
    "/runs/{run}/",
    "/runs/{run}.json",
    "/runs/{run}/bundle.zip",
    "/runs/{run}/throughput.svg",
    "/runs/{run}/state/",
    "/submissions/{submission}/",
    "/compare/?runs={run},{open}",
    "/compare.csv?runs={run},{open}",
    "/compare.json?runs={run},{open}",
)
EVERYONE = ("anonymous", "stranger", "contestant", "mate", "observer", "jury", "organiser", "staff")
OUTSIDERS = ("anonymous", "stranger")


def enter_zebra(cup: Cup, how: str) -> Submission:
    """Return a finished submission of Alice's team that the contest hides, on two families of boards.

    `how` says why the contest hides the submission: its runs are "private", the team is "anonymous", or the boards were
    "frozen" before the runs ended.
    """
    if how == "private":
        Contest.objects.update(runs_private=True)
    elif how == "anonymous":
        teams.change(cup.heron, "Heron", anonymous=True)
    Contest.objects.update(boards=["preliminary1", "ycsb_a"])
    cup.contest.refresh_from_db()
    cup.heron.refresh_from_db()
    submission = cup.enter(name="zebra.so").submission
    if how == "frozen":
        move(cup.contest, freezes_at=0)
    cup.world.submit(
        cup.world.bob,
        name="plain.so",
        targets=(BOARD, YCSB),
        content=cup.world.library + b"open",
    )
    finish_all()
    note_leads()
    plots.draw_missing()
    return submission


def fetch(browser: Client, path: str) -> tuple[int, str]:
    """Return the status and the text of a page or file; for an archive, the names in it.

    Reading the whole body also closes the file of the response.
    """
    answer = browser.get(path)
    body = answer.getvalue()
    if answer["Content-Type"] == "application/zip":
        return answer.status_code, " ".join(zipfile.ZipFile(io.BytesIO(body)).namelist())
    return answer.status_code, body.decode()


@pytest.mark.parametrize("how", ["private", "anonymous", "frozen"])
def test_public_lists_leave_hidden_entries_out(cup: Cup, how: str) -> None:
    enter_zebra(cup, how)
    for who in EVERYONE:
        browser = cup.browser(who)
        for path in (*LISTS, *OTHER_LISTS):
            status, text = fetch(browser, path)
            named = path.startswith(("/boards/users/", "/boards/structures/"))
            assert status == (404 if named else 200), f"{path} by {who}"
            assert named or "zebra" not in text, f"{path} by {who}"
        for path in BOARDS:
            status, text = fetch(browser, path)
            assert status == 200, f"{path} by {who}"
            assert ("zebra" in text) == (who not in OUTSIDERS), f"{path} by {who}"
            badge = path.endswith("/") and who not in OUTSIDERS
            assert ("hidden from others until" in text) == badge, f"{path} by {who}"
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    note_leads()
    for path in (*LISTS, *BOARDS):
        assert "zebra" in fetch(cup.browser("anonymous"), path)[1], path


@pytest.mark.parametrize("how", ["private", "anonymous", "frozen"])
def test_addresses_of_hidden_runs_do_not_exist_for_outsiders(cup: Cup, how: str) -> None:
    submission = enter_zebra(cup, how)
    run = submission.runs.get(benchmark=BOARD.benchmark, instance=BOARD.instance)
    other = (
        type(run)
        .objects.exclude(submission=submission)
        .get(benchmark=BOARD.benchmark, instance=BOARD.instance)
    )
    names = {"run": run.pk, "open": other.pk, "submission": submission.pk}
    # The submission was made before the freeze, so everyone may see that it exists.
    shown = "/submissions/{submission}/" if how == "frozen" else ""
    paths = [path.format(**names) for path in DETAILS if path != shown]
    for who in EVERYONE:
        browser = cup.browser(who)
        for path in paths:
            status, _ = fetch(browser, path)
            right = 286 if path.endswith("/state/") else 200  # 286: the run's page stops reloading
            assert status == (404 if who in OUTSIDERS else right), f"{path} by {who}"
        _, neighbour = fetch(browser, f"/runs/{other.pk}/")
        assert who not in OUTSIDERS or "zebra" not in neighbour, who
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    for path in paths:
        assert fetch(cup.browser("anonymous"), path)[0] in {200, 286}, path


@pytest.mark.parametrize("how", ["private", "anonymous", "frozen"])
def test_a_machine_does_not_list_hidden_runs(cup: Cup, how: str) -> None:
    """The list shows when a run ended and the control's times. A link to a hidden run would lead to a 404."""
    run = enter_zebra(cup, how).runs.get(benchmark=BOARD.benchmark)
    path, link = f"/machines/{run.machine_id}/", f'"/runs/{run.pk}/"'
    for who in EVERYONE:
        assert (link in fetch(cup.browser(who), path)[1]) is (who not in OUTSIDERS), who
    move(cup.contest, freezes_at=-1, closes_at=-1, results_at=0)
    assert link in fetch(cup.browser("anonymous"), path)[1]


@pytest.mark.parametrize("how", ["private", "anonymous"])
def test_a_submission_does_not_link_hidden_configurations_of_its_upload(cup: Cup, how: str) -> None:
    hidden = enter_zebra(cup, how)
    shown = cup.world.submit(cup.world.alice, name="plain.so", content=cup.world.library + b"two")
    shown.upload = hidden
    shown.save(update_fields=["upload"])
    for who in EVERYONE:
        status, text = fetch(cup.browser(who), f"/submissions/{shown.pk}/")
        assert status == 200, who
        assert (f"/submissions/{hidden.pk}/" in text) == (who not in OUTSIDERS), who
