"""Tests of runner/output_file.py: a regular file appears complete or not at all; devices and FIFOs are never replaced.

The tests make device nodes of their own, so that a defect of the tested code cannot replace those of /dev.
"""

from __future__ import annotations

import argparse
import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from runner.output_file import (
    OutputFileError,
    check_writable,
    is_standard_output,
    move_file,
    output_path,
    write_file,
)

NULL, FULL = os.makedev(1, 3), os.makedev(1, 7)
NO_DISK = os.makedev(7, 4095)  # a loop device that does not exist


def node(path: Path, kind: int, device: int) -> Path:
    """Make a device node."""
    if os.geteuid() != 0:
        pytest.fail("device nodes need root: run these tests with sudo")
    os.mknod(path, kind | 0o600, device)
    return path


def kind(path: Path) -> int:
    """Return the type of a file; symbolic links are not followed."""
    return stat.S_IFMT(path.lstat().st_mode)


def files(folder: Path) -> list[Path]:
    """Return everything in a folder except `var`, the KEYDROME_VAR of each test."""
    return sorted(path for path in folder.iterdir() if path.name != "var")


def refused(path: Path, words: str) -> None:
    """Check that check_writable() and write_file() refuse the path with a message that contains `words`."""
    with pytest.raises(OutputFileError, match=words):
        check_writable(path)
    with pytest.raises(OutputFileError, match=words):
        write_file(path, "text")


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    for text in ("a long first text", "short"):
        check_writable(path)
        write_file(path, text)
        assert path.read_text() == text
    assert files(tmp_path) == [path]


def test_the_text_stays_if_the_file_cannot_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As at a mount point, which nothing can replace."""
    path = tmp_path / "report.json"
    write_file(path, "old")

    def replace(_self: Path, _target: Path) -> Path:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(OutputFileError, match=r"cannot rename .*unfinished.*move it yourself"):
        write_file(path, "new")
    assert path.read_text() == "old"
    assert [kept.read_text() for kept in tmp_path.glob("report.json.unfinished-*")] == ["new"]


def test_a_symbolic_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    folder, outer = tmp_path / "folder", tmp_path / "outer"
    folder.mkdir()
    file, link = folder / "file", folder / "link"
    link.symlink_to("file")
    outer.symlink_to(link)
    for text in ("new", "again"):  # before the first write, the link leads to no file
        check_writable(outer)
        write_file(outer, text)
        assert file.read_text() == text
        assert (kind(file), kind(link), kind(outer)) == (stat.S_IFREG, stat.S_IFLNK, stat.S_IFLNK)
    assert files(folder) == [file, link]


def test_devices_stay_devices(tmp_path: Path) -> None:
    null = node(tmp_path / "null", stat.S_IFCHR, NULL)
    full = node(tmp_path / "full", stat.S_IFCHR, FULL)
    link = tmp_path / "link"
    link.symlink_to(null)
    for path in (null, full, link):
        check_writable(path)
    write_file(null, "text")
    write_file(link, "text")
    with pytest.raises(
        OutputFileError, match=r"/full: No space left on device: free space on this disk"
    ):
        write_file(full, "text")
    assert (kind(null), kind(full), kind(link)) == (stat.S_IFCHR, stat.S_IFCHR, stat.S_IFLNK)
    assert files(tmp_path) == [full, link, null]


def test_block_devices_and_folders_are_refused(tmp_path: Path) -> None:
    disk = node(tmp_path / "disk", stat.S_IFBLK, NO_DISK)
    refused(disk, "it is a block device")
    refused(tmp_path, "it is a folder")
    assert kind(disk) == stat.S_IFBLK


def test_a_fifo_is_written_and_not_opened_by_the_check(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    check_writable(fifo)  # returns, although no process reads
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()))
    reader.start()
    write_file(fifo, "text")
    reader.join()
    assert read == ["text"]
    assert kind(fifo) == stat.S_IFIFO


def test_a_folder_that_is_missing_is_an_error_before_the_run(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "report.json"
    refused(path, "create the folder first")
    with pytest.raises(argparse.ArgumentTypeError, match="create the folder first"):
        output_path(str(path))
    assert output_path(str(tmp_path / "report.json")) == tmp_path / "report.json"


def test_another_users_link_in_a_shared_folder_is_not_followed(tmp_path: Path) -> None:
    shared, victim = tmp_path / "shared", tmp_path / "victim"
    shared.mkdir()
    shared.chmod(0o1777)
    victim.write_text("kept")
    link = shared / "report.json"
    link.symlink_to(victim)
    os.chown(link, 65534, 65534, follow_symlinks=False)
    refused(link, "another user's symbolic link")
    assert victim.read_text() == "kept"


def test_a_loop_of_links_is_an_error(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)
    refused(link, "more than 40 symbolic links")


def test_an_open_file_that_proc_names_is_written_in_place(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w+") as file:
        write_file(Path(f"/proc/self/fd/{file.fileno()}"), "text")
        assert file.read() == "text"


PRINTING = """
import sys
from pathlib import Path
from runner.output_file import check_writable, is_standard_output, write_file
print("first")
for name in sys.argv[1:]:
    check_writable(Path(name))
    write_file(Path(name), name + chr(10))
    assert is_standard_output(Path(name))
print("last")
"""


@pytest.mark.parametrize("to_file", [True, False])
def test_names_of_standard_output_are_that_stream(tmp_path: Path, *, to_file: bool) -> None:
    """A redirected output keeps the text that was written before and after the calls."""
    names = ["-", "/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"]
    with (tmp_path / "output").open("w") as file:
        done = subprocess.run(
            [sys.executable, "-c", PRINTING, *names],
            stdout=file if to_file else subprocess.PIPE,
            text=True,
            check=True,
        )
    written = (tmp_path / "output").read_text() if to_file else done.stdout
    assert written.splitlines() == ["first", *names, "last"]
    assert not is_standard_output(tmp_path / "other")


def test_a_moved_file_replaces_a_file_and_follows_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "kept", tmp_path / "link"
    link.symlink_to(target)
    for text in ("first", "second"):
        source = tmp_path / "source"
        source.write_text(text)
        move_file(source, link)
        assert target.read_text() == text
        assert not source.exists()
    assert link.is_symlink()
    assert files(tmp_path) == [target, link]


def test_a_moved_file_never_replaces_a_device(tmp_path: Path) -> None:
    device, source = node(tmp_path / "null", stat.S_IFCHR, NULL), tmp_path / "source"
    source.write_text("text")
    with pytest.raises(OutputFileError, match="is a device, a pipe or a stream"):
        move_file(source, device)
    assert kind(device) == stat.S_IFCHR
    assert source.read_text() == "text"
    with pytest.raises(OutputFileError, match=r"cannot write .*: No such file"):
        move_file(source, tmp_path / "no" / "folder")
    assert source.read_text() == "text"
