"""Tests the WSGI application: the garbage collector does not look at the site's code while people wait."""

from __future__ import annotations

import subprocess
import sys

from runner.settings import load_settings

# The last number is 1 if all views are loaded. Views that the first requests load would not be exempt.
_PROGRAM = (
    "import gc, sys, web.wsgi; "
    "print(len(gc.get_objects()), gc.get_freeze_count(), int('web.boards.views' in sys.modules))"
)


def test_what_the_site_has_loaded_is_exempt_from_garbage_collection() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        cwd=load_settings({}).root,
        capture_output=True,
        text=True,
        check=True,
    )
    checked, exempt, has_views = map(int, answer.stdout.split())
    assert has_views
    assert exempt > 100 * checked
