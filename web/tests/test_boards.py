"""Tests the published boards, i.e. rankings: each ranks an existing benchmark instance; the pages list every board."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from leaderboard import catalogue
from leaderboard.board_page import Standings
from leaderboard.boards import all_boards, main_boards
from leaderboard.catalogue import Target
from leaderboard.models import BoardEntry
from runner.manifest import find_benchmark
from runner.report import Finding
from runner.terms import Severity
from web import jinja
from web.boards.groups import groups_of
from web.boards.rows import Row
from web.tests.world import BOARD, claim, finish, finish_all

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

    from web.tests.world import World

pytestmark = pytest.mark.django_db


def test_every_board_ranks_an_existing_benchmark_instance() -> None:
    for board in all_boards():
        benchmark = find_benchmark(catalogue.benchmarks(), board.benchmark)
        assert benchmark.metric is not None
        assert (benchmark.metric.name, benchmark.metric.direction) == (
            board.metric,
            board.direction,
        )
        assert set(board.scales) <= set(benchmark.instance(board.instance).scales)
        assert set(board.gates) <= catalogue.benchmarks().keys()
        assert board.description.strip()


def test_the_form_preselects_the_main_boards() -> None:
    assert [board.slug for board in main_boards()] == ["preliminary1", "preliminary2"]
    assert len(all_boards()) > len(main_boards())
    assert [str(target) for target in catalogue.main_targets()] == [
        "sigmod2009/preliminary1",
        "sigmod2009/preliminary2",
    ]


def test_every_board_is_listed_main_ones_first(client: Client) -> None:
    page = client.get("/boards/").content.decode()
    table = page[page.index("<table") : page.index("</table>")]
    listed = re.findall(r'<a href="/boards/(\w+)/">', table)
    assert sorted(listed) == sorted(board.slug for board in all_boards())
    assert listed[:2] == [board.slug for board in main_boards()]
    assert f"All {len(listed)} boards" in client.get("/").content.decode()


def test_the_lists_say_who_leads_by_how_much_and_since_when(
    client: Client, world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    world.submit(name="art.so", targets=(BOARD, Target("open_loop", "int64_a")))
    finish_all()
    today = jinja.date(timezone.now())
    with django_assert_num_queries(7):
        home = client.get("/").content.decode()
    with django_assert_num_queries(4):
        every = client.get("/boards/").content.decode()
    for page in (home, every):
        rows = page[page.index("<table") : page.index("</table>")].split("<tr")
        (first,) = [row for row in rows if "/boards/preliminary1/" in row]
        (rate,) = [row for row in rows if "/boards/open_loop/" in row]
        (empty,) = [row for row in rows if "/boards/preliminary2/" in row]
        for row in (first, rate):
            assert "<b>art</b> · whole library" in row
            assert ">1.98" in row  # 81 ms / 41 ms; twice the rate is twice the speed, too
            assert "the only entry" in row
            assert today in row
        assert "No entry yet." in empty


def test_a_row_draws_its_interval_and_names_structure_and_configuration(
    client: Client, world: World
) -> None:
    mine = world.submit(name="art.so")
    mine.configuration = "rw"
    mine.save()
    finish_all()
    page = client.get("/boards/preliminary1/").content.decode()
    assert "<b>art</b> · rw" in page
    row = page[page.index('class="row-plot leads"') :]
    row = row[: row.index("</td>")]
    (dot,) = re.findall(r'<circle class="dot" cx="([\d.]+)%"', row)
    (control,) = re.findall(r'<line class="at1" x1="([\d.]+)%"', row)
    low, high = re.findall(r'<line class="whisk" x1="([\d.]+)%" x2="([\d.]+)%"', row)[0]
    assert float(low) <= float(dot) <= float(high) < float(control)  # it is twice as fast


def test_entries_that_the_data_do_not_tell_apart_are_one_group(
    client: Client, world: World
) -> None:
    for number in range(3):
        world.submit(
            (world.alice, world.bob, world.olga)[number],
            name=f"lib{number}.so",
            content=world.library + bytes([number]),
        )
    finish_all()
    page = client.get("/boards/preliminary1/").content.decode()
    assert page.count('<tbody role="rowgroup" class="tied">') == 1
    assert page.count('<tr role="row" class="leading">') == 3
    assert page.count("1\N{EN DASH}3</td>") == 6  # in the ranking, and in the table of counts
    assert (
        "These entries have too few sessions to tell them apart. "
        "When each of them has at least 5 sessions, this page estimates how many are needed."
        in page
    )


def test_a_group_says_how_many_sessions_would_tell_entries_apart() -> None:
    close = [0.95, 0.97, 1.0, 1.02, 1.05, 1.08]
    board = next(iter(main_boards()))
    entries = tuple(
        BoardEntry(position=place, rank_low=1, rank_high=2, ratios=[factor * r for r in close])
        for place, factor in ((1, 0.5), (2, 0.54))
    )
    shown = [_row(place, name) for place, name in ((1, "art.so"), (2, "hot.so"))]
    (group,) = groups_of(Standings(board, 1, "test", ("test",), entries), shown)
    assert group.tied
    found = re.fullmatch(
        r"About (\d+) more sessions of each entry would tell art \(rw\) of alice and hot \(rw\) of alice apart.",
        group.note,
    )
    assert found
    assert 0 < int(found[1]) <= 54


def test_only_entries_that_may_be_the_best_share_the_lead(client: Client, world: World) -> None:
    """An entry with two sessions is not told apart from any other, so it joins all entries in one group.

    The group also contains an entry that is surely not the best.
    """
    targets = (("best", 0.5, 8), ("worst", 4.0, 8), ("unclear", 1.0, 2))
    for name, slower, sessions in targets:
        submission = world.submit(name=f"{name}.so", content=world.library + name.encode())
        seeds = [f"{number:016x}" for number in range(sessions)]
        submission.runs.filter(kind="performance").update(seeds=seeds, sessions=sessions)
        while (run := claim()).kind != "performance":
            finish(run)
        finish(run, slower=slower)
    page = client.get("/boards/preliminary1/").content.decode()
    assert page.count('class="tied"') == 1
    rows = page.split('<tr role="row" class="leading">')[1:]
    assert [re.findall(r"<b>(\w+)</b>", row)[0] for row in rows] == ["best", "unclear"]
    front = client.get("/").content.decode()
    assert "shared by 2" in front
    # The two leaders have filled dots, and the third entry has a hollow dot.
    plot = front[front.index('class="row-plot leads"') : front.index("shared by 2")]
    assert (plot.count('class="dot"'), plot.count('class="other"')) == (2, 1)


def test_the_run_and_the_board_show_by_how_much_memory_grows(client: Client, world: World) -> None:
    """The text of the finding is the one that benchmarks/scenarios/suite.cc writes."""
    grown = (
        "S96, Very many empty transactions: memory grew by 12,000 KiB: 1040 bytes per transaction"
    )
    world.submit()
    leaking = None
    while leaking is None:
        run = claim()
        leaks = run.benchmark == "scenarios"
        metrics = {"growth_per_transaction": 1040.4} if leaks else {}
        finding = Finding("scenarios", "memory_growth", Severity.ADVISORY, grown)
        ended = finish(run, findings=(finding,) if leaks else (), more_metrics=metrics)
        leaking = ended if leaks else None
    finish_all()
    page = client.get(f"/runs/{leaking.pk}/").content.decode()
    assert "memory growth" in page[page.index("Advisory findings: warnings") :]
    assert grown in page
    assert BoardEntry.objects.exists(), "the finding is a warning only"
    board = client.get("/boards/preliminary1/").content.decode()
    assert f'href="/runs/{leaking.pk}/#findings">memory growth</a>' in board
    assert "1,040 bytes per transaction" in board


def _row(place: int, name: str) -> Row:
    """Return a row of a board with a shared first rank."""
    return Row(
        position=place, rank_low=1, rank_high=2, library=name, description="", user="alice", result=1.0,
        total_ms=1.0, ratio=0.5, ratio_low=0.4, ratio_high=0.6, sessions=6, deadlocks=0, transactions_failed=0,
        transactions_completed=1, configuration="rw", jail_level="full", digest="00", benchmark_version=1,
        machine_class="test", provisional=False, audited=False, advisories=(), submitted=timezone.now(), run_id=place,
        submission_id=place,
    )  # fmt: skip
