"""Writes the initial file system of a Linux guest from files of this machine, as cpio in the "newc" format.

The Linux sources describe the format in Documentation/driver-api/early-userspace/buffer-format.rst. Every file keeps
its path, and symbolic links in the path are added too, so that programs find their libraries.
"""

from __future__ import annotations

import stat
import subprocess
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ALIGNMENT = 4
TRAILER = "TRAILER!!!"
CONSOLE = (5, 1)  # device numbers of /dev/console


class Archive:
    """Writes the entries of an archive to an open file. Adding a path again has no effect."""

    def __init__(self, file: IO[bytes]) -> None:
        """Start an archive at the file's position."""
        self._file = file
        self._there: set[str] = {"/"}

    def add(self, path: Path) -> None:
        """Add a file of this machine, its parent folders, and the symbolic links in its path."""
        for parent in reversed(path.parents):
            if parent.is_symlink():
                self._add_link(parent)
                return self.add(parent.resolve() / path.relative_to(parent))
            self.add_folder(str(parent))
        if path.is_symlink():
            self._add_link(path)
            self.add(path.parent / path.readlink())
        elif path.is_dir():
            self.add_folder(str(path))
        else:
            status = path.stat()
            self._add(str(path), status.st_mode, path.read_bytes(), int(status.st_mtime))
        return None

    def add_tree(self, folder: Path, left_out: Iterable[str] = ()) -> None:
        """Add all files below a folder, except files and folders with a name in `left_out`."""
        skipped = set(left_out)
        for path in sorted(folder.rglob("*")):
            if not skipped.intersection(path.relative_to(folder).parts) and path.is_file():
                self.add(path)

    def add_program(self, path: Path) -> None:
        """Add a program or a library with the shared libraries that it needs."""
        self.add(path)
        listing = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)
        for word in listing.stdout.split():
            if word.startswith("/"):
                self.add(path.__class__(word))

    def add_text(self, path: str, text: str) -> None:
        """Add an executable file with this text."""
        self._add(path, stat.S_IFREG | 0o755, text.encode(), 0)

    def add_link(self, path: str, target: str) -> None:
        """Add a symbolic link."""
        self._add(path, stat.S_IFLNK | 0o777, target.encode(), 0)

    def add_folder(self, path: str) -> None:
        """Add an empty folder; its parents must exist."""
        self._add(path, stat.S_IFDIR | 0o755, b"", 0)

    def add_console(self) -> None:
        """Add /dev/console, to which the first program writes."""
        self.add_folder("/dev")
        self._add("/dev/console", stat.S_IFCHR | 0o600, b"", 0, CONSOLE)

    def finish(self) -> None:
        """Write the end of the archive."""
        self._add(TRAILER, 0, b"", 0)

    def _add_link(self, path: Path) -> None:
        self.add_link(str(path), str(path.readlink()))

    def _add(
        self, path: str, mode: int, data: bytes, mtime: int, device: tuple[int, int] = (0, 0)
    ) -> None:
        if path in self._there:
            return
        self._there.add(path)
        name = path.lstrip("/").encode() + b"\0"
        fields = [len(self._there), mode, 0, 0, 1, mtime, len(data), 0, 0, *device, len(name), 0]
        header = b"070701" + b"".join(b"%08x" % field for field in fields)
        for part in (header + name, data):
            self._file.write(part + b"\0" * (-len(part) % ALIGNMENT))
