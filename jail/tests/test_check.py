"""Tests that `jail --check` and error messages give advice if the machine lacks or refuses something."""

import errno
import socket
import subprocess
from pathlib import Path

import pytest

from jail.tests.jailing import FIRST_SLOT, JAIL, Jails
from jail.tests.refusing import refusing

CLONE3, FSOPEN, MOUNT, MOVE_MOUNT, UNSHARE = 435, 430, 165, 429, 272
CGROUPS = "$(awk '/ - cgroup/ {print $5}' /proc/self/mountinfo)"


def check(script: str) -> tuple[int, dict[str, str], str]:
    """Run a shell script in a new mount namespace. The word JAIL in the script becomes `jail --check`."""
    script = script.replace("JAIL", f"{JAIL} --slot {FIRST_SLOT} --check")
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False
    )
    return (
        done.returncode,
        dict(line.split(":", 1) for line in done.stdout.splitlines()),
        done.stderr,
    )


def refused(*calls: int, error: int, command: list[str] | None = None) -> str:
    """Return the error message of `jail --check` on a machine that refuses the given system calls."""
    done = subprocess.run(
        command or [str(JAIL), "--check", "--slot", str(FIRST_SLOT)],
        preexec_fn=refusing(*calls, error=error),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stdout
    return done.stderr


def test_each_missing_mechanism_has_a_hint(jails: Jails) -> None:
    options = "--without cgroup --without seccomp --without nosymfollow --cpus 0"
    _code, facts, _stderr = check(f"JAIL {options}")
    missing = set(facts["missing"].split(","))
    assert missing == {name.removeprefix("remedy_") for name in facts if name.startswith("remedy_")}
    assert len(missing) == 8
    assert facts["remedy_kill"].startswith("remove the option --without cgroup;")
    assert facts["remedy_nosymfollow"].startswith("remove the option --without nosymfollow;")


def test_a_refusal_lists_only_what_the_level_needs(jails: Jails) -> None:
    code, facts, stderr = check("JAIL --without cgroup")
    assert code == 3
    assert "kill" in facts["missing"].split(",")
    assert "the jail are missing: memory,pids,cpu_time,freeze;" in stderr
    assert "remedy lines" in stderr


def test_present_mechanisms_have_no_hint(jails: Jails) -> None:
    code, facts, _stderr = check("JAIL")
    if facts["missing"] == "":
        assert code == 0
    assert [name for name in facts if name.startswith("remedy_")] == [
        f"remedy_{name}" for name in facts["missing"].split(",") if name
    ]


def test_check_needs_no_slot_that_is_in_use(jails: Jails) -> None:
    """Without --slot, --check must not use slot 0, the default, because a jail of a Keydrome site may run there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as holder:
        try:
            holder.bind("\0keydrome-slot-0")
        except OSError:
            pass  # a site of this machine uses slot 0 now, so the test leaves the slot to it
        else:
            jails.start("sleep_for_ever", slot=-FIRST_SLOT).wait_until_running()
        done = subprocess.run([JAIL, "--check"], capture_output=True, text=True, check=False)
        jails.end()
        for started in jails.started:
            started.finish()
    assert done.returncode == 0, done.stderr


def test_no_groups_are_mounted(jails: Jails) -> None:
    code, facts, stderr = check("umount -l /sys/fs/cgroup; JAIL")
    assert code == 3
    assert "level full is required" in stderr
    assert facts["cgroup"] == "none"
    assert "mount -t cgroup2" in facts["remedy_memory"]


def test_groups_are_read_only(jails: Jails) -> None:
    code, facts, _stderr = check(f"for m in {CGROUPS}; do mount -o remount,bind,ro $m; done; JAIL")
    assert code == 3
    assert facts["cgroup"] == "none"
    assert "Read-only file system" in facts["note"]
    assert "make the control groups writable" in facts["remedy_pids"]


def test_a_setting_that_the_parent_group_lacks_is_named(jails: Jails) -> None:
    hidden = f"$(dirname $(find {CGROUPS} -maxdepth 1 -name cpuset.mems))/cpuset.mems"
    _code, facts, _stderr = check(f"mount --bind /dev/null {hidden} && JAIL --cpus 0")
    assert "cpuset" in facts["missing"].split(",")
    assert facts["note"].startswith("/")
    assert facts["note"].endswith("/cpuset.mems: No data available")
    assert "the file in the note above is empty" in facts["remedy_cpuset"]


def test_read_only_groups_with_a_writable_bind(jails: Jails) -> None:
    """In a container, the control groups are often mounted read-only, and the user adds a writable bind mount."""
    bind = "mount -t tmpfs none /run; mkdir /run/groups; mount --rbind /sys/fs/cgroup /run/groups;"
    locked = "for m in $old; do mount -o remount,bind,ro $m; done;"
    code, facts, stderr = check(f'old="{CGROUPS}"; {bind} {locked} JAIL')
    assert code == 0, stderr
    assert facts["level"] == "full"


def test_v2_alone_whose_controllers_are_used_by_v1(jails: Jails) -> None:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    assert any(" - cgroup2 " in line for line in lines)
    v1 = "$(awk '/ - cgroup / {print $5}' /proc/self/mountinfo)"
    _code, facts, _stderr = check(f"umount {v1}; JAIL")
    assert facts["cgroup"] == "v2"
    assert "cgroup.subtree_control" in facts["remedy_memory"]


def test_namespaces_refused_to_root(jails: Jails) -> None:
    for call in (CLONE3, UNSHARE):
        assert "cap_add SYS_ADMIN" in refused(call, error=errno.EPERM)


ORDINARY = "setpriv --reuid 54321 --regid 54321 --clear-groups"


@pytest.mark.parametrize(
    ("error", "setting", "hint"),
    [
        (errno.EPERM, "", "must allow clone3"),
        (errno.ENOSPC, "", "sysctl -w user.max_user_namespaces"),
        (
            errno.EPERM,
            "apparmor_restrict_unprivileged_userns=1",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (
            errno.EPERM,
            "unprivileged_userns_clone=0",
            "sysctl -w kernel.unprivileged_userns_clone=1",
        ),
    ],
)
def test_user_namespaces_refused(jails: Jails, error: int, setting: str, hint: str) -> None:
    """Simulates settings of Ubuntu and Debian: a tmpfs with the setting's file covers /proc/sys/kernel."""
    name, _, value = setting.partition("=")
    setup = "mount -t tmpfs none /proc/sys/kernel;" if setting else ""
    setup += f"echo {value} > /proc/sys/kernel/{name};" if setting else ""
    # An ordinary user may have no access to the build folder, so the test copies the jail.
    setup += "mount -t tmpfs none /run; " + f"cp {JAIL} /run/jail; chmod 755 /run/jail;"
    script = f"{setup} exec {ORDINARY} /run/jail --check --require weak"
    assert hint in refused(CLONE3, error=error, command=["unshare", "-m", "sh", "-c", script])


def test_mounts_refused_as_apparmor_does(jails: Jails) -> None:
    for call in (MOUNT, MOVE_MOUNT):
        assert "apparmor=unconfined" in refused(call, error=errno.EACCES)


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (errno.EPERM, "root lacks a capability"),
        (errno.ENOSYS, "use Linux 5.12 or newer"),
        (errno.ENFILE, "sysctl -w fs.file-max=N"),
        (errno.EINVAL, "repeat the run"),
    ],
)
def test_the_advice_fits_the_error(jails: Jails, error: int, advice: str) -> None:
    assert advice in refused(FSOPEN, error=error)
