"""Tests the published boards, i.e. rankings: each ranks an existing benchmark instance; the pages list every board."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from leaderboard import catalogue
from leaderboard.boards import all_boards, main_boards
from runner.manifest import find_benchmark

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db


def test_every_board_ranks_what_there_is() -> None:
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


def test_main_boards_come_with_the_form() -> None:
    assert [board.slug for board in main_boards()] == ["preliminary1", "preliminary2"]
    assert len(all_boards()) > len(main_boards())
    assert [str(target) for target in catalogue.main_targets()] == [
        "sigmod2009/preliminary1",
        "sigmod2009/preliminary2",
    ]


def test_every_board_is_listed_main_ones_first(client: Client) -> None:
    page = client.get("/boards/").content.decode()
    content = page[page.index("<main") :]
    listed = re.findall(r'<h2><a href="/boards/(\w+)/">', content)
    assert sorted(listed) == sorted(board.slug for board in all_boards())
    assert listed[:2] == [board.slug for board in main_boards()]
    assert f"{len(listed) - 2} more boards" in client.get("/").content.decode()
