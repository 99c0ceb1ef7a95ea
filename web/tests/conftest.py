"""Defines the fixtures of the site's tests: the embedded site, and one browser for each of three users.

The embedded site is the site with its default settings, which needs no database server and no Redis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leaderboard.tests.drawings import drawn_once
from leaderboard.tests.inspections import inspected_once
from web.tests.fixtures import embedded_site, library, logged_in, module_world, world

if TYPE_CHECKING:
    from django.test import Client

    from web.tests.world import World

__all__ = ["drawn_once", "embedded_site", "inspected_once", "library", "module_world", "world"]


@pytest.fixture(autouse=True)
def _always_embedded(embedded_site: None) -> None:
    """Run every test with the settings of the embedded site."""


@pytest.fixture
def alice(world: World) -> Client:
    """A browser in which Alice, a contestant, is logged in."""
    return logged_in(world.alice)


@pytest.fixture
def bob(world: World) -> Client:
    """A browser in which Bob, another contestant, is logged in."""
    return logged_in(world.bob)


@pytest.fixture
def olga(world: World) -> Client:
    """A browser in which Olga, an organiser, is logged in."""
    return logged_in(world.olga)
