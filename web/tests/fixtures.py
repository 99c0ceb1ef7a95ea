"""Defines fixtures for tests of the site, in web/tests and in tests/: users, a library, and a temporary storage."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.test import Client, override_settings

from web.tests.world import PASSWORD, World, compile_library

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_django import DjangoDbBlocker
    from pytest_django.fixtures import Settings


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A shared library that the inspection accepts."""
    return compile_library(tmp_path_factory.mktemp("library"))


def _embedded(var: Path) -> dict[str, Any]:
    """Return the settings of the embedded site whose files are in the folder `var`."""
    return {
        "STORAGES": {
            "default": {
                "BACKEND": "django.core.files.storage.FileSystemStorage",
                "OPTIONS": {"location": str(var / "artefacts")},
            },
            "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
        },
        # Without this setting, WhiteNoise (the middleware for static files) would read all static files in every test.
        "WHITENOISE_AUTOREFRESH": True,
        "KEYDROME_SCALE": "smoke",
        "KEYDROME_BOARD_SCALE": "smoke",
        "KEYDROME_SESSIONS": 3,
        # Tests change the data between two requests, and expect to see the change at once.
        "KEYDROME_COPY_SECONDS": 0,
        # The usual hash is slow on purpose. A fast one suffices here, because these passwords protect nothing.
        "PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"],
    }


@pytest.fixture
def embedded_site(own_var: Path, settings: Settings) -> None:
    """Use the settings of the embedded site, which needs no other servers.

    Runs have few sessions (repetitions) and the smallest size (smoke scale).
    Plots go to a folder of this test, and static files have plain names.
    """
    for name, value in _embedded(own_var).items():
        setattr(settings, name, value)
    cache.clear()


@pytest.fixture
def world(db: None, library: bytes) -> World:
    """The users Alice, Bob and Olga, and a library that they can submit."""
    return _new_world(library)


@pytest.fixture(scope="module")
def module_world(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    library: bytes,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ModuleWorld]:
    """The data that all tests of a module start from. It replaces `world`, so a module uses only one of them.

    The data is written once, in a transaction around the transactions of the tests. A test's own changes are rolled
    back after the test. The data itself is rolled back after the last test of the module.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        shared = ModuleWorld(library, tmp_path_factory.mktemp("module"), django_db_blocker)
        with django_db_blocker.block():
            yield shared
        transaction.set_rollback(True)


class ModuleWorld:
    """Writes the data of `module_world`."""

    def __init__(self, library: bytes, var: Path, blocker: DjangoDbBlocker) -> None:
        self._library = library
        self._var = var
        self._blocker = blocker

    @contextmanager
    def filled(self) -> Iterator[World]:
        """Give the body of a `with` statement the users, the database, and the settings of the embedded site."""
        with (
            self._blocker.unblock(),
            override_settings(**_embedded(self._var)),
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setenv("KEYDROME_VAR", str(self._var))
            yield _new_world(self._library)


def _new_world(library: bytes) -> World:
    alice, bob = (User.objects.create_user(name, password=PASSWORD) for name in ("alice", "bob"))
    olga = User.objects.create_superuser("olga", password=PASSWORD)
    return World(alice=alice, bob=bob, olga=olga, library=library)


def logged_in(user: User) -> Client:
    """Return a browser in which this user is logged in."""
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client
