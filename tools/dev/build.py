"""Builds the C and C++ code with CMake presets, for the commands of `./dev`."""

from __future__ import annotations

from dev.alone import alone_in_clone
from dev.paths import ROOT, RUN
from dev.steps import run

# Command prefix that lowers the priority of builds that run at the same time as test suites.
POLITELY = ("nice", "-n", "15")


def build(preset: str, *targets: str, politely: bool = False) -> None:
    """Configure a CMake preset if its build folder is new, and build its targets (default: all) that are out of date.

    `politely` lowers the priority of the build. Two builds at once would damage the build folder, so the second waits.
    """
    with alone_in_clone(RUN / f"build-{preset}.lock", f"another build of {preset} in this clone"):
        _build(preset, targets, politely=politely)


def _build(preset: str, targets: tuple[str, ...], *, politely: bool) -> None:
    if not (ROOT / "build" / preset / "build.ninja").exists():
        correct = "correct the error that CMake names above; if a package is missing, install it with apt-get install"
        run(["cmake", "--preset", preset], log=f"configure-{preset}", hint=correct)
    hint = "correct the error that the compiler names above"
    command = ["cmake", "--build", "--preset", preset, "--parallel"]
    if targets:
        command += ["--target", *targets]
    if politely:
        command = [*POLITELY, *command]
    run(command, log=f"build-{preset}", hint=hint)
