"""Imports the contest of the tests in this folder."""

from web.tests.contests.cups import cup

__all__ = ["cup"]
