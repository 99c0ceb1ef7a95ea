"""Tests of tools/dev/speed.py: a measured section replaces the section with the same title on the page of figures.

A figure that misses its target says by how much.
"""

from __future__ import annotations

import pytest
from dev.speed import bench, missed, with_section
from dev.steps import StepError

PAGE = "# Figures\n\nhead\n\n## One\n\n1\n\n## Two\n\n2\n"


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("## One\n\nnew\n", "# Figures\n\nhead\n\n## One\n\nnew\n\n## Two\n\n2\n"),
        ("## Two\n\nnew\n", "# Figures\n\nhead\n\n## One\n\n1\n\n## Two\n\nnew\n"),
        ("## Three\n\n3\n", PAGE + "\n## Three\n\n3\n"),
    ],
)
def test_a_section_takes_the_place_of_the_one_with_its_title(section: str, expected: str) -> None:
    assert with_section(PAGE, section) == expected
    assert with_section(expected, section) == expected


def test_a_section_that_does_not_exist_is_refused_before_anything_is_measured() -> None:
    with pytest.raises(
        StepError, match=r"there is no section pages; the sections are: harness cost, "
    ):
        bench(["judging", "pages"])


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({}, ""),
        ({"measured": 1.0}, ""),
        ({"measured": 1.0, "at_most": 1.0}, ""),
        ({"measured": 1.2, "at_most": 1.0}, "; *missed* by 20%"),
        ({"measured": 340.0, "at_most": 50}, "; *missed* by a factor of 6.8"),
        ({"measured": 5.0, "at_least": 5.0}, ""),
        ({"measured": 4.0, "at_least": 5.0}, "; *missed* by 25%"),
        ({"measured": 9.0, "at_most": None, "at_least": None}, ""),
    ],
)
def test_a_figure_says_by_how_much_it_misses_its_target(
    row: dict[str, float | None], text: str
) -> None:
    assert missed(row) == text
