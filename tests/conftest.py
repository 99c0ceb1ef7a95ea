"""Fixtures that the tests across rooms share with the site's own tests."""

from web.tests.fixtures import embedded_site, library, world

__all__ = ["embedded_site", "library", "world"]
