"""Tests a jail that an ordinary user starts: the program runs as that user in a user namespace.

The isolation level is "weak", because only root can give the program a user of its own.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from jail.tests.jailing import FIRST_SLOT, FIRST_UID, HOSTILE, JAIL, TIMEOUT_S, Jails, Outcome

CALLER = 54321  # a user number without an account
INSIDE = FIRST_UID + FIRST_SLOT
CONTROLLERS = {"memory", "pids", "cpu_time", "freeze"}


@dataclass(frozen=True)
class Ordinary:
    """Runs jails as an ordinary user, from a folder that this user can read."""

    folder: Path

    def run(self, program: str, *options: str, enter: str = "") -> Outcome:
        """Run a program in a jail. `enter` is shell code that root executes first."""
        shutil.copy(HOSTILE / program, self.folder)
        reading, writing = os.pipe()
        command = f"{self.folder}/jail --slot {FIRST_SLOT} --meta-fd {writing} --bind"
        command += f" {self.folder}/{program}:/program {' '.join(options)} -- /program"
        user = f"setpriv --reuid {CALLER} --regid {CALLER} --clear-groups"
        done = subprocess.run(
            ["sh", "-c", f"{enter} exec {user} {command}"],
            pass_fds=(writing,),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        os.close(writing)
        with os.fdopen(reading) as pipe:
            meta = dict(line.split(":", 1) for line in pipe.read().splitlines())
        return Outcome(done.returncode, meta, done.stdout, done.stderr)


@pytest.fixture
def ordinary(jails: Jails) -> Iterator[Ordinary]:
    """Provides a folder that contains the jail. All users can read it, unlike the folders of pytest."""
    with tempfile.TemporaryDirectory(prefix="keydrome-jail-") as name:
        Path(name).chmod(0o755)
        shutil.copy(JAIL, name)
        yield Ordinary(Path(name))


@pytest.fixture
def parent() -> Iterator[str]:
    """Makes a control group in every hierarchy and delegates it to the user. Yields the name of the groups.

    In the v2 hierarchy, also makes the group `caller` below it, from which the user can start the jail.
    """
    mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    places = [Path(fields[4], f"keydrome-test-{os.getpid()}") for fields in mounts if "-" in fields]
    places = [place for place in places if (place.parent / "cgroup.procs").exists()]
    for place in places:
        place.mkdir()
        for name in ("", "cgroup.procs", "cgroup.subtree_control", "tasks"):
            if (place / name).exists():
                os.chown(place / name, CALLER, CALLER)
        if (place / "cgroup.controllers").exists():
            (place / "caller").mkdir()
            os.chown(place / "caller" / "cgroup.procs", CALLER, CALLER)
            for each in ("memory", "pids"):
                if each in (place.parent / "cgroup.controllers").read_text().split():
                    (place.parent / "cgroup.subtree_control").write_text(f"+{each}")
    yield places[0].name
    for place in places:
        if (place / "caller").exists():
            (place / "caller").rmdir()
        place.rmdir()


def into_group(parent: str) -> str:
    """Return shell code that moves the shell into the caller's v2 group, if that group exists."""
    places = f"/sys/fs/cgroup/{parent} /sys/fs/cgroup/*/{parent}"
    enter = "test -e $each/caller && echo $$ > $each/caller/cgroup.procs"
    return f"for each in {places}; do {enter}; done;"


def test_level_without_control_groups(ordinary: Ordinary) -> None:
    outcome = ordinary.run("surroundings", "--require", "weak")
    assert outcome.code == 0, outcome.stderr
    mechanisms = set(outcome.meta["mechanisms"].split(","))
    assert outcome.meta["level"] == "weak"
    assert "user_namespace" in mechanisms
    assert "uid" not in mechanisms
    assert set(outcome.meta["missing"].split(",")) >= {"uid", *CONTROLLERS}
    assert outcome.meta["status"] == "exited"
    assert outcome.meta["left"] == "nothing"
    lines = outcome.stdout.splitlines()
    assert f"ids {INSIDE} {INSIDE} {INSIDE} {INSIDE}" in lines
    assert {"host jail", "process 2 1", "no_new_privs 1", "descriptors 0 1 2"} <= set(lines)


def test_full_is_refused_to_an_ordinary_user(ordinary: Ordinary) -> None:
    outcome = ordinary.run("surroundings")
    assert outcome.code == 3
    assert outcome.stdout == ""
    assert outcome.meta["status"] == "refused"
    assert "the jail are missing: uid" in outcome.stderr


@pytest.mark.parametrize(
    "program",
    [
        "network",
        "read_outside",
        "write_outside",
        "ptrace",
        "kill_all",
        "new_process",
        "kernel_surface",
        "kernel_work",
        "after_tighten",
    ],
)
def test_every_attempt_of_an_ordinary_user_is_refused(ordinary: Ordinary, program: str) -> None:
    outcome = ordinary.run(program, "--require", "weak")
    assert outcome.code == 0, outcome.stderr
    assert outcome.meta["exit_code"] == "0", outcome.stdout
    assert outcome.stdout.endswith("refused\n")


def test_no_capability_in_the_namespace_is_left(ordinary: Ordinary) -> None:
    outcome = ordinary.run("surroundings", "--require", "none", "--without", "seccomp")
    assert {"capabilities 0 0", "bounding 0"} <= set(outcome.stdout.splitlines())


def test_delegated_groups(ordinary: Ordinary, parent: str) -> None:
    options = ["--require", "weak", "--cgroup-parent", parent]
    options += ["--memory-bytes", str(32 << 20)]
    outcome = ordinary.run("memory_hog", *options, enter=into_group(parent))
    assert outcome.code == 0, outcome.stderr
    assert set(outcome.meta["mechanisms"].split(",")) >= CONTROLLERS
    assert outcome.meta["level"] == "weak", "the program still runs as the caller's user"
    assert outcome.meta["status"] == "out_of_memory"
    assert outcome.meta["left"] == "nothing"


def test_groups_that_were_not_delegated(ordinary: Ordinary) -> None:
    outcome = ordinary.run("idle", "--require", "weak")
    assert outcome.meta["cgroup"] == "none"
    assert "Permission denied" in outcome.meta["note"]
