"""Tests configuration boards, whose rows are data structures under configurations, and whose columns are workloads.

The tests check metrics of which larger values are better, the number of SQL statements, long tables and empty boards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leaderboard import configuration_board
from leaderboard.catalogue import Target
from leaderboard.models import Run
from web.tests.world import World, claim, finish, finish_all

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

pytestmark = pytest.mark.django_db
A, C, RATE = Target("ycsb", "a"), Target("ycsb", "c"), Target("open_loop", "int64_a")
PAGE = "/boards/configurations/ycsb/"


def ranked(
    world: World,
    configuration: str,
    slower: dict[str, float],
    *,
    name: str = "btree.so",
    content: bytes | None = None,
) -> None:
    """Put a library on the boards of YCSB. `slower` maps instances to factors of its time."""
    targets = [target for target in (A, C, RATE) if target.instance in slower]
    submission = world.submit(name=name, targets=targets, content=content)
    submission.configuration = configuration
    submission.save()
    while Run.objects.filter(state="queued").exists():
        run = claim()
        finish(run, slower=slower.get(run.instance, 1.0))


def row(page: str, name: str) -> str:
    """Return the HTML of the row with this name and configuration."""
    mark = f"<b>{name.replace(' ', '</b> · ', 1)}<"
    (found,) = [part for part in page.split("<tr") if mark in part]
    return found


def test_larger_rates_are_better(client: Client, world: World) -> None:
    ranked(world, "rw", {"int64_a": 1.0})
    ranked(world, "occ", {"int64_a": 2.0})
    page = client.get(PAGE).content.decode()
    assert 'class="cell top"' in row(page, "btree rw")
    assert ">2.00</a>" in row(page, "btree occ")


def test_the_number_of_statements_does_not_depend_on_the_rows(
    client: Client, world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    ranked(world, "rw", {"a": 1.0})
    with django_assert_num_queries(6):
        client.get(PAGE)
    for number in range(3):
        ranked(world, "occ", {"a": 1.0, "c": 1.0}, content=world.library + bytes([number]))
    with django_assert_num_queries(6):
        client.get(PAGE)


def test_a_long_table_is_cut_and_says_so(
    client: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configuration_board, "ROWS_MAX", 2)
    for configuration in ("rw", "occ", "gap"):
        ranked(world, configuration, {"a": 2.0 if configuration == "gap" else 1.0})
    page = client.get(PAGE).content.decode()
    assert page.count('<a class="entry"') == 2
    assert "btree</b> · gap" not in page
    assert "The table shows only the 2 entries with results on the most workloads." in page


def test_an_empty_board_leads_to_the_form(client: Client, world: World) -> None:
    world.submit(targets=(A,))
    page = client.get(PAGE).content.decode()
    assert "No library is ranked on these workloads yet." in page
    finish_all()
    assert "No library is ranked" not in client.get(PAGE).content.decode()
