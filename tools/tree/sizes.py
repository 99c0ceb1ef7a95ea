"""Checks the sizes of files, functions, classes, READMEs and folders.

A size above its limit is allowed if a comment says `LIMIT: reason`. A file has this comment in its first 30 lines. A
class or function has the comment at its head, or in its docstring. A folder has the reason in its README.md. The limit
for the README of a room (top-level folder) has no exceptions.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tree.files import is_test
from tree.native import classes, without_comments

if TYPE_CHECKING:
    from tree.files import Tree

FILE_LINES_MAX = 500
HEADER_LINES_MAX = 300
FUNCTION_LINES_MAX = 60
CLASS_LINES_MAX = 200
FOLDER_SOURCES_MAX = 25
README_LINES_MAX = 60
ROOT_README_LINES_MAX = 100
# For C and C++, because clang-format does not wrap comments.
COMMENT_COLUMNS_MAX = 100
# A table that `./dev tables` writes does not count as lines of a README, because such a table has a line for each
# folder.
GENERATED = re.compile(r"<!-- table .*?<!-- end of table -->", re.DOTALL)
REASON = re.compile(r"\bLIMIT: \w")
# The check looks for the reason in the first lines of a file, and in some lines around the head of a class or function.
FILE_REASON_LINES = 30
REASON_LINES_ABOVE = 8
REASON_LINES_BELOW = 4
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
    "results",
    "cli",
    "leaderboard",
    "web",
    "tests",
    "tools",
    "deploy",
    "docs",
)
SIZED = (".c", ".cc", ".h", ".py", ".html", ".css", ".js")


def has_reason(lines: list[str], first: int) -> bool:
    """Return whether a LIMIT reason is given near line `first`, counted from 1."""
    near = lines[max(0, first - 1 - REASON_LINES_ABOVE) : first + REASON_LINES_BELOW]
    return bool(REASON.search("\n".join(near)))


def check_files(tree: Tree) -> list[str]:
    """Return the files that are too long."""
    complaints = []
    for name in tree.having(*SIZED):
        lines = tree.text(name).splitlines()
        limit = HEADER_LINES_MAX if name.endswith(".h") else FILE_LINES_MAX
        if len(lines) > limit and not REASON.search("\n".join(lines[:FILE_REASON_LINES])):
            complaints.append(
                f"{name} has {len(lines)} lines, but at most {limit} are allowed: split the file, or write "
                "`LIMIT: reason` at its top"
            )
    return complaints


def check_comment_lines(tree: Tree) -> list[str]:
    """Return the comment lines of C and C++ that are too long."""
    return [
        f"{name}:{number}: this comment line has {len(line)} columns, but at most {COMMENT_COLUMNS_MAX} are "
        "allowed: wrap it"
        for name in tree.having(".c", ".cc", ".h")
        for number, line in enumerate(tree.text(name).splitlines(), start=1)
        if len(line) > COMMENT_COLUMNS_MAX and line.lstrip().startswith(("//", "/*", "*"))
    ]


def check_python(tree: Tree) -> list[str]:
    """Return the Python functions and classes that are too long."""
    complaints = []
    for name in tree.having(".py"):
        text = tree.text(name)
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                kind, limit = "function", FUNCTION_LINES_MAX
            elif isinstance(node, ast.ClassDef):
                kind, limit = "class", CLASS_LINES_MAX
            else:
                continue
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > limit and not has_reason(lines, node.lineno):
                complaints.append(
                    f"{name}:{node.lineno}: the {kind} {node.name} has {length} lines, but at most {limit} are "
                    "allowed: split it, or write `LIMIT: reason` above it"
                )
    return complaints


def check_native_classes(tree: Tree) -> list[str]:
    """Return the C++ classes and structs that are too long."""
    complaints = []
    for name in tree.having(".cc", ".h"):
        text = tree.text(name)
        lines = text.splitlines()
        for class_name, first, last in classes(without_comments(text)):
            length = last - first + 1
            if length > CLASS_LINES_MAX and not has_reason(lines, first):
                complaints.append(
                    f"{name}:{first}: the class {class_name} has {length} lines, but at most {CLASS_LINES_MAX} "
                    "are allowed: split it, or write `LIMIT: reason` above it"
                )
    return complaints


def check_folders(tree: Tree) -> list[str]:
    """Return the folders with too many sources. Tests do not count, because each test is read alone."""
    sources = [name for name in tree.having(".c", ".cc", ".h", ".py") if not is_test(name)]
    complaints = []
    for folder, count in sorted(Counter(str(PurePosixPath(n).parent) for n in sources).items()):
        readme = f"{folder}/README.md"
        excused = readme in tree.names and REASON.search(tree.text(readme))
        if count > FOLDER_SOURCES_MAX and not excused:
            complaints.append(
                f"{folder} has {count} source files, but at most {FOLDER_SOURCES_MAX} are allowed: split the folder, "
                "or write `LIMIT: reason` in its README.md"
            )
    return complaints


def check_readmes(tree: Tree) -> list[str]:
    """Return the rooms whose README is missing or too long, and the root's README in the same way."""
    complaints = []
    limits = {"README.md": ROOT_README_LINES_MAX}
    limits.update({f"{room}/README.md": README_LINES_MAX for room in ROOMS})
    for name, lines_max in limits.items():
        if name not in tree.names:
            complaints.append(f"{name} is missing; the root and every top-level folder need one")
        elif (lines := len(GENERATED.sub("", tree.text(name)).splitlines())) > lines_max:
            complaints.append(
                f"{name} has {lines} lines, but at most {lines_max} are allowed; shorten it"
            )
    return complaints
