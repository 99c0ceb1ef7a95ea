"""The tree check finds what it is there to find; each rule is seen to fail once."""

from pathlib import Path

import check_tree
import pytest


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(check_tree, "ROOT", tmp_path)
    return tmp_path


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_long_file(root: Path) -> None:
    path = write(root, "base/long.cc", "int x;\n" * 501)
    assert "501 lines" in check_tree.complaints_about(path)[0]


def test_long_header(root: Path) -> None:
    path = write(root, "base/long.h", "int x;\n" * 301)
    assert "301 lines" in check_tree.complaints_about(path)[0]


def test_long_file_with_a_reason(root: Path) -> None:
    path = write(root, "base/long.cc", "// LIMIT: a table\n" + "int x;\n" * 600)
    assert check_tree.complaints_about(path) == []


def test_long_function(root: Path) -> None:
    path = write(root, "runner/long.py", "def f():\n" + "    pass\n" * 60)
    assert "f has 61 lines" in check_tree.complaints_about(path)[0]


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("base/x.h", "benchmarks/kit/op.h"),
        ("benchmarks/kit/x.h", "harness/protocol.h"),
        ("structures/btree/x.h", "benchmarks/kit/rng.h"),
        ("indexes/null/x.cc", "runtime/codec.h"),
        ("jail/x.c", "base/check.h"),
        ("harness/x.cc", "runtime/codec.h"),
        ("harness/x.cc", "jail/cgroup.h"),
        ("runtime/x.cc", "checker/history.h"),
    ],
)
def test_wrong_direction(root: Path, name: str, include: str) -> None:
    path = write(root, name, f'#include "{include}"\n')
    assert f"may not include {include}" in check_tree.complaints_about(path)[0]


@pytest.mark.parametrize(
    ("name", "include"),
    [
        ("benchmarks/kit/x.h", "keydrome/index.h"),
        ("harness/x.cc", "benchmarks/kit/program.h"),
        ("harness/x.cc", "jail/tighten.h"),
        ("runtime/x.cc", "base/result.h"),
        ("runtime/tests/x.cc", "checker/history.h"),
    ],
)
def test_right_direction(root: Path, name: str, include: str) -> None:
    path = write(root, name, f'#include "{include}"\n')
    assert check_tree.complaints_about(path) == []


def test_open_end(root: Path) -> None:
    note = "TO" + "DO"
    assert check_tree.complaints_about(write(root, "base/x.cc", f"// {note} later\n"))
    assert not check_tree.complaints_about(write(root, "base/y.cc", f"// {note}(#7) later\n"))


def test_rooms_need_a_page(root: Path) -> None:
    for room in check_tree.ROOMS:
        write(root, f"{room}/README.md", "# room\n")
    assert check_tree.check_rooms() == []
    (root / "jail" / "README.md").unlink()
    write(root, "api/README.md", "line\n" * 61)
    assert check_tree.check_rooms() == [
        "api/README.md is longer than 60 lines",
        "jail/README.md is missing",
    ]
