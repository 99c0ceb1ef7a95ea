"""Writes a file that the user has named, such as a report. base/output_file.h has the same rules for C++.

- A new or regular file appears complete or not at all: the text goes to a temporary file in the same folder, which is
  then renamed. If the path is a symbolic link, the link stays, and the file that the link names is replaced.
- A character device or FIFO, such as /dev/null or `>(command)`, is opened and written. Opening a FIFO waits until
  another process opens the FIFO for reading.
- If a link in /proc, such as /proc/self/fd/3, leads to a file, the file is written in place. It cannot be replaced by
  renaming, because it may have no name.
- `-` is the standard output. For `-`, and for other names of the standard output or error such as /dev/stdout, the text
  is written to that stream.
- A block device, socket or folder is an error.
- Another user's symbolic link in a shared folder such as /tmp is an error. The kernel refuses to open such a link
  (protected_symlinks). This code follows links itself, with readlink(), so it must check the same rule.
"""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

STANDARD_OUTPUT = Path("-")
_LINKS_MAX = 40  # the kernel's own limit


class OutputFileError(OSError):
    """The file cannot be written; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class _Target:
    path: Path
    in_place: bool = False
    stream: TextIO | None = None  # if set, the text goes to this stream, not to `path`


def check_writable(path: Path) -> None:
    """Raise OutputFileError if write_file() could not write `path` now. Leaves no file, and opens no FIFO.

    Call this function before a long run, so that the user learns of a wrong path at once.
    """
    target = _target(path)
    if target.stream is not None:
        return
    if not target.in_place:
        temporary = _temporary(target.path)
        os.close(_create(target.path, temporary))
        temporary.unlink()
    elif not os.access(target.path, os.W_OK):
        raise OutputFileError(f"cannot write {path}: permission denied: name another file")


def output_path(text: str) -> Path:
    """Return `text` as a path, for argparse. Raises ArgumentTypeError if the file cannot be written."""
    path = Path(text)
    try:
        check_writable(path)
    except OutputFileError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def is_standard_output(path: Path) -> bool:
    """Return whether write_file() would write to the standard output."""
    return _target(path).stream is sys.stdout


def write_file(path: Path, text: str) -> None:
    """Write `text` to `path` by the rules above. Raises OutputFileError if this fails.

    If only the renaming fails, the temporary file stays, and the error names it: the text may be all that is left of a
    long run. After every other error, the temporary file is removed.
    """
    target = _target(path)
    try:
        if target.stream is not None:
            target.stream.write(text)
            target.stream.flush()
        elif target.in_place:
            # open(path, "w") would create the file again if it has been deleted in the meantime.
            descriptor = os.open(target.path, os.O_WRONLY | os.O_TRUNC | os.O_NOCTTY | os.O_CLOEXEC)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
        else:
            _replace(target.path, text)
    except BrokenPipeError:
        raise
    except OSError as error:
        if isinstance(error, OutputFileError):
            raise
        raise _system_failure(path, error) from error


def move_file(source: Path, path: Path) -> None:
    """Move a regular file to `path`, which may be on another file system, by the rules above.

    Raises OutputFileError if this fails, or if `path` names a device, a FIFO or a stream.
    """
    target = _target(path)
    if target.stream is not None or target.in_place:
        raise OutputFileError(
            f"cannot write {path}: it exists, and is a device, a pipe or a stream: remove it, or name another folder"
        )
    temporary = _temporary(target.path)
    try:
        os.close(_create(target.path, temporary))
        shutil.move(source, temporary)
        temporary.replace(target.path)
    except OSError as error:
        if isinstance(error, OutputFileError):
            raise
        raise _system_failure(path, error, "name another folder") from error
    finally:
        temporary.unlink(missing_ok=True)


def _system_failure(
    path: Path, error: OSError, otherwise: str = "name another file"
) -> OutputFileError:
    """Return the error for a file that the system does not let this process write, with what the user can do."""
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    advice = (
        "free space on this disk, or write to another disk"
        if full
        else f"fix this problem, or {otherwise}"
    )
    return OutputFileError(f"cannot write {path}: {error.strerror}: {advice}")


def _target(asked: Path) -> _Target:
    """Follow the symbolic links of a path, and return what to write and how."""
    if asked == STANDARD_OUTPUT:
        return _Target(asked, stream=sys.stdout)
    path = asked
    try:
        for _ in range(_LINKS_MAX + 1):
            try:
                found = path.lstat()
            except FileNotFoundError:
                return _Target(path)
            if not stat.S_ISLNK(found.st_mode):
                return _existing(path, found, in_proc=False)
            if _is_strangers_link(path, found):
                raise OutputFileError(
                    f"cannot write {path}: it is another user's symbolic link in a shared folder: name another file"
                )
            if _is_in_proc(path) and not path.is_dir():
                found = path.stat()
                stream = _stream(found)
                return (
                    _Target(path, stream=stream) if stream else _existing(path, found, in_proc=True)
                )
            path = path.parent / path.readlink()
    except OSError as error:
        if isinstance(error, OutputFileError):
            raise
        raise _system_failure(path, error) from error
    raise OutputFileError(
        f"cannot write {asked}: it is the first of more than {_LINKS_MAX} symbolic links, each leading to the next, "
        "perhaps in a cycle: name another file"
    )


def _existing(path: Path, found: os.stat_result, *, in_proc: bool) -> _Target:
    """Return how to write the existing file `path`. If `in_proc` is True, it is a link in /proc, otherwise no link."""
    if stat.S_ISCHR(found.st_mode) or stat.S_ISFIFO(found.st_mode):
        return _Target(path, in_place=True)
    if stat.S_ISREG(found.st_mode):
        return _Target(path, in_place=in_proc)
    what = "folder" if stat.S_ISDIR(found.st_mode) else "block device or a socket"
    raise OutputFileError(f"cannot write {path}: it is a {what}: name another file")


def _stream(found: os.stat_result) -> TextIO | None:
    """Return the standard output or error if this stream writes to the file `found`, otherwise None."""
    for descriptor, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if os.path.samestat(found, os.fstat(descriptor)):
                return stream
        except OSError:  # the stream is closed
            continue
    return None


def _is_in_proc(path: Path) -> bool:
    """Return whether a link is in /proc. Such a link leads to an open file, which may no longer have a name."""
    try:
        return path.parent.stat().st_dev == Path("/proc").stat().st_dev
    except OSError:
        return False


def _is_strangers_link(path: Path, link: os.stat_result) -> bool:
    """Return whether the kernel's rule protected_symlinks forbids following the link.

    The rule applies to folders with the sticky bit in which all users may create files. It forbids links that belong
    neither to this user nor to the owner of the folder.
    """
    folder = path.parent.stat()
    is_shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
    return bool(is_shared) and link.st_uid not in {os.geteuid(), folder.st_uid}


def _temporary(path: Path) -> Path:
    return path.with_name(f"{path.name}.unfinished-{os.getpid()}")


def _create(path: Path, temporary: Path) -> int:
    """Create the temporary file for `path`.

    First remove an older one; only a dead process with the same pid can have left it.
    """
    flags = (
        os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    )  # O_EXCL: never open a file of another user
    try:
        temporary.unlink(missing_ok=True)
        return os.open(temporary, flags, 0o644)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        advice = "create the folder first, or use" if missing else "use"
        raise OutputFileError(
            f"cannot write {path}: {error.strerror}: {advice} another folder"
        ) from error


def _replace(path: Path, text: str) -> None:
    temporary = _temporary(path)
    try:
        with os.fdopen(_create(path, temporary), "w", encoding="utf-8") as file:
            file.write(text)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    try:
        temporary.replace(path)
    except OSError as error:
        raise OutputFileError(
            f"cannot rename {temporary} to {path}: {error.strerror}: the first file is complete, so move it yourself"
        ) from error
