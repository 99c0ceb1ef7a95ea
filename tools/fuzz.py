"""Searches for inputs that break the parsers of the jail (the sandbox) and the harness: `python -m tools.fuzz`.

Builds the CMake preset `fuzz`, and runs libFuzzer for two minutes on each target, a program that passes its input to
one parser. libFuzzer stores interesting inputs in .state/fuzz/NAME, and the next search continues from them. An input
that breaks a target is written to var/fuzz/NAME. After you fix the fault, add this input to the target's corpus.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "fuzz"
SECONDS = 120
LONGEST_BYTES = 9000  # somewhat longer than the longest valid message


@dataclass(frozen=True)
class Target:
    """A fuzz target, and the folder with its first inputs."""

    name: str
    corpus: Path


TARGETS = [
    Target("options", ROOT / "jail/tests/fuzz/corpus/options"),
    Target("meta", ROOT / "harness/tests/fuzz/corpus/meta"),
    Target("channel", ROOT / "harness/tests/fuzz/corpus/channel"),
]


def build() -> None:
    """Configure and build the targets."""
    for command in (["cmake", "--preset", "fuzz"], ["cmake", "--build", "--preset", "fuzz"]):
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def search(target: Target, seconds: int) -> bool:
    """Run a target for some seconds; return False if an input broke it."""
    learnt = ROOT / ".state" / "fuzz" / target.name
    broken = ROOT / "var" / "fuzz" / target.name
    learnt.mkdir(parents=True, exist_ok=True)
    broken.mkdir(parents=True, exist_ok=True)
    command = [
        str(BUILD / "fuzz" / f"{target.name}_fuzz"),
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST_BYTES}",
        f"-artifact_prefix={broken}/",
        "-print_final_stats=1",
        "-verbosity=0",
        *(str(learnt), str(target.corpus)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    stats = [line for line in done.stderr.splitlines() if "number_of_executed_units" in line]
    tried = stats[-1].split()[-1] if stats else "some"
    if done.returncode == 0:
        print(f"{target.name}: {tried} inputs in {seconds} s, no failure", flush=True)
        return True
    print(
        f"{target.name}: FAILED on an input, the newest file in {broken}: fix the fault, then copy this file to "
        f"{target.corpus}\n"
        f"{done.stderr[-2000:]}",
        flush=True,
    )
    return False


def main() -> int:
    """Search with every target; return 0 if no input broke one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seconds", type=int, default=SECONDS, help=f"seconds per target; default: {SECONDS}"
    )
    options = parser.parse_args()
    build()
    broken = [target.name for target in TARGETS if not search(target, options.seconds)]
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
