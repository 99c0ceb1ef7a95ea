"""Fixtures of all Python tests: every test has data folders of its own and sees no site of the developer's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Put SQLite's test database into a file, so that tests can start further processes on it."""
    from django.db import connections  # noqa: PLC0415 - settings must not be read before they are needed

    settings = connections["default"].settings_dict
    if settings["ENGINE"] == "django.db.backends.sqlite3":
        settings["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@pytest.fixture(autouse=True)
def own_var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a KEYDROME_VAR of its own: blobs, locks, artefacts."""
    var = tmp_path / "var"
    var.mkdir(mode=0o700)
    monkeypatch.setenv("KEYDROME_VAR", str(var))
    return var
