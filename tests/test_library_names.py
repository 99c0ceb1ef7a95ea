"""Tests that the programs for developers load a library that is named without a folder, as the guides name it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.binaries import built_settings, library

if TYPE_CHECKING:
    from pathlib import Path

NO_TEST = "--gtest_filter=-*"
SMALLEST = ("--counts", "1000", "--rounds", "1", "--operations", "100", "--without-peers")


@pytest.mark.parametrize(
    ("program", "folder", "name", "options"),
    [
        ("tests/contract_test", "indexes", "global_lock", (NO_TEST, "--library")),
        ("tests/structure_contract_test", "structures", "student", (NO_TEST, "--library")),
        ("bin/structure_bench", "structures", "student", SMALLEST),
    ],
)
def test_a_file_name_is_enough(
    program: str, folder: str, name: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    settings = built_settings()
    (tmp_path / "mine.so").symlink_to(library(settings, folder, name))
    ended = subprocess.run(
        [settings.build / program, *options, "mine.so"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
