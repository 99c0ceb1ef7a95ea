"""The C and C++ build, by CMake presets."""

from __future__ import annotations

from dev.paths import ROOT
from dev.steps import run

# For what gives way to the test suites beside it.
POLITELY = ("nice", "-n", "15")


def build(preset: str, *targets: str, politely: bool = False) -> None:
    """Configure (when needed) and build a preset; Ninja decides what is out of date.

    `politely` gives way to whatever else runs.
    """
    cure = "read the compiler's message above; `./dev lint` and CONTRIBUTING.md tell the rules"
    if not (ROOT / "build" / preset / "build.ninja").exists():
        run(["cmake", "--preset", preset], log=f"configure-{preset}", cure=cure)
    command = ["cmake", "--build", "--preset", preset, "--parallel"]
    if targets:
        command += ["--target", *targets]
    if politely:
        command = [*POLITELY, *command]
    run(command, log=f"build-{preset}", cure=cure)
