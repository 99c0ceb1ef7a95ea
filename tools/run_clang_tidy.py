"""Runs clang-tidy over the given sources, two at a time, and remembers which were clean.

A source is checked again only when it, a header of the project, .clang-tidy or the tool has changed: the stamps
lie in .state/tidy. The path-sensitive analyser takes five times as long as all else, so only `./dev soak` runs it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAMPS = ROOT / ".state" / "tidy"
# Of a preset that compiles next to nothing: each source alone, without precompiled headers.
COMMANDS = ROOT / "build" / "tidy"
TOOL = ROOT / ".venv" / "bin" / "clang-tidy"
JOBS = 2
CHECKS = [] if "KEYDROME_SOAK" in os.environ else ["--checks=-clang-analyzer-*"]


def headers_digest() -> str:
    """Return a digest of everything that can change every source's result."""
    listing = subprocess.run(
        ["git", "ls-files", "*.h", ".clang-tidy", "uv.lock"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    total = hashlib.sha256(str(CHECKS).encode())
    for name in sorted(listing):
        total.update((ROOT / name).read_bytes())
    return total.hexdigest()


def check(name: str, common: str) -> str:
    """Return the complaints about one source; an empty string when it is clean."""
    stamp = (
        STAMPS / hashlib.sha256(f"{common}{name}".encode() + (ROOT / name).read_bytes()).hexdigest()
    )
    if stamp.exists():
        return ""
    done = subprocess.run(
        [str(TOOL), "--quiet", "-p", str(COMMANDS), *CHECKS, name],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        stamp.touch()
        return ""
    return done.stdout or done.stderr


def main() -> int:
    """Check the sources named on the command line."""
    STAMPS.mkdir(parents=True, exist_ok=True)
    common = headers_digest()
    with ThreadPoolExecutor(JOBS) as pool:
        complaints = [
            text for text in pool.map(lambda name: check(name, common), sys.argv[1:]) if text
        ]
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
