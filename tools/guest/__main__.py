"""Runs the jail's tests with every kind of control groups: `python -m tools.guest`, as root, after a release build.

The jail is the sandbox for libraries; it limits memory and CPU time with Linux control groups. QEMU emulates one
machine for each way to mount them: all controllers in cgroup v2, all in v1, limits in v1 with a v2 hierarchy for the
rest (hybrid), and no control groups at all. Each machine has the distribution's kernel and copies of the files that the
tests need.
"""

from __future__ import annotations

import argparse
import re
import sys
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path

from dev.paths import LOGS, ROOT

from tools.guest.archive import Archive
from tools.guest.boot import FOLDER, Guest, boot, kernel
from tools.reports.made import made_line

PAGE = ROOT / "docs" / "reference" / "jail-backends.md"
BUILD = ROOT / "build" / "release"
# Parts of Python's library that are not copied, because no test imports them.
LEFT_OUT = ("site-packages", "test", "tests", "idlelib", "tkinter", "ensurepip", "lib2to3")
BUILD_FILES = f"config-{sys.version_info.major}.{sys.version_info.minor}-{sysconfig.get_config_var('MULTIARCH')}"
PACKAGES = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")
PROGRAMS = ("/bin/sh", "/usr/bin/setpriv", "/usr/bin/unshare")
APPLETS = ["awk", "cat", "chmod", "cp", "mkdir", "mount", "sleep", "umount"]
# For pytest's -k: leaves out the tests with the words honest or many_runs in their names. These tests do not depend on
# control groups, and are slow in an emulator.
TOO_LONG = "not honest and not many_runs"
TESTS = ("test_jail", "test_hostile", "test_check", "test_leftovers", "test_ordinary_user")
FOLDERS = ("/proc", "/sys", "/tmp", "/mnt", "/run")  # noqa: S108 - the guest's own
V1 = "memory pids cpuset cpuacct freezer"


@dataclass(frozen=True)
class Machine:
    """One way to mount control groups, and the tests that apply to it."""

    name: str
    parameters: str  # further parameters of the kernel
    mounts: str  # commands that mount control groups
    level: str  # the level of isolation that the jail must report: full, weak or none
    tests: str  # the selection for pytest's -k


def _mount_v1(folder: str = "/sys/fs/cgroup") -> str:
    return (
        f"mount -t tmpfs groups {folder}; for each in {V1}; do mkdir {folder}/$each;"
        f" mount -t cgroup -o $each groups {folder}/$each; done"
    )


MACHINES = (
    Machine(
        "v2",
        "cgroup_no_v1=all",
        "mount -t cgroup2 groups /sys/fs/cgroup",
        "full",
        "not unified",
    ),
    Machine("v1", "", _mount_v1(), "full", "not unified"),
    Machine(
        "hybrid",
        "",
        f"{_mount_v1()}; mkdir /sys/fs/cgroup/unified;"
        " mount -t cgroup2 groups /sys/fs/cgroup/unified",
        "full",
        "jail",
    ),
    Machine(
        "none",
        "",
        "true",
        "weak",
        "without_cgroup or each_missing or no_groups or (ordinary_user and not handed)",
    ),
)

# The guest first moves to a bind mount of its file system, because pivot_root, which the jail calls, cannot leave the
# initial file system.
INIT = """#!/bin/busybox sh
/bin/busybox mount --bind / /mnt && cd /mnt && /bin/busybox mount --move . / &&
  exec /bin/busybox chroot . /guest
"""

GUEST = """#!/bin/busybox sh
export PATH=/usr/bin HOME=/tmp LC_ALL=C.UTF-8
ulimit -n 65536
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/shm
busybox ip link set lo up
case "$(busybox sed 's/.*guest=//;s/ .*//' /proc/cmdline)" in
%(cases)s
esac
cd %(root)s
echo "guest kernel:$(busybox uname -r)"
%(jail)s --check | busybox sed 's/^/guest /'
%(python)s -m pytest -c /dev/null --rootdir=/ -p no:cacheprovider -q --color=no --tb=short \\
  --durations=10 -k "%(selection)s and ($selection)" %(tests)s
echo "guest ended:$?"
busybox poweroff -f
"""


def _script(python: Path) -> str:
    cases = "\n".join(f'{m.name}) {m.mounts}; selection="{m.tests}";;' for m in MACHINES)
    return GUEST % {
        "cases": cases,
        "root": ROOT,
        "jail": BUILD / "bin" / "jail",
        "python": python,
        "selection": TOO_LONG,
        "tests": " ".join(f"jail/tests/{name}.py" for name in TESTS),
    }


def make_archive(path: Path) -> None:
    """Write the guests' file system: busybox, Python with pytest, the jail and its tests."""
    python = Path(sys.executable)
    library = Path(sysconfig.get_paths()["stdlib"])
    site = Path(sysconfig.get_paths()["purelib"])
    with path.open("wb") as file:
        archive = Archive(file)
        archive.add_console()
        for folder in FOLDERS:
            archive.add_folder(folder)
        archive.add_text("/init", INIT)
        archive.add_text("/guest", _script(python))
        archive.add(Path("/bin/busybox"))
        for name in APPLETS:
            archive.add_link(f"/usr/bin/{name}", "busybox")
        archive.add(Path("/etc/passwd"))
        for program in (python, python.resolve(), *map(Path, PROGRAMS)):
            archive.add_program(program)
        archive.add(python.parent.parent / "pyvenv.cfg")
        archive.add_tree(library, (*LEFT_OUT, BUILD_FILES))
        for extension in (library / "lib-dynload").glob("*.so"):
            archive.add_program(extension)
        for package in PACKAGES:
            archive.add_tree(site / package)
        archive.add(site / "py.py")
        archive.add_tree(ROOT / "jail" / "tests")
        for program in (BUILD / "bin" / "jail", *(BUILD / "lib" / "hostile").iterdir()):
            archive.add_program(program)
        archive.finish()


@dataclass
class Result:
    """The result of one guest: facts that it printed about the jail, and the counts of its tests."""

    facts: dict[str, str]
    passed: int
    failed: int
    seconds: float

    def is_good(self, machine: Machine) -> bool:
        """Return whether the jail found the expected control groups and the expected level, and all tests passed."""
        return (
            self.facts.get("cgroup") == machine.name
            and self.facts.get("level") == machine.level
            and self.facts.get("ended") == "0"
            and self.passed > 0
        )


def parse(text: str, seconds: float) -> Result:
    """Parse the text of a guest's console. If the guest ended early, the facts have no key "ended"."""
    lines = [line.strip() for line in text.splitlines()]
    told = [line.removeprefix("guest ") for line in lines if line.startswith("guest ")]
    facts = dict(line.split(":", 1) for line in told if ":" in line)
    counts = {
        word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", text)
    }
    failed = counts.get("failed", 0) + counts.get("error", 0)
    return Result(facts, counts.get("passed", 0), failed, seconds)


def page(results: dict[str, Result]) -> str:
    """Return the text of docs/reference/jail-backends.md."""
    rows = [
        f"| {name} | {r.facts.get('kernel', '')} | {r.facts.get('level', 'none')} |"
        f" {r.facts.get('missing', '') or 'nothing'} | {r.passed} | {r.failed} |"
        for name, r in results.items()
    ]
    return "\n".join(
        [
            "# The jail with other kinds of control groups",
            "",
            f"Written by `python -m tools.guest --write`; do not edit. {made_line()}",
            (
                "The jail is the sandbox in which libraries run. It limits memory and CPU time with the control\n"
                "groups of Linux, which machines mount in different ways. Each row is a virtual machine that ran\n"
                "the jail's tests. The first column says how the machine mounts control groups. *Level* is the level\n"
                "of isolation, and *missing* lists the mechanisms that the machine lacks; both are the output of\n"
                "`jail --check`. *Passed* and *failed* count tests."
            ),
            "A test that needs one kind of control groups runs only on machines with that kind.",
            "",
            "| control groups | kernel | level | missing | passed | failed |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def main() -> int:
    """Run the tests on all machines, or on one; return 0 if all of them passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--machine",
        choices=[m.name for m in MACHINES],
        help="run the tests only in this virtual machine; default: in all",
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    guest = Guest(kernel(), FOLDER / "archive")
    make_archive(guest.archive)
    results = {}
    good = True
    for machine in MACHINES:
        if options.machine in {None, machine.name}:
            begin = time.monotonic()
            log = LOGS / f"guest-{machine.name}.log"
            text = boot(guest, f"guest={machine.name} {machine.parameters}", log)
            result = parse(text, time.monotonic() - begin)
            is_good = result.is_good(machine)
            good = good and is_good
            results[machine.name] = result
            wanted = f"control groups {machine.name}, level {machine.level}, no failed test"
            print(
                f"{machine.name:7} {'ok' if is_good else 'NOT AS EXPECTED'}:"
                f" control groups {result.facts.get('cgroup', 'unknown')}, level"
                f" {result.facts.get('level', 'none')}, missing {result.facts.get('missing', '') or 'nothing'},"
                f" {result.passed} passed, {result.failed} failed, {result.seconds:.0f} s"
                f"{'' if is_good else f' (expected: {wanted}); read {log}'}",
                flush=True,
            )
    if options.write:
        PAGE.write_text(page(results))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
