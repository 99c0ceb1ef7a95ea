"""Finds the built binaries for the tests that run them. If one is missing, the test fails and says what to build."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from runner.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path

    from runner.settings import Settings


def built_settings() -> Settings:
    """Return the settings of this build; fail the test if a binary is missing or the user is not root."""
    settings = load_settings()
    missing = settings.missing_binaries()
    if missing:
        pytest.fail(
            f"these binaries are missing: {', '.join(map(str, missing))}: run ./dev build, or set KEYDROME_BUILD "
            "to the folder of a build"
        )
    if os.geteuid() != 0:
        pytest.fail("the jail needs root: run these tests with sudo")
    return settings


def library(settings: Settings, folder: str, name: str) -> Path:
    """Return lib/FOLDER/NAME.so of the build."""
    path = settings.build / "lib" / folder / f"{name}.so"
    if not path.is_file():
        pytest.fail(
            f"the library {path} is missing: run ./dev build, or set KEYDROME_BUILD to the folder of a build"
        )
    return path
