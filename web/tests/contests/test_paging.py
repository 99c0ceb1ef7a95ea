"""Tests that the long lists for a contest's officials page by id: all pages cost the same number of SQL statements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.contests import organising, teams
from web.contests import organiser_views

if TYPE_CHECKING:
    from web.tests.contests.cups import Cup

pytestmark = pytest.mark.django_db

LOG = "/contests/cup/organise/log/"
OVERVIEW = "/contests/cup/organise/"
TEAMS = f"{OVERVIEW}teams/"


def read(cup: Cup, path: str) -> tuple[str, list[str]]:
    """Return the page that the jury sees, with single spaces, and the SQL statements that it took."""
    jury = cup.browser("jury")
    with CaptureQueriesContext(connection) as captured:
        page = " ".join(jury.get(path).content.decode().split())
    return page, [query["sql"] for query in captured.captured_queries]


def walk(cup: Cup, path: str, pattern: str) -> tuple[list[list[str]], list[int]]:
    """Follow the links "Older"; return what `pattern` finds on each page, and the number of statements of each."""
    found, counts = [], []
    query = ""
    while True:
        page, statements = read(cup, path + query)
        assert not [text for text in statements if "OFFSET" in text]
        found.append(re.findall(pattern, page))
        counts.append(len(statements))
        older = re.search(r'href="(\?before=\d+)">Older', page)
        assert ('href="?">Newest' in page) == bool(query)
        if older is None:
            return found, counts
        query = older[1]


def test_the_audit_log_has_every_line_once_and_pages_cost_the_same(
    cup: Cup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(organiser_views, "LOG_LINES", 2)
    for number in range(6):
        organising.log(cup.contest, cup.officials["jury"], f"did thing {number}")
    found, counts = walk(cup, LOG, r"did thing (\d)")
    assert found == [["5", "4"], ["3", "2"], ["1", "0"]]
    assert len(set(counts)) == 1


def test_the_overview_has_every_entry_once_and_pages_cost_the_same(
    cup: Cup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(organiser_views, "ENTRIES", 2)
    monkeypatch.setattr(organiser_views, "COUNT_MAX", 4)
    entered = [cup.enter(tag=bytes([number])) for number in range(1, 5)]
    assert "1 team and 4 entries." in read(cup, OVERVIEW)[0]
    entered.append(cup.enter(tag=b"5"))
    assert "1 team and more than 4 entries." in read(cup, OVERVIEW)[0]
    found, counts = walk(cup, OVERVIEW, r'name="entry" value="(\d+)"')
    newest = [str(entry.pk) for entry in reversed(entered)]
    assert found == [newest[:2], newest[2:4], newest[4:]]
    assert len(set(counts)) == 1


def test_the_list_of_teams_has_every_team_once_and_pages_cost_the_same(
    cup: Cup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(organiser_views, "TEAMS", 2)
    monkeypatch.setattr(organiser_views, "COUNT_MAX", 4)
    cup.enter()
    for number in range(1, 4):
        member = User.objects.create_user(f"member{number}")
        teams.create(cup.contest, f"Team {number}", by=member)
    assert "4 teams and 1 entry." in read(cup, OVERVIEW)[0]
    teams.create(cup.contest, "Team 4", by=cup.world.bob)
    assert "more than 4 teams and 1 entry." in read(cup, OVERVIEW)[0]
    cell = r'data-label="(?:Team|Members|Entries)"[^>]*>(?:<span[^>]*>)?([^<]*)<'
    found, counts = walk(cup, TEAMS, cell)
    assert [[text.strip() for text in page] for page in found] == [
        ["Team 4", "bob", "0", "Team 3", "member3", "0"],
        ["Team 2", "member2", "0", "Team 1", "member1", "0"],
        ["Heron", "alice, tim", "1"],
    ]
    assert len(set(counts)) == 1


def test_a_page_below_the_oldest_row_says_so_and_leads_back(cup: Cup) -> None:
    cup.enter()
    for path, kind in ((OVERVIEW, "entries"), (TEAMS, "teams")):
        page = read(cup, f"{path}?before=1")[0]
        assert f"There are no older {kind}." in page
        assert 'href="?">Newest' in page
        assert "Run the chosen entries again" not in page


def test_a_page_warns_of_files_of_other_teams_that_are_on_other_pages(
    cup: Cup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(organiser_views, "ENTRIES", 1)
    cup.enter()
    cup.enter(teams.create(cup.contest, "Larch", by=cup.world.bob), cup.world.bob)
    assert "Same file" in read(cup, OVERVIEW)[0]
    newest = cup.enter(tag=b"2")
    assert "Same file" not in read(cup, OVERVIEW)[0]
    assert "Same file" in read(cup, f"{OVERVIEW}?before={newest.pk}")[0]


@pytest.mark.parametrize("rows", ["log", "entries", "teams"])
def test_an_index_finds_a_page_deep_in_the_list(cup: Cup, rows: str) -> None:
    deep = getattr(cup.contest, rows).filter(pk__lt=1000).order_by("-pk")[:3]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            # For a few rows, PostgreSQL would read the whole table instead of using an index.
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        found, sorts = "Index Scan", "Sort"
    else:
        found, sorts = "SEARCH", "TEMP B-TREE"
    plan = deep.explain()
    assert found in plan
    assert sorts not in plan
