"""Finds dead files: headers that no source includes, sources without a target, Python modules that no code imports.

A header counts as dead if only its own source and the tests of its room (top-level folder) include it. A Python module
that can be started is not dead.
"""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tree.directions import INCLUDE
from tree.files import is_test

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree.files import Tree

# Headers that code outside the repository includes.
PUBLIC_HEADERS = "api/include/"
# Folders on Python's import path: the repository's root, and tools/, which `./dev` and the tools add.
IMPORT_ROOTS = ("", "tools/")
# Python programs without the suffix .py.
SCRIPTS = ("dev",)
# Modules that a framework finds by their names.
FOUND_BY_NAME = re.compile(
    r"(^|/)(__init__|__main__|conf|conftest|apps|admin|tasks|test_\w+)\.py$|/(migrations|commands)/"
)
SOURCE_TOKEN = re.compile(r"[^\s()\";]*\.(?:cc|c)\b(?!\.)")


def check_headers(tree: Tree) -> list[str]:
    """Return the headers that nothing but their own source and tests includes."""
    readers: dict[str, set[str]] = {}
    for name in tree.having(".c", ".cc", ".h", ".patch"):
        # The lines that a patch adds begin with a plus sign.
        for target in INCLUDE.findall(re.sub(r"^\+", "", tree.text(name), flags=re.MULTILINE)):
            for place in (target, f"{PurePosixPath(name).parent}/{target}"):
                readers.setdefault(place, set()).add(name)
    return [
        f"{name}: nothing includes this header but its own source and tests; delete it or include it"
        for name in tree.having(".h")
        if not name.startswith(PUBLIC_HEADERS)
        and not any(
            PurePosixPath(reader).with_suffix("") != PurePosixPath(name).with_suffix("")
            and (is_test(name) or not _tests_its_own_room(reader, name))
            for reader in readers.get(name, ())
        )
    ]


def _tests_its_own_room(reader: str, name: str) -> bool:
    return is_test(reader) and reader.split("/", maxsplit=1)[0] == name.split("/", maxsplit=1)[0]


def check_sources(tree: Tree) -> list[str]:
    """Return the C and C++ sources that no CMakeLists.txt names or globs."""
    patterns = []
    for name in tree.names:
        if name.endswith(("CMakeLists.txt", ".cmake")):
            folder = str(PurePosixPath(name).parent)
            text = re.sub(r"#.*", "", tree.text(name))
            patterns += [_pattern(folder, token) for token in SOURCE_TOKEN.findall(text)]
    every = re.compile("|".join(patterns)) if patterns else re.compile(r"(?!)")
    return [
        f"{name}: no CMakeLists.txt compiles this source; delete it or add it to a target"
        for name in tree.having(".c", ".cc")
        if not every.fullmatch(name)
    ]


def _pattern(folder: str, token: str) -> str:
    """Return a regular expression for the files that a source name in a CMakeLists.txt of `folder` may mean."""
    here = "" if folder == "." else f"{folder}/"
    token = re.sub(r"\$\{(CMAKE|PROJECT)_SOURCE_DIR\}/", "/", token)
    token = re.sub(r"\$\{CMAKE_CURRENT_(SOURCE|LIST)_DIR\}/", "", token)
    token = token.removeprefix("/") if token.startswith("/") else here + token
    parts = re.split(r"(\$\{\w+\}|\*)", token)
    wild = {"*": r"[^/]*"}
    return "".join(
        r".*" if part.startswith("${") else wild.get(part, re.escape(part)) for part in parts
    )


def check_modules(tree: Tree) -> list[str]:
    """Return the Python modules that no code outside tests imports and that cannot be started."""
    names = tree.having(".py")
    imported: set[str] = set()
    imported_by_tests: set[str] = set()
    for name in [*names, *(script for script in SCRIPTS if script in tree.names)]:
        (imported_by_tests if is_test(name) else imported).update(_imports(tree.text(name)))
    # Settings and project files name modules as strings.
    strings = {
        word
        for name in tree.having(".py", ".toml", ".yml", ".Dockerfile")
        if not is_test(name)
        for found in re.findall(r"[\"' ]([a-z_]+(?:\.[a-z_]+)+)", tree.text(name))
        for word in (found, found.rpartition(".")[0])  # a module, or something in one
    }
    complaints = []
    for name in names:
        text = tree.text(name)
        if FOUND_BY_NAME.search(name) or "__main__" in text:
            continue
        known = imported | strings | (imported_by_tests if is_test(name) else set())
        if not known.intersection(_dotted(name)):
            complaints.append(
                f"{name}: nothing but tests imports this module; delete it or import it"
            )
    return complaints


def _imports(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _dotted(name: str) -> set[str]:
    """Return the names under which a file may be imported.

    A module in a test folder may also be imported by its last name alone, because pytest puts its folder on the path.
    """
    path = name.removesuffix(".py")
    dotted = {path.removeprefix(root) for root in IMPORT_ROOTS if name.startswith(root)}
    if is_test(name):
        dotted.add(PurePosixPath(path).name)
    return {form.replace("/", ".") for form in dotted}
