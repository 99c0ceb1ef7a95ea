"""The house rules that no linter knows, as a check (after tigerbeetle's habit of testing its style).

- files at most 500 lines, headers 300; an exception carries `LIMIT: reason` in its first 30 lines
- Python functions at most 60 lines (clang-tidy and ruff see to the rest)
- every room has a README.md of at most 60 lines
- includes follow the directions of ARCHITECTURE.md
- no open ends (a to-do note) without an issue number
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE_LINES_MAX = 500
HEADER_LINES_MAX = 300
FUNCTION_LINES_MAX = 60
README_LINES_MAX = 60
LIMIT_LINES = 30
ROOMS = (
    "api",
    "base",
    "checker",
    "benchmarks",
    "structures",
    "runtime",
    "indexes",
    "harness",
    "jail",
    "runner",
    "leaderboard",
    "web",
    "tests",
    "tools",
    "deploy",
    "docs",
)
# Room -> rooms whose headers it may include (itself always).
MAY_INCLUDE = {
    "api": set(),
    "base": set(),
    "checker": {"api", "base"},
    "benchmarks": {"checker", "api", "base"},
    "structures": {"api", "base"},
    "runtime": {"api", "base"},
    "indexes": {"api", "base"},
    "harness": {"benchmarks", "checker", "api", "base", "jail"},
    "jail": set(),
    "tests": set(ROOMS),
}
# What the tests of a room may include besides: the checker judges what the runtime's controls let happen.
TESTS_MAY_INCLUDE = {"runtime": {"checker"}}
# The headers of the jail that others use: the player tightens itself, the referee speaks over the command channel.
JAIL_SERVICES = {"jail/tighten.h", "jail/command.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
OPEN_END = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b(?!\(#\d+\))")


def tracked() -> list[Path]:
    """Return the project's own text files."""
    listing = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    skip = ("web/static/vendor/", "uv.lock", "package-lock.json")
    return [ROOT / name for name in listing if not any(part in name for part in skip)]


def check_sizes(path: Path, text: str) -> list[str]:
    """Return complaints about a file that is too long without a reason."""
    limit = HEADER_LINES_MAX if path.suffix == ".h" else FILE_LINES_MAX
    lines = text.count("\n")
    if lines <= limit or "LIMIT:" in "\n".join(text.splitlines()[:LIMIT_LINES]):
        return []
    return [
        f"{path.relative_to(ROOT)}: {lines} lines, at most {limit} (or `LIMIT: reason` at the top)"
    ]


def check_functions(path: Path, text: str) -> list[str]:
    """Return complaints about Python functions that are too long."""
    complaints = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES_MAX:
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                complaints.append(
                    f"{where}: {node.name} has {length} lines, at most {FUNCTION_LINES_MAX}"
                )
    return complaints


def check_includes(path: Path, text: str) -> list[str]:
    """Return includes that go against the directions of ARCHITECTURE.md."""
    room = path.relative_to(ROOT).parts[0]
    if room not in MAY_INCLUDE:
        return []
    allowed = MAY_INCLUDE[room]
    if path.relative_to(ROOT).parts[1] == "tests":
        allowed = allowed | TESTS_MAY_INCLUDE.get(room, set())
    complaints = []
    for target in INCLUDE.findall(text):
        first = "api" if target.startswith("keydrome/") else target.split("/")[0]
        if first not in ROOMS or first == room or (first in allowed and first != "jail"):
            continue
        if room == "harness" and target in JAIL_SERVICES:
            continue
        if room == "tests" and target.startswith("jail/tests/"):
            continue
        complaints.append(f"{path.relative_to(ROOT)}: may not include {target}")
    return complaints


def check_rooms() -> list[str]:
    """Return rooms without a README of at most one page."""
    complaints = []
    for room in ROOMS:
        readme = ROOT / room / "README.md"
        if not readme.exists():
            complaints.append(f"{room}/README.md is missing")
        elif readme.read_text().count("\n") > README_LINES_MAX:
            complaints.append(f"{room}/README.md is longer than {README_LINES_MAX} lines")
    return complaints


def complaints_about(path: Path) -> list[str]:
    """Return everything that is wrong with one file."""
    if (
        path.suffix not in {".c", ".cc", ".h", ".py", ".html", ".css", ".js", ".md"}
        or not path.exists()
    ):
        return []
    text = path.read_text()
    found = [] if path.suffix == ".md" else check_sizes(path, text)
    if path.suffix == ".py":
        found += check_functions(path, text)
    if path.suffix in {".c", ".cc", ".h"}:
        found += check_includes(path, text)
    if path.suffix != ".md" and OPEN_END.search(text):
        found.append(f"{path.relative_to(ROOT)}: an open end without an issue number")
    return found


def main() -> int:
    """Check the whole tree; print every complaint."""
    found = check_rooms()
    for path in tracked():
        found += complaints_about(path)
    print("\n".join(found) if found else "the tree is as it should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
