"""Adapts the mutants' patches to changed sources: `python -m tools.refresh_mutants`.

A mutant is a library with one deliberate fault; a patch in tests/faulty/mutants adds the fault to a source. The build
applies a patch only if its context lines match exactly, so that a fault is never added in the wrong place. This
command also applies patches whose context lines have changed a little, and rewrites them for the changed source. Check
the result with `git diff`: the patch must still make the fault that its first lines describe. These first lines come
from tests/faulty/mutants.json.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "faulty" / "mutants"
MUTANTS = ROOT / "tests" / "faulty" / "mutants.json"


def main() -> int:
    """Rewrite all patches; return 1 if a patch does not apply."""
    failed = 0
    for patch in sorted(FOLDER.glob("*.patch")):
        try:
            text = refreshed(patch)
        except subprocess.CalledProcessError as error:
            sys.stderr.write(
                f"the patch {patch.name} does not apply to the source that it names; edit the patch by hand:\n"
                f"{error.stdout}\n"
            )
            failed += 1
            continue
        if text != patch.read_text():
            patch.write_text(text)
            sys.stdout.write(f"{patch.name}: rewritten\n")
    return 1 if failed else 0


def refreshed(patch: Path) -> str:
    """Return the patch, adapted to the present source.

    Raises CalledProcessError if the program `patch` cannot apply it.
    """
    path = changed_file(patch)
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder) / "patched"
        subprocess.run(
            ["patch", "--silent", "--reject-file=-", f"--output={to}", ROOT / path, patch],
            check=True,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        old = (ROOT / path).read_text().splitlines(keepends=True)
        new = to.read_text().splitlines(keepends=True)
    return description(patch) + "".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}"))


def changed_file(patch: Path) -> str:
    """Return the one file that the patch changes, relative to the repository."""
    (path,) = (
        line.removeprefix("--- a/")
        for line in patch.read_text().splitlines()
        if line.startswith("--- a/")
    )
    return path


def description(patch: Path) -> str:
    """Return the first lines of the patch: the number and the fault of each mutant that the patch makes."""
    mutants = json.loads(MUTANTS.read_text())
    return "".join(f"M{m['number']}: {m['fault']}\n" for m in mutants if m["patch"] == patch.stem)


if __name__ == "__main__":
    raise SystemExit(main())
