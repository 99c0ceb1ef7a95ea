"""Imports fixtures of web/tests, so that the tests in this folder can use them too."""

from web.tests.fixtures import embedded_site, library, world

__all__ = ["embedded_site", "library", "world"]
