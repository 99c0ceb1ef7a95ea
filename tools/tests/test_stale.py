"""Tests of tools/reports/made.py and stale.py: every generated page names its commit, and old pages are listed."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tools.reports import stale
from tools.reports.gate_run import ROOT
from tools.reports.made import Made, made_line, read_made

if TYPE_CHECKING:
    from pathlib import Path


def test_a_page_says_when_it_was_made() -> None:
    for commits in (["1a2b3c4"], ["1a2b3c4", "5d6e7f8"]):
        made = read_made(f"# Title\n\nWritten; do not edit. {made_line(commits)}\nText.\n")
        assert made is not None
        assert made.commits == tuple(commits)
    assert read_made("Made at commit 1a2b3c4+\non 2026-01-02.") == Made(("1a2b3c4",), "2026-01-02")
    two = "Made at commit 1a2b3c4 on 2026-01-02. Later: Made at commit 5d6e7f8 on 2026-01-03."
    assert read_made(two) == Made(("1a2b3c4", "5d6e7f8"), "2026-01-03")
    assert read_made("Written by hand.") is None


def test_every_measured_page_is_checked_and_names_its_commit() -> None:
    """The pages of MEASURES are exactly those that name a commit, and exactly those that say "do not edit"."""
    pages = {page.name: page.read_text() for page in stale.REFERENCE.glob("*.md")}
    generated = {name for name, text in pages.items() if read_made(text) is not None}
    assert generated == set(stale.MEASURES)
    measured = {name for name, text in pages.items() if "do not edit" in text[:400]}
    assert measured == set(stale.MEASURES)


def test_every_measured_path_exists() -> None:
    for paths in stale.MEASURES.values():
        assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a small repository with two measured folders, code/ and other/; stale.py then reads this repository."""
    monkeypatch.setattr(stale, "ROOT", tmp_path)
    _git(tmp_path, "init", "--quiet")
    for folder in ("code/tests", "other"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "other" / "file.c").write_text("1")
    _commit(tmp_path, "code/file.c")
    return tmp_path


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments]
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _commit(folder: Path, path: str) -> str:
    with (folder / path).open("a") as file:
        file.write("line\n")
    _git(folder, "add", ".")
    _git(folder, "commit", "--quiet", "-m", path)
    return _git(folder, "rev-parse", "--short", "HEAD")


def test_changes_of_code_make_a_page_old_and_changes_of_tests_do_not(clone: Path) -> None:
    page = clone / "page.md"
    page.write_text(made_line([_commit(clone, "code/file.c")]))
    paths = ("code", "other")
    assert list(stale.changes(page, paths)) == []
    _commit(clone, "code/tests/test_file.py")
    _commit(clone, "code/README.md")
    assert list(stale.changes(page, paths)) == []
    _commit(clone, "code/file.c")
    _commit(clone, "code/file.c")
    assert list(stale.changes(page, paths)) == ["  code: 2 commits since"]


def test_a_page_that_cannot_be_compared_is_old(clone: Path) -> None:
    page = clone / "page.md"
    assert list(stale.changes(page, ("code",))) == ["  the page page.md is missing"]
    page.write_text("Written by hand.")
    [line] = stale.changes(page, ("code",))
    assert "page.md does not say at which commit it was made" in line
    page.write_text(made_line(["abcdef0"]))
    [line] = stale.changes(page, ("code",))
    assert "this clone does not have commit abcdef0" in line


def test_the_commands_are_those_that_the_pages_name() -> None:
    for name in stale.MEASURES:
        start = (stale.REFERENCE / name).read_text()[:400]
        assert f"`{stale.command(name)}`" in start


def test_a_missing_page_is_listed_with_its_command(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stale, "REFERENCE", clone)
    monkeypatch.setattr(stale, "MEASURES", {"power.md": ("code",)})
    assert stale.main() == 0
    assert (
        "  to make the page again: python -m tools.reports.power --write\n"
        in capsys.readouterr().out
    )
