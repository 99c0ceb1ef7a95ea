"""Tests that the page about other languages is right: its commands build each example, and each example passes.

A further test puts a panic into the examples in Rust and Go. The panic must become a result code, because a panic that
leaves the library ends the process.

`./dev test` does not install Rust and Go, because Debian's packages are older than the examples need. So these tests
exist only for the languages whose compiler is installed.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.guide_commands import checkout, code_blocks, run
from tests.test_keydrome import keydrome

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "docs/how-to/use-another-language.md"
COMPILERS = {"Rust": "cargo", "Go": "go", "C++": "g++"}
INSTALLED = [language for language, program in COMPILERS.items() if shutil.which(program)]
BUILT = {"Rust": "mine/target/release/libmine.so", "Go": "mine/mine.so"}
SOURCES = {"Rust": "mine/src/lib.rs", "Go": "mine/mine.go"}
# For each example a piece of getNext, and the panic that a test puts in front of it.
PANICS = {
    "Rust": ("        let pairs = lock(&index.pairs);\n        let Some(pair)", 'panic!("fault");'),
    "Go": ("\t\tplace, found := slices.BinarySearchFunc(h.index.pairs, h.pos", 'panic("fault")'),
}


def commands(language: str) -> list[str]:
    (block,) = code_blocks(PAGE, language)
    return block.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("language", INSTALLED)
def test_the_commands_of_the_page_build_a_library_that_passes(
    language: str, tmp_path: Path
) -> None:
    lines = commands(language)
    folder = checkout(tmp_path)
    *_, inspected, checked = [run(line, folder) for line in lines]
    assert inspected.rstrip().endswith("accepted")
    assert checked.rstrip().endswith(": passed")


WITH_PANICS = [language for language in INSTALLED if language in PANICS]
if WITH_PANICS:  # pytest would skip a test without parameters

    @pytest.mark.slow
    @pytest.mark.parametrize("language", WITH_PANICS)
    def test_a_panic_becomes_a_result_code(language: str, tmp_path: Path) -> None:
        copy, build, *_ = commands(language)
        folder = checkout(tmp_path)
        run(copy, folder)
        source = folder / SOURCES[language]
        place, panic = PANICS[language]
        text = source.read_text()
        assert text.count(place) == 1
        source.write_text(text.replace(place, f"{panic}\n{place}"))
        run(build, folder)
        answer = tmp_path / "check.json"
        options = ("--suite", "unit", "--scale", "smoke", "--json", answer)
        outcome = keydrome("check", folder / BUILT[language], *options, var=tmp_path)
        assert outcome.returncode == 1, outcome.stdout + outcome.stderr
        names = {finding["name"] for finding in json.loads(answer.read_text())["findings"]}
        assert names
        assert "crashed" not in names
