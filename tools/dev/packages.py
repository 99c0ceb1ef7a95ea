"""Lists and installs the Debian packages that `./dev` needs: for building, for tests and for measurements."""

from __future__ import annotations

import subprocess

from dev.alone import alone_on_machine
from dev.steps import StepError, run

INSTALLING = "keydrome-packages"  # the machine-wide name of the lock
LOCK_SECONDS = 600
BUILD = (
    "build-essential",
    "cmake",
    "ninja-build",
    "patch",
    "pkg-config",
    "libseccomp-dev",
    "nlohmann-json3-dev",
    "libgtest-dev",
    "libgmock-dev",
    "libdb5.3-dev",
    "liblmdb-dev",
    "libabsl-dev",
    "libtbb-dev",
    "musl-tools",
    "python3-dev",
    "python3-venv",
)
TEST = (
    "chromium",
    "clang-14",
    "docker-compose",
    "fonts-dejavu-core",
    "gdb",
    "libclang-rt-14-dev",
    "libc6-dev-i386",
    "mandoc",
    "postgresql",
    "redis-server",
)
# For measurements: jail/bench compares the start time of our sandbox, the jail, with that of bubblewrap. The report
# structure_profile counts instructions with valgrind.
BENCH = ("bubblewrap", "valgrind")


def missing(packages: tuple[str, ...]) -> list[str]:
    """Return the packages that are not installed."""
    try:
        listing = subprocess.run(
            ["dpkg-query", "-W", "-f", "${binary:Package} ${db:Status-Status}\n"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except FileNotFoundError as error:
        raise StepError(
            "dpkg-query is not installed, so this is not Debian: ./dev needs Debian 12+ or Ubuntu 24.04+"
        ) from error
    installed = {
        line.split()[0].split(":")[0]
        for line in listing.splitlines()
        if line.endswith(" installed")
    }
    return [package for package in packages if package not in installed]


def install(packages: tuple[str, ...]) -> None:
    """Install missing packages; use no network if none is missing. Only one clone at a time installs packages."""
    if not missing(packages):
        return
    with alone_on_machine(INSTALLING, "the installation of packages by another clone"):
        _install(missing(packages))


def _install(wanted: list[str]) -> None:
    if not wanted:  # another clone has installed them
        return
    print(f"  installing {' '.join(wanted)}")
    hint = "check the network and the apt sources, then run the command again"
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "update"], log="apt-update", hint=hint, env=env)
    # RUNLEVEL=1 keeps the server packages from starting system services: Keydrome starts its own servers instead.
    env["RUNLEVEL"] = "1"
    run(
        [
            "apt-get",
            "install",
            "-y",
            "--no-install-recommends",
            *("-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}"),  # wait while other programs install
            *wanted,
        ],
        log="apt-install",
        hint=hint,
        env=env,
    )
