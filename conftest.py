"""Fixtures of all Python tests: they give every test its own data folders and hide the developer's site from it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings as hypothesis

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


# `./dev soak` tries more examples of every Hypothesis property, and `./dev test --fast` tries fewer. No example has a
# deadline, because its time depends on the machine's other work.
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
    """Send Celery messages to a folder of the test instead of the developer's site.

    Return the KEYDROME_VAR with which a worker started by the test receives these messages.
    """
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
    """Hash passwords with MD5, because Django's real hasher is slow on purpose: half a second per account."""
    from django.test import override_settings  # noqa: PLC0415 - settings must not be read before they are needed

    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(autouse=True)
def own_var(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a KEYDROME_VAR of its own: the folder for blobs, locks and artefacts."""
    var = tmp_path / "var"
    var.mkdir(mode=0o700)
    monkeypatch.setenv("KEYDROME_VAR", str(var))
    return var
