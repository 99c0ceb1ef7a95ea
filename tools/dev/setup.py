"""Implements `./dev build`: installs the packages that the build needs, then builds with the CMake preset `release`."""

from __future__ import annotations

from dev import build, packages, python_env
from dev.steps import Timings, become_root


def set_up_build() -> int:
    """Install packages and the Python environment, and build the release preset; return 0."""
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
