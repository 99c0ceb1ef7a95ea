"""Fixtures for the jail's tests: they provide jails, and check that each test leaves nothing on the machine."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from jail.tests.jailing import JAIL, Jails, groups, jailed_processes


@pytest.fixture(scope="session", autouse=True)
def _built() -> None:
    assert os.geteuid() == 0, "the jail's tests must run as root"
    assert JAIL.exists(), f"{JAIL} is missing: build first, or set KEYDROME_BUILD to a build folder"


@pytest.fixture
def jails() -> Iterator[Jails]:
    """Provides jails. Afterwards checks that the test has left no process, no control group and no mount."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    jails = Jails()
    yield jails
    jails.end()
    assert jailed_processes() == []
    assert groups() == []
    new = set(Path("/proc/self/mountinfo").read_text().splitlines()) - set(mounts)
    assert [line for line in new if "tmpfs" in line] == []
