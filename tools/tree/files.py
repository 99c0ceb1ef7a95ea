"""Lists and reads the repository's own files for the checks of tools/tree; names are relative to the root."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Lock files and third-party browser assets are not checked, because other people write them.
FOREIGN = ("web/static/vendor/", "uv.lock", "package-lock.json")
TEST_FOLDERS = {"tests", "bench"}


@dataclass(frozen=True)
class Tree:
    """The root folder of a repository, and the names of the files that are checked."""

    root: Path
    names: tuple[str, ...]

    def text(self, name: str) -> str:
        """Return the text of one file."""
        return (self.root / name).read_text()

    def having(self, *suffixes: str) -> list[str]:
        """Return the names of the files with one of these suffixes."""
        return [name for name in self.names if name.endswith(suffixes)]

    @cached_property
    def folders(self) -> frozenset[str]:
        """Return every folder that contains a file."""
        return frozenset(
            str(parent) for name in self.names for parent in PurePosixPath(name).parents
        )


def tracked(root: Path) -> Tree:
    """Return the existing files that git tracks, or would add."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    names = [
        name
        for name in sorted(set(listing))
        if not any(part in name for part in FOREIGN) and (root / name).is_file()
    ]
    return Tree(root, tuple(names))


def is_test(name: str) -> bool:
    """Return whether a file is in a folder named tests or bench. Such files may include all parts of their room."""
    return bool(TEST_FOLDERS.intersection(name.split("/")[:-1]))
