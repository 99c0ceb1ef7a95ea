"""`jail --check` and its errors say what to do: on machines where something is missing or refused."""

import errno
import subprocess
from pathlib import Path

import pytest

from jail.tests.jailing import FIRST_SLOT, JAIL, Jails
from jail.tests.refusing import refusing

CLONE3, MOUNT, UNSHARE = 435, 165, 272
CGROUPS = "$(awk '/ - cgroup/ {print $5}' /proc/self/mountinfo)"


def check(script: str) -> tuple[int, dict[str, str], str]:
    """Runs `jail --check` on a machine as a shell makes it, in a mount namespace; JAIL stands for the command."""
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
    """Returns what `jail --check` says on a machine that refuses calls."""
    done = subprocess.run(
        command or [str(JAIL), "--check", "--slot", str(FIRST_SLOT)],
        preexec_fn=refusing(*calls, error=error),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stdout
    return done.stderr


def test_each_missing_mechanism_has_a_remedy(jails: Jails) -> None:
    options = "--without cgroup --without seccomp --without nosymfollow --cpus 0"
    _code, facts, _stderr = check(f"JAIL {options}")
    missing = set(facts["missing"].split(","))
    assert missing == {name.removeprefix("remedy_") for name in facts if name.startswith("remedy_")}
    assert len(missing) == 8


def test_nothing_missing_needs_no_remedy(jails: Jails) -> None:
    code, facts, _stderr = check("JAIL")
    if facts["missing"] == "":
        assert code == 0
    assert [name for name in facts if name.startswith("remedy_")] == [
        f"remedy_{name}" for name in facts["missing"].split(",") if name
    ]


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


def test_read_only_groups_with_a_writable_bind(jails: Jails) -> None:
    """As in a container: the runtime's read-only mounts, and the one that was asked for."""
    bind = "mount -t tmpfs none /run; mkdir /run/groups; mount --rbind /sys/fs/cgroup /run/groups;"
    locked = "for m in $old; do mount -o remount,bind,ro $m; done;"
    code, facts, stderr = check(f'old="{CGROUPS}"; {bind} {locked} JAIL')
    assert code == 0, stderr
    assert facts["level"] == "full"


def test_controllers_that_v1_holds_unified_alone(jails: Jails) -> None:
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
    ("error", "setting", "remedy"),
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
def test_user_namespaces_refused(jails: Jails, error: int, setting: str, remedy: str) -> None:
    """Ubuntu's and Debian's settings, in a folder of our own where the kernel has its."""
    name, _, value = setting.partition("=")
    setup = "mount -t tmpfs none /proc/sys/kernel;" if setting else ""
    setup += f"echo {value} > /proc/sys/kernel/{name};" if setting else ""
    # An ordinary user may not be able to reach the place where the jail lies.
    setup += "mount -t tmpfs none /run; " + f"cp {JAIL} /run/jail; chmod 755 /run/jail;"
    script = f"{setup} exec {ORDINARY} /run/jail --check --require weak"
    assert remedy in refused(CLONE3, error=error, command=["unshare", "-m", "sh", "-c", script])


def test_mounts_refused_as_apparmor_does(jails: Jails) -> None:
    assert "apparmor=unconfined" in refused(MOUNT, error=errno.EACCES)
