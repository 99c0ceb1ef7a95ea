"""Fixtures of all Python tests: every test has data folders of its own and sees no site of the developer's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings as hypothesis

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


# `./dev soak` tries more examples of every property, `./dev test --fast` fewer. None has a deadline: how long an
# example takes says what else the machine does.
hypothesis.register_profile("fast", max_examples=20, deadline=None)
_SOAK = int(os.environ.get("KEYDROME_SOAK", "1"))
hypothesis.register_profile("all", max_examples=hypothesis().max_examples * _SOAK, deadline=None)
hypothesis.load_profile("all")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Put SQLite's test database into a file, so that tests can start further processes on it."""
    from django.db import connections  # noqa: PLC0415 - settings must not be read before they are needed

    settings = connections["default"].settings_dict
    if settings["ENGINE"] == "django.db.backends.sqlite3":
        settings["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@pytest.fixture(scope="session", autouse=True)
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keep rings away from the developer's site; return a KEYDROME_VAR with which a worker hears them."""
    from web.celery import app  # noqa: PLC0415 - settings must not be read before they are needed

    var = tmp_path_factory.mktemp("broker-var")
    if app.conf.broker_url.startswith("filesystem:"):
        folders = {
            "data_folder_in": "messages",
            "data_folder_out": "messages",
            "processed_folder": "processed",
            "control_folder": "control",
        }
        for option, name in folders.items():
            folder = var / "broker" / name
            folder.mkdir(parents=True, exist_ok=True)
            app.conf.broker_transport_options[option] = str(folder)
    return var


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Hash the tests' passwords cheaply: the real hasher is slow on purpose, half a second an account."""
    from django.test import override_settings  # noqa: PLC0415 - settings must not be read before they are needed

    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(autouse=True)
def own_var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a KEYDROME_VAR of its own: blobs, locks, artefacts."""
    var = tmp_path / "var"
    var.mkdir(mode=0o700)
    monkeypatch.setenv("KEYDROME_VAR", str(var))
    return var
