"""Tests that the command lines in the documentation are correct: their options, and the names that they use.

The lines are parsed as the command line parses them, but not run: some take an hour, and some need the reader's files.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.input.request import DEFAULT_BENCHMARK
from cli.input.values import UsageError, parse_parameters
from cli.main import command_parser
from runner.catalogue import configuration_names
from runner.manifest import RequestError, find_benchmark, load_benchmarks
from runner.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("*/**/README.md"),
    ]
)
# Names that the guides tell the reader to give to files of their own.
OWN = {"mine", "theirs"}
BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
LOOP = re.compile(r"for (\w+) in ([\w ]+); do (.+); done")
MODULE = re.compile(r"python3? -m ((?:tools|web|runner|cli|results)[a-z_.]*[a-z])\b")
# The pages have some forty command lines. If their notation changed, the tests could find no line, and pass without a
# check. Therefore they must find at least this many.
LINES_MIN = 35


@dataclass(frozen=True, slots=True)
class Line:
    """A command line of a page. `arguments` are those after `keydrome`."""

    page: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: keydrome {shlex.join(self.arguments)}"


def shell_lines(text: str) -> Iterator[str]:
    """Yield the lines of all code blocks, continued lines as one, and each iteration of a loop as a line of its own."""
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            loop = LOOP.search(line)
            turns = loop[2].split() if loop else []
            yield from (loop[3].replace(f"${loop[1]}", turn) for turn in turns if loop)
            if not loop:
                yield line


def keydrome_lines(page: str, text: str) -> Iterator[Line]:
    """Yield the command lines of `.venv/bin/keydrome` in the code blocks of a page."""
    for line in shell_lines(text):
        for command in re.split(r"&&|[;|]", line):
            _, found, rest = command.partition(".venv/bin/keydrome ")
            if found:
                words = shlex.split(rest, comments=True)
                end = words.index(">") if ">" in words else len(words)
                yield Line(page, tuple(words[:end]))


def check_line(line: Line) -> None:
    """Raise an error that says what is wrong with a command line."""
    try:
        options = vars(command_parser().parse_args(line.arguments))
    except SystemExit as ended:
        if ended.code not in (0, None):
            raise UsageError(
                "the command line is wrong; its parser has printed the reason above"
            ) from None
        return
    _check_benchmark(options)
    settings = load_settings()
    given = options.get("config")
    for name in given if isinstance(given, list) else [given] if given else []:
        if name not in {*configuration_names(settings), "bare", *OWN}:
            raise UsageError(f"--config {name}: there is no configuration of this name")
    for word in line.arguments:
        if word.startswith("build/release/lib/"):
            _check_library(Path(word))


def _check_benchmark(options: dict[str, object]) -> None:
    name = options.get("benchmark") or (DEFAULT_BENCHMARK if "benchmark" in options else None)
    if not isinstance(name, str):
        return
    benchmark = find_benchmark(load_benchmarks(ROOT), name)
    instance = options.get("instance")
    if instance is not None and instance not in benchmark.instances:
        raise UsageError(f"--instance {instance}: the benchmark {name} has no such instance")
    given = options.get("parameter")
    parameters = parse_parameters(given if isinstance(given, list) else [], None)
    if unknown := parameters.keys() - set(benchmark.parameters):
        raise UsageError(f"-p {min(unknown)}: the benchmark {name} has no such parameter")


def _check_library(path: Path) -> None:
    kind, stem = path.parts[-2], path.stem
    if kind == "faulty":
        known = bool(list(ROOT.glob(f"tests/faulty/{stem}.c*"))) or stem.startswith("mutant_")
    else:
        known = stem in OWN or (ROOT / kind / stem).is_dir()
    if not known:
        raise UsageError(f"{path}: no build makes a library of this name")


def documented() -> list[Line]:
    return [
        line
        for page in PAGES
        for line in keydrome_lines(str(page.relative_to(ROOT)), page.read_text())
    ]


@pytest.mark.parametrize("line", documented(), ids=str)
def test_a_documented_command_line_is_right(line: Line) -> None:
    check_line(line)


def test_the_lines_of_the_guides_are_found() -> None:
    found = documented()
    assert len(found) >= LINES_MIN
    pages = {line.page for line in found}
    assert {"README.md", "docs/tutorial/first-submission.md"} <= pages


@pytest.mark.parametrize(
    "line",
    [
        "bench mine.so --scael smoke",
        "bench mine.so --benchmark nothing",
        "bench mine.so --benchmark ycsb --instance z",
        "bench mine.so --benchmark ycsb -p colour=1",
        "bench build/release/lib/structures/oak.so",
        "check build/release/lib/faulty/oak.so",
        "compare btree --config quick",
        "measure mine.so",
    ],
)
def test_a_wrong_command_line_is_found(line: str) -> None:
    text = f"```\nsudo .venv/bin/keydrome {line}\n```\n"
    (found,) = keydrome_lines("page.md", text)
    with pytest.raises((UsageError, RequestError)):
        check_line(found)


def test_lines_are_taken_apart() -> None:
    text = "```\nfor n in 1 2; do .venv/bin/keydrome bench \\\na.so --threads $n > f; done\n```\n"
    assert [line.arguments for line in keydrome_lines("page.md", text)] == [
        ("bench", "a.so", "--threads", "1"),
        ("bench", "a.so", "--threads", "2"),
    ]


@pytest.mark.parametrize(("baseline", "status"), [("a", 1), ("b:rw", 0)])
def test_the_script_for_continuous_integration_fails_if_the_baseline_leads(
    baseline: str, status: int, tmp_path: Path
) -> None:
    page = (ROOT / "docs/how-to/check-in-continuous-integration.md").read_text()
    found = re.search(r"python -c '\n(.+?)\n'\n", page, re.DOTALL)
    assert found is not None
    script = found[1].replace('"baseline"', json.dumps(baseline))
    shutil.copy(ROOT / "cli/tests/golden/compare.json", tmp_path / "result.json")
    ended = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=False)
    assert ended.returncode == status


def test_documented_modules_exist() -> None:
    names = {name for page in PAGES for name in MODULE.findall(page.read_text())}
    assert "tools.reports.kill_matrix" in names
    assert [name for name in sorted(names) if find_spec(name) is None] == []
