"""Gives the tests of the command line the fixtures of the runner's tests, such as compiled libraries."""

from runner.tests.conftest import compiled, good_library, settings

__all__ = ["compiled", "good_library", "settings"]
