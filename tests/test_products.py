"""Tests that the CMake target `products`, which `./dev up` builds, contains everything that a site needs.

These are the binaries that the runner starts and all reference libraries.
"""

from __future__ import annotations

import shlex
import subprocess
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from leaderboard.management.commands.add_reference import all_references
from tests.binaries import built_settings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def products() -> set[Path]:
    """Return every file that a command of the target writes."""
    build = built_settings().build
    listed = subprocess.run(
        ["ninja", "-C", str(build), "-t", "commands", "products"],
        capture_output=True,
        text=True,
        check=True,
    )
    words = [shlex.split(line) for line in listed.stdout.splitlines()]
    return {
        build / following for line in words for word, following in pairwise(line) if word == "-o"
    }


def test_programs_and_libraries_that_every_run_needs_are_products(products: set[Path]) -> None:
    assert set(built_settings().needed_binaries()) - products == set()


def test_reference_libraries_are_products(products: set[Path]) -> None:
    assert {reference.path for reference in all_references()} - products == set()
