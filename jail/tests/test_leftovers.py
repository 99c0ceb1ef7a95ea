"""Tests that a finished jail leaves nothing and checks this itself, and that `jail --sweep` removes all leftovers.

Leftovers are processes and control groups of a killed jail. They belong to the jail's slot, a number that the caller
chooses and that only one jail at a time may use. The processes run as user 60000 + slot, and the control groups have
the name keydrome-slot-SLOT.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jail.tests.jailing import (
    BACKENDS,
    FIRST_SLOT,
    FIRST_UID,
    JAIL,
    Jails,
    groups,
    jailed_processes,
    until,
)

USER = FIRST_UID + FIRST_SLOT


@pytest.fixture
def stray() -> Iterator[subprocess.Popen[bytes]]:
    """Provides a process of the slot's user that was not started by a jail."""
    process = subprocess.Popen(["sleep", "600"], user=USER, group=USER, extra_groups=[])
    yield process
    process.kill()
    process.wait()


def sweep() -> list[str]:
    """Sweep the slot of this test process and return the printed lines."""
    command = [str(JAIL), "--sweep", "--slot", str(FIRST_SLOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def killed(stray: subprocess.Popen[bytes]) -> str:
    """Return the line that a sweep prints about the process."""
    return (
        f"killed process {stray.pid} (sleep), which an earlier jail of slot {FIRST_SLOT} had left"
    )


@BACKENDS
def test_nothing_is_left(jails: Jails, backend: list[str]) -> None:
    assert jails.run("idle", options=backend).meta["left"] == "nothing"


def test_leftover_process_is_reported(jails: Jails, stray: subprocess.Popen[bytes]) -> None:
    outcome = jails.run("idle")
    assert outcome.code == 2
    assert outcome.meta["left"] == "processes"
    assert outcome.meta["status"] == "failed"
    assert outcome.meta["error"].endswith(
        f": processes {stray.pid} (sleep); an operator of this machine must run jail --sweep, which removes them"
    )
    assert "exit_code" not in outcome.meta


def test_process_of_another_user_is_no_leftover(jails: Jails) -> None:
    process = subprocess.Popen(["sleep", "600"], user=USER + 1, group=USER, extra_groups=[])
    try:
        assert jails.run("idle").meta["left"] == "nothing"
    finally:
        process.kill()
        process.wait()


def test_zombie_is_no_leftover(jails: Jails, stray: subprocess.Popen[bytes]) -> None:
    stray.kill()
    until(lambda: jailed_processes() == [], "the process is dead")
    assert jails.run("idle").meta["left"] == "nothing"


@BACKENDS
def test_sweep_after_a_jail_was_killed(
    jails: Jails, stray: subprocess.Popen[bytes], backend: list[str]
) -> None:
    started = jails.start("spin", options=backend)
    started.wait_until_running()
    started.process.kill()
    started.finish()
    left = groups()
    assert left
    found = sweep()
    assert killed(stray) in found
    assert {line for line in found if "group" in line} == {
        f"removed the control group {path}, which an earlier jail had left" for path in left
    }
    stray.wait(timeout=30)
    assert groups() == []
    assert sweep() == []


def test_sweep_leaves_running_jails_alone(jails: Jails, stray: subprocess.Popen[bytes]) -> None:
    started = jails.start("sleep_for_ever")
    started.wait_until_running()
    assert sweep() == []
    assert stray.poll() is None
    assert started.process.poll() is None
    started.process.terminate()
    assert started.finish().meta["left"] == "processes"


def test_sweep_of_all_slots_leaves_reserved_slots_alone(
    jails: Jails, stray: subprocess.Popen[bytes]
) -> None:
    """The processes that run jails for a site sweep all slots when they start, and hold the names of their own slots.

    This test process also holds the names of its slots.
    """
    done = subprocess.run([JAIL, "--sweep"], capture_output=True, text=True, check=False)
    assert stray.poll() is None
    assert f"slot {FIRST_SLOT}" not in done.stdout
    assert sweep() == [killed(stray)]


def test_sweep_of_a_clean_slot_leaves_it_clean(jails: Jails) -> None:
    assert sweep() == []
    assert groups() == []


def test_sweep_needs_groups(jails: Jails) -> None:
    """Without control groups there is no lock, so a sweep could kill running jails. The sweep must refuse to start."""
    script = f"umount -l /sys/fs/cgroup; exec {JAIL} --sweep --slot {FIRST_SLOT}"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "cannot tell running jails from dead ones" in done.stderr


def test_sweep_reports_a_slot_that_it_cannot_lock(
    jails: Jails, stray: subprocess.Popen[bytes]
) -> None:
    script = (
        "for mount in $(grep cgroup /proc/self/mounts | cut -d' ' -f2); do mount -o remount,bind,ro $mount; done; "
        f"exec {JAIL} --sweep --slot {FIRST_SLOT}"
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"the leftovers of slot {FIRST_SLOT} stay" in done.stderr
    assert "Read-only file system; make the control groups writable" in done.stderr
    assert stray.poll() is None


def group_that_cannot_be_removed_is_reported(jails: Jails) -> None:
    started = jails.start("sleep_for_ever")
    started.wait_until_running()
    guest = subprocess.Popen(["sleep", "600"])
    Path(groups()[0], "cgroup.procs").write_text(str(guest.pid))
    started.process.terminate()
    outcome = started.finish()
    guest.kill()
    guest.wait()
    assert outcome.code == 2
    assert outcome.meta["left"] == "groups"
    assert outcome.meta["status"] == "failed"
    assert sweep() != []


if "KEYDROME_SOAK" in os.environ:  # waits for the jail's timeout of five seconds
    test_group_that_cannot_be_removed_is_reported = group_that_cannot_be_removed_is_reported
