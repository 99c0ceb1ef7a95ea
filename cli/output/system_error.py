"""Says what to do about an error of the operating system, such as a full disk, that ends a command."""

from __future__ import annotations

import errno
from pathlib import Path

from runner.settings import SettingsError, load_settings

_FIX = "fix this problem, and run the command again"


def with_remedy(error: OSError) -> str:
    """Return the text of an error, with the file, the cause and what to do."""
    if error.strerror is None:  # an error of our own, whose text has a remedy
        return str(error)
    if error.filename is None:
        return f"{error.strerror}{_remedy_without_file(error)}"
    return f"cannot read or write {error.filename}: {error.strerror}{_remedy(error)}"


def _remedy(error: OSError) -> str:
    """Return what to do about an error of the system that names a file."""
    data = _data_folder()
    is_data = data is not None and Path(str(error.filename)).resolve().is_relative_to(data)
    if isinstance(error, PermissionError) and is_data:
        return (
            ". The file is in Keydrome's data folder, which an earlier run with sudo may have created: use sudo "
            "again, or set KEYDROME_VAR to a folder that you can write to"
        )
    if isinstance(error, PermissionError):
        return ": use sudo, or change the permissions of this file"
    if error.errno == errno.ENOSPC and is_data:
        return (
            ". The file is in Keydrome's data folder: free some space on its disk, or set KEYDROME_VAR to a folder on "
            "another disk"
        )
    if error.errno == errno.ENOSPC:
        return ": free some space on the disk of this file"
    return f": {_FIX}"


def _remedy_without_file(error: OSError) -> str:
    """Return what to do about an error of the system that does not name the file."""
    if isinstance(error, PermissionError):
        return ": use sudo"
    if error.errno == errno.ENOSPC:
        data = _data_folder()
        folder = "" if data is None else f", or on the disk of Keydrome's data folder, {data}"
        return f": free some space on the disk that the output goes to{folder}"
    return f": {_FIX}"


def _data_folder() -> Path | None:
    """Return the folder in which Keydrome keeps its data, or None if an environment variable is invalid."""
    try:
        return load_settings().var
    except SettingsError:
        return None
