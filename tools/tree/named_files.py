"""Checks that every file that a comment or docstring names exists in the repository."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from tree.prose import passages

if TYPE_CHECKING:
    from tree.files import Tree

NAMED = re.compile(
    r"(?<![\w/.$}<*-])((?:[\w-]+/)*[\w-]+\.(?:h|cc|c|py|md|sql|toml|cmake|in))(?![\w*/])"
)
# Names that are not checked: files that a reader creates, and files of other projects or of the system.
ELSEWHERE = re.compile(
    r"NAME|mine|my_|^(kernel|linux|sys|asm|std|bits|gtest|elf|signal|errno|unistd)"
)


def check_named_files(tree: Tree) -> list[str]:
    """Return the comments and docstrings that name files which do not exist."""
    known = set()
    for name in tree.names:
        parts = PurePosixPath(name).parts
        known |= {"/".join(parts[start:]) for start in range(len(parts))}
    complaints = []
    for name in tree.having(".c", ".cc", ".h", ".py"):
        for line, passage in passages(name, tree.text(name), with_strings=False):
            complaints += [
                f"{name}:{line}: the text names the file {found}, which does not exist; correct the name"
                for found in NAMED.findall(passage)
                if found.removeprefix("keydrome/") not in known and not ELSEWHERE.search(found)
            ]
    return complaints
