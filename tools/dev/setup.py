"""`./dev build`: everything that compiling needs, then the release build."""

from __future__ import annotations

from dev import build, packages, python_env
from dev.steps import Timings, become_root


def set_up_build() -> int:
    """Install what building needs and build the release preset."""
    become_root()
    timings = Timings()
    with timings.measure("packages"):
        packages.install(packages.BUILD)
    with timings.measure("python"):
        python_env.ensure()
    with timings.measure("build"):
        build.build("release")
    print(timings.table())
    return 0
