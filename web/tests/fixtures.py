"""What tests of the site need, here and in tests/: people, a library, storage below a temporary folder."""

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
    """Run the site as the embedded demo does; plots of each test lie apart, static files have plain names."""
    settings.STORAGES = {
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": str(own_var / "artefacts")},
        },
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    # Every test's browser has a handler of its own, and each would read all static files first.
    settings.WHITENOISE_AUTOREFRESH = True
    settings.KEYDROME_SCALE = settings.KEYDROME_BOARD_SCALE = "smoke"
    settings.KEYDROME_SESSIONS = 3
    # Hashing is slow on purpose; these passwords guard nothing.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    cache.clear()


@pytest.fixture
def world(db: None, library: bytes) -> World:
    """Alice, Bob, Olga and a library."""
    alice, bob = (User.objects.create_user(name, password=PASSWORD) for name in ("alice", "bob"))
    olga = User.objects.create_superuser("olga", password=PASSWORD)
    return World(alice=alice, bob=bob, olga=olga, library=library)


def logged_in(user: User) -> Client:
    """Return a browser in which this user is logged in."""
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client
