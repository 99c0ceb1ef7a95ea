"""The jail without root: a user namespace of its own. Less than a pool user, and it says so."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from jail.tests.jailing import FIRST_SLOT, FIRST_UID, HOSTILE, JAIL, PATIENCE_S, Jails, Outcome

CALLER = 54321  # nobody's
INSIDE = FIRST_UID + FIRST_SLOT
CONTROLLERS = {"memory", "pids", "cpu_time", "freeze"}


@dataclass(frozen=True)
class Ordinary:
    """Runs jails as an ordinary user, with programs that this user can reach."""

    folder: Path

    def run(self, program: str, *options: str, enter: str = "") -> Outcome:
        """Runs a program in a jail; `enter` is done as root before."""
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
            timeout=PATIENCE_S,
            check=False,
        )
        os.close(writing)
        with os.fdopen(reading) as pipe:
            meta = dict(line.split(":", 1) for line in pipe.read().splitlines())
        return Outcome(done.returncode, meta, done.stdout, done.stderr)


@pytest.fixture
def ordinary(jails: Jails) -> Iterator[Ordinary]:
    """A folder that everybody can read, unlike pytest's, with the jail in it; and nothing left afterwards."""
    with tempfile.TemporaryDirectory(prefix="keydrome-jail-") as name:
        Path(name).chmod(0o755)
        shutil.copy(JAIL, name)
        yield Ordinary(Path(name))


@pytest.fixture
def parent() -> Iterator[str]:
    """A group that is handed over to the user, in every hierarchy; v2 wants the caller in a group below."""
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
    """Returns shell that moves itself into the caller's group of a v2 hierarchy, if there is one."""
    places = f"/sys/fs/cgroup/{parent} /sys/fs/cgroup/*/{parent}"
    enter = "test -e $each/caller && echo $$ > $each/caller/cgroup.procs"
    return f"for each in {places}; do {enter}; done;"


def test_level_without_groups_check(ordinary: Ordinary) -> None:
    outcome = ordinary.run("surroundings", "--require", "weak")
    assert outcome.code == 0, outcome.stderr
    mechanisms = set(outcome.meta["mechanisms"].split(","))
    assert outcome.meta["level"] == "weak"
    assert "user_namespace" in mechanisms
    assert "uid" not in mechanisms
    assert set(outcome.meta["missing"].split(",")) >= {"uid", *CONTROLLERS}
    assert outcome.meta["status"] == "exited"
    assert outcome.meta["left"] == ""
    lines = outcome.stdout.splitlines()
    assert f"ids {INSIDE} {INSIDE} {INSIDE} {INSIDE}" in lines
    assert {"host jail", "process 2 1", "no_new_privs 1", "descriptors 0 1 2"} <= set(lines)


def test_full_is_refused_to_an_ordinary_user(ordinary: Ordinary) -> None:
    outcome = ordinary.run("surroundings")
    assert outcome.code == 3
    assert outcome.stdout == ""
    assert outcome.meta["status"] == "refused"
    assert "missing: uid" in outcome.stderr


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


def test_groups_that_were_handed_over(ordinary: Ordinary, parent: str) -> None:
    options = ["--require", "weak", "--cgroup-parent", parent]
    options += ["--memory-bytes", str(32 << 20)]
    outcome = ordinary.run("memory_hog", *options, enter=into_group(parent))
    assert outcome.code == 0, outcome.stderr
    assert set(outcome.meta["mechanisms"].split(",")) >= CONTROLLERS
    assert outcome.meta["level"] == "weak", "the user is still the caller's own"
    assert outcome.meta["status"] == "out_of_memory"
    assert outcome.meta["left"] == ""


def test_groups_that_were_not_handed_over(ordinary: Ordinary) -> None:
    outcome = ordinary.run("idle", "--require", "weak")
    assert outcome.meta["cgroup"] == "none"
    assert "Permission denied" in outcome.meta["note"]
