"""Tests the order, the filters and the search of a board (a ranking of libraries), and the page of its history."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from leaderboard.lead_history import note_leads
from leaderboard.models import BoardEntry
from web.tests.world import claim, finish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

    from web.tests.fixtures import ModuleWorld

pytestmark = pytest.mark.django_db

PATH = "/boards/preliminary1/"
ENTRIES = (("art.so", "rw"), ("hot.so", ""), ("art.so", "gap"), ("zap.so", "rw"))


@pytest.fixture(scope="module")
def board(module_world: ModuleWorld) -> None:
    """A board with four entries: Alice's art · rw leads, then come Bob's hot, Alice's art · gap and Bob's zap · rw."""
    with module_world.filled() as world:
        for number, (name, configuration) in enumerate(ENTRIES):
            one = world.submit(
                (world.alice, world.bob)[number % 2],
                name=name,
                content=world.library + bytes([number]),
                description=f"try number {number}",
            )
            one.configuration = configuration
            one.save()
            while one.runs.filter(state="queued").exists():
                finish(claim(), slower=1.0 + number / 4)


def names(client: Client, query: str = "") -> list[str]:
    """Return the names of the rows that the board shows, with their ranks."""
    page = client.get(f"{PATH}{query}").content.decode()
    table = page[page.index("<table") : page.index("</table>")] if "<table" in page else ""
    ranks = re.findall(r'class="rank">([^<]+)<', table)
    found = re.findall(r"<b>(\w+)</b> · ([\w ]+)<", table)
    return [f"{rank} {name} {variant}" for rank, (name, variant) in zip(ranks, found, strict=True)]


def order(client: Client, query: str) -> list[str]:
    return [line.split(" ", 1)[1] for line in names(client, query)]


BY_RANK = ["art rw", "hot whole library", "art gap", "zap rw"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", BY_RANK),
        ("?sort=rank", BY_RANK),
        ("?sort=nonsense", BY_RANK),
        ("?sort=-nonsense", BY_RANK),
        ("?sort=-rank", BY_RANK[::-1]),
        ("?sort=entry", ["art gap", "art rw", "hot whole library", "zap rw"]),
        ("?sort=-entry", ["zap rw", "hot whole library", "art rw", "art gap"]),
        ("?sort=-ratio", BY_RANK[::-1]),
        ("?sort=-result", BY_RANK[::-1]),
        ("?sort=sessions", BY_RANK),
        ("?sort=-submitted", BY_RANK[::-1]),
        ("?structure=art", ["art rw", "art gap"]),
        ("?user=bob", ["hot whole library", "zap rw"]),
        ("?concurrency=own", ["hot whole library"]),
        ("?q=ZAP+bob", ["zap rw"]),
        ("?q=number+2", ["art gap"]),
        ("?q=nowhere", []),
        ("?structure=art&q=rw", ["art rw"]),
        ("?structure=art&sort=-rank", ["art gap", "art rw"]),
    ],
)
def test_the_address_decides_rows_and_order(
    board: None, client: Client, query: str, expected: list[str]
) -> None:
    assert order(client, query) == expected


def test_filtered_rows_keep_their_rank_on_the_whole_board(board: None, client: Client) -> None:
    every = names(client)
    filtered = names(client, "?user=bob&sort=-rank")
    assert filtered
    assert set(filtered) < set(every)
    page = client.get(f"{PATH}?user=bob").content.decode()
    assert "2 of 4 entries. The ranks are those of the whole board." in " ".join(page.split())


def test_a_configuration_is_found_by_its_strategy(board: None, client: Client) -> None:
    page = client.get(PATH).content.decode()
    strategies = re.search(r'<select name="strategy">(.*?)</select>', page, re.DOTALL)
    assert strategies
    values = [value for value in re.findall(r'value="([^"]+)"', strategies[1]) if value != "own"]
    assert values
    found = [name for value in values for name in order(client, f"?strategy={value}")]
    assert sorted(found) == ["art gap", "art rw", "zap rw"]


def sorts(page: str) -> dict[str, str]:
    """Return the columns with aria-sort."""
    return {
        name: direction
        for direction, name in re.findall(r'aria-sort="(\w+)"><a [^>]*>([^<]+)<', page)
    }


def test_headings_sort_and_say_so(board: None, client: Client) -> None:
    page = client.get(PATH).content.decode()
    assert sorts(page) == {"Rank": "ascending"}
    page = client.get(f"{PATH}?sort=entry&user=bob&q=try").content.decode()
    assert sorts(page) == {"Entry": "ascending"}
    links = {
        name: address.replace("&amp;", "&")
        for address, name in re.findall(r'class="sort[^>]*><a href="([^"]+)">([^<]+)<', page)
    }
    assert "sort=-entry" in links["Entry"]
    assert "sort=sessions" in links["Sessions"]
    assert "sort=" not in links["Rank"]
    for address in links.values():
        assert "user=bob" in address
        assert "q=try" in address
        assert client.get(address).status_code == 200


def test_bands_are_drawn_only_on_the_whole_board_in_its_order(board: None, client: Client) -> None:
    assert "tied" in client.get(PATH).content.decode()
    for query in ("?sort=entry", "?user=bob"):
        assert "tied" not in client.get(f"{PATH}{query}").content.decode(), query


def test_exports_have_the_chosen_rows(board: None, client: Client) -> None:
    page = client.get(f"{PATH}?user=bob&sort=-entry").content.decode()
    (address,) = re.findall(r'href="(/boards/preliminary1.json[^"]*)"', page)
    rows = client.get(address.replace("&amp;", "&")).json()["rows"]
    assert [row["library"] for row in rows] == ["zap.so", "hot.so"]
    lines = client.get("/boards/preliminary1.csv?user=bob&sort=-entry").content.decode()
    assert len(lines.splitlines()) == 3
    assert [row["position"] for row in rows] == [4, 2]


def test_the_search_is_text(board: None, client: Client) -> None:
    page = client.get(PATH, {"q": '"><script>', "sort": '"><b>', "user": "<i>"}).content.decode()
    assert "<script>" not in page.split("</head>")[1]
    assert "No ranked entry matches the search." in page
    assert client.get(PATH, {"q": "x" * 5000}).status_code == 200


@pytest.mark.parametrize("query", ["", "?sort=-result&q=try", "?user=bob"])
def test_the_choice_costs_no_statement(
    board: None, client: Client, query: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(2):
        client.get(f"{PATH}{query}")


def test_the_history_names_the_leaders_and_old_versions(
    board: None, client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    note_leads()
    BoardEntry.objects.filter(position=4, board="preliminary1").update(benchmark_version=0)
    with django_assert_num_queries(2):
        page = client.get(f"{PATH}history/").content.decode()
    assert "<b>art</b> · rw" in page
    assert "today" in page
    (old,) = re.findall(r'href="([^"]*version=0)"', page)
    shown = client.get(old.replace("&amp;", "&")).content.decode()
    assert "Superseded:" in shown
    assert "<b>zap</b>" in shown
    assert "<b>hot</b>" not in shown
    assert 'name="version" value="0"' not in shown  # one entry needs no filters
    assert "version=0" in "".join(_hrefs(shown, ".csv"))


def _hrefs(page: str, part: str) -> Iterable[str]:
    return (address for address in re.findall(r'href="([^"]+)"', page) if part in address)


def test_an_empty_board_has_an_empty_history(client: Client) -> None:
    page = client.get("/boards/ycsb_a/history/").content.decode()
    assert "No library has been ranked on this board yet." in page
    assert client.get("/boards/none/history/").status_code == 404
