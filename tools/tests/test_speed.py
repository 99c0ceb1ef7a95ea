"""Tests of tools/dev/speed.py: a measured section replaces the section with the same title on the page of figures."""

from __future__ import annotations

import pytest
from dev.speed import with_section

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
