"""Boots a Linux kernel in QEMU, with an archive as its file system, and returns the text of its console."""

from __future__ import annotations

import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dev import packages
from dev.paths import STATE
from dev.steps import StepError

if TYPE_CHECKING:
    from pathlib import Path

QEMU = "qemu-system-x86_64"
NEEDED = ("busybox-static", "qemu-system-x86")
KERNEL_PACKAGE = "linux-image-cloud-amd64"  # the package that depends on the newest kernel
FOLDER = STATE / "guest"
MEMORY_MIB = 1536
PROCESSORS = 2
TIMEOUT_S = 3600
MEMORY = ", often a sign that memory ran out"  # what signal 9 means


@dataclass(frozen=True)
class Guest:
    """A virtual machine to boot: the kernel image, and the archive with its file system."""

    kernel: Path
    archive: Path


def kernel() -> Path:
    """Return the path of a kernel image; if there is none, download and unpack the distribution's kernel package."""
    packages.install(NEEDED)
    there = sorted(FOLDER.glob("boot/vmlinuz-*"))
    if there:
        return there[-1]
    FOLDER.mkdir(parents=True, exist_ok=True)
    depends = _output(["apt-cache", "depends", KERNEL_PACKAGE])
    names = [word for word in depends.split() if word.startswith("linux-image-")]
    _output(["apt-get", "download", names[-1]])
    for package in FOLDER.glob("linux-image-*.deb"):
        _output(["dpkg-deb", "-x", str(package), str(FOLDER)])
        package.unlink()
    return sorted(FOLDER.glob("boot/vmlinuz-*"))[-1]


def _output(command: list[str]) -> str:
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise StepError(
            f"{' '.join(command)} failed: {done.stderr.strip()}; check the network and the apt sources"
        )
    return done.stdout


def boot(guest: Guest, parameters: str, log: Path) -> str:
    """Boot the guest, wait until it switches itself off, and return the text of its console, also written to `log`."""
    # QEMU always emulates the processor, because KVM may not work even where /dev/kvm exists.
    command = [
        *(QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(PROCESSORS)),
        *("-m", str(MEMORY_MIB), "-nic", "none", "-display", "none", "-no-reboot"),
        *("-serial", f"file:{log}", "-kernel", str(guest.kernel), "-initrd", str(guest.archive)),
        *("-append", f"console=ttyS0 loglevel=1 panic=-1 mitigations=off {parameters}"),
    ]
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(command, stdin=subprocess.DEVNULL, check=True, timeout=TIMEOUT_S)
    except FileNotFoundError as error:
        raise StepError(f"{QEMU} was not found: run `apt-get install {NEEDED[1]}`") from error
    except subprocess.TimeoutExpired as error:
        raise StepError(
            f"the guest did not switch itself off within {TIMEOUT_S} s, so QEMU was stopped: read the guest's console "
            f"in {log}"
        ) from error
    except subprocess.CalledProcessError as error:
        # A negative status is the number of the signal that ended the process.
        code = error.returncode
        how = (
            f"signal {-code} ended QEMU{MEMORY if code == -signal.SIGKILL else ''}: read"
            if code < 0
            else f"QEMU failed with exit status {code}: read its message above, and"
        )
        raise StepError(f"{how} the guest's console in {log}") from error
    return log.read_text(errors="replace")
