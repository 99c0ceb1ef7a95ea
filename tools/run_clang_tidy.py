"""Runs clang-tidy over the given sources, two processes at a time, and remembers which were clean.

Reading the standard library is most of what checking a source costs, so sixteen that are compiled alike are read as
one. When that finds anything, be it a name that two of them use, halves of them are, and what is said of one alone
counts.
A source is checked again only when it, a header of the project, .clang-tidy or the tool has changed: the stamps
lie in .state/tidy. The path-sensitive analyser takes five times as long as all else, so only `./dev soak` runs it; but
always over the jail, which is small, C, and must not be wrong.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAMPS = ROOT / ".state" / "tidy"
# Of a preset that compiles next to nothing: each source alone, without precompiled headers.
COMMANDS = ROOT / "build" / "tidy"
TOOL = ROOT / ".venv" / "bin" / "clang-tidy"
JOBS = 2
TOGETHER = 16
LEFT_OUT = "" if "KEYDROME_SOAK" in os.environ else "-clang-analyzer-*"
ANALYSED = "jail/"
CHECKS = [f"--checks={LEFT_OUT}"] if LEFT_OUT else []
CHECKS_TOGETHER = [
    f"--checks={LEFT_OUT},-bugprone-suspicious-include",
    f"--config-file={ROOT / '.clang-tidy'}",
]


def checks_of(name: str) -> list[str]:
    """Return the options that choose the checks of a source that is read alone."""
    return [] if name.startswith(ANALYSED) else CHECKS


def headers_digest() -> str:
    """Return a digest of everything that can change every source's result."""
    listing = subprocess.run(
        ["git", "ls-files", "*.h", ".clang-tidy", "uv.lock"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    total = hashlib.sha256(f"{CHECKS} {ANALYSED}".encode())
    for name in sorted(listing):
        total.update((ROOT / name).read_bytes())
    return total.hexdigest()


def stamp_of(name: str, common: str) -> Path:
    """Return the file that exists when this text of the source was found clean."""
    digest = hashlib.sha256(f"{common}{name}".encode() + (ROOT / name).read_bytes())
    return STAMPS / digest.hexdigest()


def complaint(arguments: list[str]) -> str:
    """Run the tool; return what it says, an empty string when all is clean."""
    done = subprocess.run(
        [str(TOOL), "--quiet", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout or done.stderr


def groups(names: list[str]) -> list[tuple[list[str], list[str]]]:
    """Return up to eight C++ sources that are compiled alike, with the options that they share, at a time.

    A C source stays alone: nothing that it reads takes long.
    """
    options: dict[str, list[str]] = {}
    for entry in json.loads((COMMANDS / "compile_commands.json").read_text()):
        name = str(Path(entry["file"]).relative_to(ROOT))
        options.setdefault(name, shlex.split(entry["command"])[1 : -len(["-o", "x", "-c", "x"])])
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in names:
        key = (name,) if name.endswith(".c") else ()
        alike[(*options[name], *key)].append(name)
    return [
        (members[first : first + TOGETHER], options[members[0]])
        for members in alike.values()
        for first in range(0, len(members), TOGETHER)
    ]


def check(names: list[str], options: list[str]) -> str:
    """Return the complaints about the sources of a group; an empty string when they are clean."""
    if len(names) == 1:
        return complaint([*checks_of(names[0]), "-p", str(COMMANDS), names[0]])
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as together:
        together.writelines(f'#include "{ROOT / name}"\n' for name in names)
        together.flush()
        if not complaint([*CHECKS_TOGETHER, together.name, "--", *options]):
            return ""
    half = len(names) // 2
    return check(names[:half], options) + check(names[half:], options)


def main() -> int:
    """Check the sources named on the command line."""
    STAMPS.mkdir(parents=True, exist_ok=True)
    common = headers_digest()
    stamps = {name: stamp_of(name, common) for name in sys.argv[1:]}

    def checked(group: tuple[list[str], list[str]]) -> str:
        text = check(*group)
        if not text:
            for name in group[0]:
                stamps[name].touch()
        return text

    todo = groups([name for name, stamp in stamps.items() if not stamp.exists()])
    with ThreadPoolExecutor(JOBS) as pool:
        complaints = [text for text in pool.map(checked, todo) if text]
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
