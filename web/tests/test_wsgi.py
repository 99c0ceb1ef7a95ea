"""Tests the WSGI application: the garbage collector does not look at the site's code while people wait."""

from __future__ import annotations

import subprocess
import sys

from runner.settings import load_settings

_PROGRAM = """
import gc
import sys
import web.wsgi
assert "web.boards.views" in sys.modules, "the first requests would load views, which would not be exempt"
print(len(gc.get_objects()), gc.get_freeze_count())
"""


def test_what_the_site_has_loaded_is_exempt_from_garbage_collection() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        cwd=load_settings({}).root,
        capture_output=True,
        text=True,
        check=True,
    )
    checked, exempt = map(int, answer.stdout.split())
    assert exempt > 100 * checked
