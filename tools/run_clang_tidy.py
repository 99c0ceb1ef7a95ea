"""Runs clang-tidy on the given sources, in two processes at a time, and remembers which sources are clean.

clang-tidy spends most of its time on reading the standard library. Therefore up to sixteen sources with the same
options are checked as one. If a group has findings, it is halved until each source is checked alone; only findings of
single sources are reported. A clean source gets a stamp in .state/tidy, and is checked again only when the source, a
header, .clang-tidy or uv.lock has changed. The path-sensitive analyser (`clang-analyzer-*`) takes five times as long as
all other checks together, so only `./dev soak` runs it on all sources. The sources of the jail, the sandbox, are always
analysed, because a fault there is dangerous.
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
# The folder of the preset `tidy`, whose compile commands compile each source alone, without precompiled headers.
COMMANDS = ROOT / "build" / "tidy"
TOOL = ROOT / ".venv" / "bin" / "clang-tidy"
JOBS = 2
TOGETHER = 16
LEFT_OUT = "" if "KEYDROME_SOAK" in os.environ else "-clang-analyzer-*"
ANALYSED = "jail/"
CHECKS = [f"--checks={LEFT_OUT}"] if LEFT_OUT else []
# The options for a group of sources. One file includes the whole group, so the check that forbids to include a .cc file
# is switched off.
CHECKS_TOGETHER = [
    f"--checks={LEFT_OUT},-bugprone-suspicious-include",
    f"--config-file={ROOT / '.clang-tidy'}",
]


def checks_of(name: str) -> list[str]:
    """Return the options that choose the checks of a source that is read alone."""
    return [] if name.startswith(ANALYSED) else CHECKS


def headers_digest() -> str:
    """Return a digest of everything that affects the result of every source."""
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
    """Return the path of the stamp file for this source with its present text; the file exists if it was clean."""
    digest = hashlib.sha256(f"{common}{name}".encode() + (ROOT / name).read_bytes())
    return STAMPS / digest.hexdigest()


def complaint(arguments: list[str]) -> str:
    """Run clang-tidy; return its complaints, or an empty string."""
    done = subprocess.run(
        [str(TOOL), "--quiet", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout or done.stderr


def groups(names: list[str]) -> list[tuple[list[str], list[str]]]:
    """Return groups of up to sixteen C++ sources with the same options, and these options for each group.

    A C source is a group of its own, because its headers are read quickly.
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
    """Return the complaints about the sources of a group, or an empty string."""
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
