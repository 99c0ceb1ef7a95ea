"""Defines fixtures for tests of the site, in web/tests and in tests/: users, a library, and a temporary storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from web.tests.world import PASSWORD, World, compile_library

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_django.fixtures import Settings


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A shared library that the inspection accepts."""
    return compile_library(tmp_path_factory.mktemp("library"))


@pytest.fixture
def embedded_site(own_var: Path, settings: Settings) -> None:
    """Use the settings of the embedded site, which needs no other servers, with few sessions at smoke scale.

    Plots go to a folder of this test, and static files have plain names.
    """
    settings.STORAGES = {
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(own_var / "artefacts")},
        },
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    # Without this setting, WhiteNoise (the middleware for static files) would read all static files in every test.
    settings.WHITENOISE_AUTOREFRESH = True
    settings.KEYDROME_SCALE = settings.KEYDROME_BOARD_SCALE = "smoke"
    settings.KEYDROME_SESSIONS = 3
    # The usual hash is slow on purpose. A fast one suffices here, because these passwords protect nothing.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    cache.clear()


@pytest.fixture
def world(db: None, library: bytes) -> World:
    """The users Alice, Bob and Olga, and a library that they can submit."""
    alice, bob = (User.objects.create_user(name, password=PASSWORD) for name in ("alice", "bob"))
    olga = User.objects.create_superuser("olga", password=PASSWORD)
    return World(alice=alice, bob=bob, olga=olga, library=library)


def logged_in(user: User) -> Client:
    """Return a browser in which this user is logged in."""
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client
