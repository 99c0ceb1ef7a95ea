"""Tests of tools/guest, which tests the jail (a sandbox) in virtual machines (guests). Only `./dev soak` boots guests.

These tests write a guest's file system and parse the text of a guest's console.
"""

import io
import subprocess
from pathlib import Path

from tools.guest import __main__ as guest
from tools.guest.__main__ import MACHINES, parse
from tools.guest.archive import Archive

TEXT = """\
guest kernel:6.1.0
guest level:full
guest cgroup:v2
guest missing:
.....
5 passed, 2 deselected in 1.00s
guest ended:0
"""


def entries(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Read a cpio archive as the kernel does: names with modes and contents."""
    found = {}
    at = 0
    while at < len(data):
        assert data[at : at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        name = data[at + 110 : at + 110 + name_size - 1].decode()
        at = (at + 110 + name_size + 3) // 4 * 4
        found[name] = (mode, data[at : at + size])
        at = (at + size + 3) // 4 * 4
    return found


def test_archive_keeps_links_and_folders(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "file").write_bytes(b"12345")
    (tmp_path / "short").symlink_to("real")
    (real / "link").symlink_to("file")
    buffer = io.BytesIO()
    archive = Archive(buffer)
    archive.add(tmp_path / "short" / "link")
    archive.add(real / "file")  # the second time, the archive does not change
    archive.finish()
    found = entries(buffer.getvalue())
    base = str(tmp_path).lstrip("/")
    assert found[f"{base}/short"] == (0o120777, b"real")
    assert found[f"{base}/real/link"] == (0o120777, b"file")
    assert found[f"{base}/real/file"][1] == b"12345"
    assert found[base][0] == 0o40755
    assert len(found) == len(Path(base).parts) + 5
    assert list(found)[-1] == "TRAILER!!!"


def test_programs_bring_their_libraries() -> None:
    buffer = io.BytesIO()
    Archive(buffer).add_program(Path("/usr/bin/setpriv"))
    names = entries(buffer.getvalue())
    assert any(name.endswith("/libc.so.6") for name in names)
    assert any("ld-linux" in name for name in names)


def test_console_is_read() -> None:
    result = parse(TEXT, 1.0)
    v2 = next(machine for machine in MACHINES if machine.name == "v2")
    assert (result.passed, result.failed) == (5, 0)
    assert result.is_good(v2)
    for wrong in (
        TEXT.replace("level:full", "level:weak"),
        TEXT.replace("cgroup:v2", "cgroup:v1"),
        TEXT.replace("ended:0", "ended:1"),
        TEXT.replace("5 passed", "5 failed"),
        TEXT[: TEXT.index("guest ended")],
        "",
    ):
        assert not parse(wrong, 1.0).is_good(v2), wrong


def test_init_is_a_shell_script() -> None:
    script = guest._script(Path("/usr/bin/python3"))
    done = subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(f"{machine.name})" in script for machine in MACHINES)
