"""Debian packages: what building and running needs, and what the tests need on top."""

from __future__ import annotations

import subprocess

from dev.steps import StepError, run

BUILD = (
    "build-essential",
    "cmake",
    "ninja-build",
    "pkg-config",
    "libseccomp-dev",
    "nlohmann-json3-dev",
    "libgtest-dev",
    "libgmock-dev",
    "libdb5.3-dev",
    "musl-tools",
    "python3-dev",
    "python3-venv",
)
TEST = (
    "chromium",
    "clang-14",
    "docker-compose",
    "fonts-dejavu-core",
    "libclang-rt-14-dev",
    "libc6-dev-i386",
    "mandoc",
    "postgresql",
    "redis-server",
)
BENCH = ("bubblewrap",)  # what the jail is measured beside


def missing(packages: tuple[str, ...]) -> list[str]:
    """Return the packages that dpkg does not know as installed."""
    try:
        listing = subprocess.run(
            ["dpkg-query", "-W", "-f", "${binary:Package} ${db:Status-Status}\n"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except FileNotFoundError as error:
        raise StepError(
            "dpkg-query not found: Keydrome sets itself up on Debian 12+ and Ubuntu 24.04+"
        ) from error
    installed = {
        line.split()[0].split(":")[0]
        for line in listing.splitlines()
        if line.endswith(" installed")
    }
    return [package for package in packages if package not in installed]


def install(packages: tuple[str, ...]) -> None:
    """Install what is missing; no network is touched when nothing is."""
    wanted = missing(packages)
    if not wanted:
        return
    print(f"  installing {' '.join(wanted)}")
    cure = "check the network and the apt sources, then run the command again"
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "update"], log="apt-update", cure=cure, env=env)
    # The servers' packages would start system services; Keydrome starts its own on private sockets.
    env["RUNLEVEL"] = "1"
    run(
        ["apt-get", "install", "-y", "--no-install-recommends", *wanted],
        log="apt-install",
        cure=cure,
        env=env,
    )
