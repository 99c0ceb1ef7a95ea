"""Tests what a configuration board shows: losses, the best of a column, robustness, filters in the URL, exports.

A loss says how many times worse a result is than the best one of its column, and robustness is the largest loss of a
row.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

import pytest

from web.tests.test_configurations import PAGE, ranked, row

if TYPE_CHECKING:
    from django.test import Client

    from web.tests.fixtures import ModuleWorld

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("three")]


@pytest.fixture(scope="module")
def three(module_world: ModuleWorld) -> None:
    """Three entries: btree · rw and btree · occ on two boards, and art on one."""
    with module_world.filled() as world:
        ranked(world, "rw", {"a": 1.0, "c": 3.0})
        ranked(world, "occ", {"a": 1.2, "c": 1.0})
        ranked(world, "", {"a": 2.0}, name="art.so", content=world.library + b"art")


def test_cells_are_relative_to_the_best_of_the_column(client: Client) -> None:
    page = client.get(PAGE).content.decode()
    occ, rw, art = row(page, "btree occ"), row(page, "btree rw"), row(page, "art whole library")
    assert re.findall(r'class="cell (\w+)"', rw) == ["top", "h4"]
    assert re.findall(r'class="cell (\w+)"', occ) == ["h1", "top"]
    assert re.findall(r'class="cell (\w+)"', art) == ["h3", "none"]
    assert ">1.20</a>" in occ
    assert ">3.00</a>" in rw
    assert '<span class="ratio">1.20</span>' in occ
    assert '<span class="ratio">3.00</span>' in rw
    assert "1 of 2 workloads" in art
    assert page.index("btree</b> · occ") < page.index("btree</b> · rw") < page.index("art</b>")
    assert "#tests" in occ  # the row links to the correctness tests
    # Three sessions (repetitions) are too few to rank one of the two entries first.
    assert "1\N{EN DASH}2</td>" in occ


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["btree occ", "btree rw", "art whole library"]),
        ("?structure=btree", ["btree occ", "btree rw"]),
        ("?concurrency=occ", ["btree occ"]),
        ("?strategy=direct", ["btree occ", "btree rw"]),
        ("?concurrency=own", ["art whole library"]),
        ("?user=alice&structure=art", ["art whole library"]),
        ("?user=bob", []),
        ("?structure=btree&sort=ycsb_a", ["btree rw", "btree occ"]),
        ("?workload=ycsb_a", ["btree rw", "btree occ", "art whole library"]),
        (
            "?workload=nonsense&sort=nonsense&machine=none",
            ["btree occ", "btree rw", "art whole library"],
        ),
        ("?workload=ycsb_b", []),
    ],
)
def test_the_url_filters_and_sorts(client: Client, query: str, names: list[str]) -> None:
    page = client.get(PAGE + query).content.decode()
    found = re.findall(r'<a class="entry"[^>]*><b>([^<]*)</b> · ([^<]*)</a>', page)
    assert [" ".join(pair) for pair in found] == names
    if not names:
        assert "No entry matches these filters." in page


def test_links_keep_the_other_parts_of_the_query(client: Client) -> None:
    page = client.get(f"{PAGE}?structure=btree&workload=ycsb_a&workload=ycsb_c").content.decode()
    (link,) = re.findall(r'<a href="([^"]*sort=ycsb_c[^"]*)"', page)
    assert "structure=btree" in link
    assert "workload=ycsb_a&amp;workload=ycsb_c" in link
    assert "structure=btree" in re.findall(r'href="([^"]*\.csv[^"]*)"', page)[0]


def test_exports_have_the_cells(client: Client) -> None:
    lines = list(csv.DictReader(io.StringIO(client.get(f"{PAGE[:-1]}.csv").content.decode())))
    assert [(line["configuration"], line["board"]) for line in lines] == [
        ("occ", "ycsb_a"), ("occ", "ycsb_c"), ("rw", "ycsb_a"), ("rw", "ycsb_c"), ("whole library", "ycsb_a"),
    ]  # fmt: skip
    data = client.get(f"{PAGE[:-1]}.json?structure=btree").json()
    assert data["boards"] == ["ycsb_a", "ycsb_c"]
    assert [one["robustness"] for one in data["rows"]] == pytest.approx([1.2, 3.0], rel=1e-3)
    assert data["rows"][0]["cells"][1]["loss"] == 1.0
