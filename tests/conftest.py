"""Imports fixtures of web/tests, so that the tests in this folder can use them too."""

from web.tests.contests.cups import cup
from web.tests.fixtures import embedded_site, library, world

__all__ = ["cup", "embedded_site", "library", "world"]
