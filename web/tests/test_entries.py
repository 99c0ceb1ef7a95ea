"""Tests the pages with the ranked entries of a user, or of all files with one name (the name of a structure).

Also tests the links from boards (rankings) to these pages and to the correctness tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leaderboard.catalogue import Target
from web.tests.world import BOARD, World, finish_all, run_of

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

pytestmark = pytest.mark.django_db


def test_the_page_of_a_user_has_all_boards_and_only_own_entries(
    client: Client, world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    mine = world.submit(targets=(BOARD, Target("ycsb", "a")))
    world.submit(world.bob, name="other.so", content=world.library + b"other")
    finish_all()
    with django_assert_num_queries(3):
        page = client.get("/boards/users/alice/").content.decode()
    assert page.index(">Preliminary 1</a></td>") < page.index(">YCSB A</a></td>")
    assert "other" not in page[page.index("<tbody") :]
    assert f'href="/runs/{run_of(mine).pk}/"' in page
    assert f'href="/submissions/{mine.pk}/#tests"' in page
    assert 'href="/boards/configurations/ycsb/?user=alice"' in page
    assert 'href="/boards/structures/mine/"' in page


def test_the_page_of_a_structure_has_all_users(client: Client, world: World) -> None:
    world.submit(name="tree.so")
    world.submit(world.bob, name="tree.so", content=world.library + b"bob")
    world.submit(world.bob, name="other.so", content=world.library + b"other")
    finish_all()
    page = client.get("/boards/structures/tree/").content.decode()
    rows = page[page.index("<tbody") :]
    assert rows.count("<tr") == 2
    assert 'href="/boards/users/alice/"' in rows
    assert 'href="/boards/users/bob/"' in rows
    assert "other" not in rows


@pytest.mark.parametrize("name", ["bob", "nobody", "%3Cb%3E", "a" * 300])
def test_users_without_entries_and_unknown_users_look_the_same(
    client: Client, world: World, name: str
) -> None:
    world.submit()
    finish_all()
    for kind in ("users", "structures"):
        assert client.get(f"/boards/{kind}/{name}/").status_code == 404


def test_a_row_of_a_board_links_to_its_tests_and_its_user(client: Client, world: World) -> None:
    mine = world.submit()
    finish_all()
    page = client.get("/boards/preliminary1/").content.decode()
    assert f'href="/submissions/{mine.pk}/#tests"' in page
    assert 'href="/boards/users/alice/"' in page
