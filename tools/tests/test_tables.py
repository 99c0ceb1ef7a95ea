"""Tests of `./dev tables`, which writes tables of pages from the manifests (benchmark.json, index.json and so on).

The tables must agree with the manifests, and `./dev new` must change only its own folder.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dev import scaffold, tables

ROOT = Path(__file__).resolve().parents[2]
NAME = "my_thing"


def test_tables_are_fresh() -> None:
    stale = tables.stale(ROOT)
    assert not stale, (
        f"the tables of these pages are out of date: {', '.join(stale)}: run ./dev tables"
    )


@pytest.mark.slow  # copies the tree
def test_a_stale_table_is_found(copy: Path) -> None:
    page = copy / "indexes" / "README.md"
    page.write_text(page.read_text().replace("[null]", "[nil]"))
    assert tables.stale(copy) == ["indexes/README.md"]


@pytest.mark.slow  # copies the tree
def test_a_configuration_is_listed_even_if_its_name_ends_with_a(copy: Path) -> None:
    folder = copy / "runtime" / "configurations"
    text = (folder / "rw.json").read_text().replace('"rw"', '"nova"', 1)
    (folder / "nova.json").write_text(text)
    assert tables.stale(copy) == ["docs/reference/configuration.md"]


def git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def whole_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the checkout with a git repository of its own."""
    root = tmp_path_factory.mktemp("copy")
    for name in git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard"):
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    return root


@pytest.fixture
def copy(whole_copy: Path) -> Iterator[Path]:
    """Yield the copy; undo the changes of the test afterwards."""
    yield whole_copy
    git(whole_copy, "checkout", "--quiet", ".")
    git(whole_copy, "clean", "--quiet", "-d", "--force")


def written_by_hand(text: str) -> str:
    return tables.TABLE.sub("", text)


def add(copy: Path, kind: str, name: str) -> None:
    """Add a KIND called NAME; assert that its new files are in its folder and that no other file changed."""
    before = set(git(copy, "ls-files", "--others", "--exclude-standard"))
    scaffold.new(kind, name, "ycsb/a" if kind == "board" else None)
    folder = scaffold.TARGETS[kind].format(name=name)
    added = sorted(set(git(copy, "ls-files", "--others", "--exclude-standard")) - before)
    assert added, kind
    assert all(file.startswith(f"{folder}/") for file in added), kind
    assert git(copy, "diff", "--name-only") == [], kind


@pytest.mark.slow  # checks the copy
def test_adding_touches_one_folder(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One copy gets an addition of each kind, because a check of the whole tree takes half a minute of CPU time."""
    monkeypatch.setattr(scaffold, "ROOT", copy)
    monkeypatch.setattr(tables, "ROOT", copy)
    for kind in scaffold.TARGETS:
        add(copy, kind, f"{NAME}_{kind.replace('-', '_')}")

    tables.write()  # may change other pages, but only inside the generated tables
    for page in git(copy, "diff", "--name-only"):
        assert written_by_hand((copy / page).read_text()) == written_by_hand(
            (ROOT / page).read_text()
        )
    for check in (["tools/check_tree.py"], ["-m", "pytest", "-q", "-x", "tests/test_docs.py"]):
        done = subprocess.run(
            [sys.executable, *check], cwd=copy, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout
