"""Imports fixtures of web/tests and of browsing.py, so that the tests in this folder can use them too."""

from tests.browsing import browser, library_file, page
from web.tests.contests.cups import cup
from web.tests.fixtures import embedded_site, library, world

__all__ = ["browser", "cup", "embedded_site", "library", "library_file", "page", "world"]
