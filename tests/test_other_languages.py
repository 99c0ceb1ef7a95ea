"""Tests that the page about other languages is right: its commands build each example, and the gate passes it.

A fault test puts a panic into the Rust and Go examples. It must become a result code, because a panic that leaves the
library ends the process.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.binaries import built_settings
from tests.test_documented_commands import shell_lines
from tests.test_keydrome import ROOT, keydrome

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs/how-to/use-another-language.md"
COMPILERS = {"Rust": "cargo", "Go": "go", "C++": "g++"}
BUILT = {"Rust": "mine/target/release/libmine.so", "Go": "mine/mine.so"}
SOURCES = {"Rust": "mine/src/lib.rs", "Go": "mine/mine.go"}
# For each example a line of getNext, and the line with a panic in front.
PANICS = {
    "Rust": ("        let pairs = lock(&index.pairs);\n        let Some(pair)", 'panic!("fault");'),
    "Go": (
        "\t\tplace, found := slices.BinarySearchFunc(h.index.pairs, h.position",
        'panic("fault")',
    ),
}
COMMAND_SECONDS = 300


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder in which the commands of the page find what they need from a checkout."""
    built_settings()
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "api").symlink_to(ROOT / "api")
    (folder / ".venv/bin").mkdir(parents=True)
    script = folder / ".venv/bin/keydrome"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m cli "$@"\n')
    script.chmod(0o755)
    return folder


def commands(language: str) -> list[str]:
    """Return the commands of the section about a language. The tests run as root, so they need no sudo."""
    section = PAGE.read_text().split(f"\n## {language}\n")[1].split("\n## ")[0]
    return [line.removeprefix("sudo ") for line in shell_lines(section)]


def run(command: str, folder: Path) -> str:
    # The compilers must not fetch anything.
    offline = {"CARGO_NET_OFFLINE": "true", "GOTOOLCHAIN": "local", "GOPROXY": "off"}
    ended = subprocess.run(
        ["sh", "-ec", command],
        cwd=folder,
        env={**os.environ, **offline},
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    assert ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"
    return ended.stdout


def need_compiler(language: str) -> None:
    name = COMPILERS[language]
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed, so the example in {language} cannot be built")


@pytest.mark.slow
@pytest.mark.parametrize("language", COMPILERS)
def test_the_commands_of_the_page_build_a_library_that_passes(
    language: str, checkout: Path
) -> None:
    need_compiler(language)
    lines = commands(language)
    assert [line.split()[1] for line in lines if line.startswith(".venv/")] == ["inspect", "check"]
    printed = [run(line, checkout) for line in lines]
    assert printed[-2].rstrip().endswith("accepted")
    assert printed[-1].rstrip().endswith(": passed")


@pytest.mark.slow
@pytest.mark.parametrize("language", PANICS)
def test_a_panic_becomes_a_result_code(language: str, checkout: Path, tmp_path: Path) -> None:
    need_compiler(language)
    copy, build, *_ = commands(language)
    run(copy, checkout)
    source = checkout / SOURCES[language]
    line, panic = PANICS[language]
    text = source.read_text()
    assert text.count(line) == 1
    source.write_text(text.replace(line, f"{panic}\n{line}"))
    run(build, checkout)
    answer = tmp_path / "check.json"
    options = ("--suite", "unit", "--scale", "smoke", "--json", answer)
    outcome = keydrome("check", checkout / BUILT[language], *options, var=tmp_path)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    names = {finding["name"] for finding in json.loads(answer.read_text())["findings"]}
    assert names
    assert "crashed" not in names
