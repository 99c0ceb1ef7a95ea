"""`./dev soak`: the long versions of the suites, for whoever has an evening.

KEYDROME_SOAK multiplies seeds, rounds and repetitions in the tests that know it; the whole `./dev test` list runs with
it.
"""

from __future__ import annotations

import os

from dev.testing import test

FACTOR = "20"


def soak() -> int:
    """Run every suite with the long factor; the same table and exit code as `./dev test`."""
    os.environ.setdefault("KEYDROME_SOAK", FACTOR)
    return test(fast=False, only=None)
