"""Tests of `./dev new`: the new manifests parse, the sources compile, and the structure passes its contract test."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from dev import scaffold
from dev.steps import StepError
from jsonschema import validate

from leaderboard.boards import parse_board
from runner.manifest import load_benchmarks

pytestmark = pytest.mark.slow  # compiles
ROOT = Path(__file__).resolve().parents[2]
NAME = "my_thing"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "examples").symlink_to(ROOT / "api" / "examples")
    (tmp_path / "runtime" / "concurrency").mkdir(parents=True)
    shutil.copy(ROOT / "runtime/concurrency/index_2pl.cc", tmp_path / "runtime/concurrency")
    for benchmark in ("open_loop", "isolation", "affinity"):
        (tmp_path / "benchmarks" / benchmark).mkdir(parents=True)
        manifest = f"benchmarks/{benchmark}/benchmark.json"
        shutil.copy(ROOT / manifest, tmp_path / manifest)
    (tmp_path / "leaderboard").mkdir()
    shutil.copytree(ROOT / "leaderboard/boards/open_loop", tmp_path / "leaderboard/boards/arrivals")
    monkeypatch.setattr(scaffold, "ROOT", tmp_path)
    return tmp_path


def compile_source(source: Path, *options: str) -> None:
    command = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
    command += [f"-I{ROOT}", f"-I{ROOT}/api/include", *options, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_benchmark(root: Path) -> None:
    scaffold.new("benchmark", NAME)
    assert load_benchmarks(root)[NAME].instances
    compile_source(root / "benchmarks" / NAME / f"{NAME}.cc", "-fsyntax-only")


def test_index(root: Path) -> None:
    scaffold.new("index", NAME)
    compile_source(root / "indexes" / NAME / "library.cc", "-fsyntax-only")


def test_concurrency_control(root: Path) -> None:
    scaffold.new("concurrency-control", NAME)
    source = root / "runtime" / "concurrency" / f"{NAME}.cc"
    compile_source(source, "-fsyntax-only")
    assert f"ConcurrencyMethod {NAME}_method()" in source.read_text()
    assert "index_2pl" not in source.read_text()


@pytest.mark.parametrize("kind", scaffold.TARGETS)
def test_every_kind_has_a_page(kind: str) -> None:
    assert (ROOT / scaffold.how_to(kind)).exists()


def test_structure_passes_its_contract(root: Path, tmp_path: Path) -> None:
    scaffold.new("structure", NAME)
    library = tmp_path / "structure.so"
    source = root / "structures" / NAME / f"{NAME}.cc"
    compile_source(source, "-O1", "-shared", "-fPIC", "-o", str(library))
    contract = ROOT / "build" / "release" / "tests" / "structure_contract_test"
    assert contract.exists(), "build first: ./dev test builds it, or cmake --build --preset release"
    done = subprocess.run(
        # The bulk loads are left out, because a sorted array needs a minute where a tree needs a second.
        [str(contract), "--library", str(library), "--gtest_filter=-*BulkLoads*"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]


def test_board(root: Path) -> None:
    scaffold.new("board", NAME, "open_loop/a")
    folder = root / "leaderboard" / "boards" / NAME
    board = parse_board(NAME, json.loads((folder / "board.json").read_text()), "text")
    assert board.gates
    assert board.strict, "a new board accepts no stale reads"
    assert (board.benchmark, board.instance, board.family) == ("open_loop", "a", "ycsb")
    assert (board.metric, board.direction) == ("sustained_per_s", "higher")
    assert "@" not in (folder / "board.json").read_text()
    scaffold.new("board", "other", "affinity/scattered")
    other = json.loads((root / "leaderboard/boards/other/board.json").read_text())
    assert (other["family"], other["metric"]) == ("operations", "total_ms")


@pytest.mark.parametrize(
    ("instance", "words"),
    [
        (
            None,
            "for example `./dev new board my_thing ycsb/a`; the benchmarks are: affinity, open_loop",
        ),
        (
            "isolation/isolation",
            "'isolation' is not a benchmark that measures speed; choose from: affinity",
        ),
        ("affinity", "affinity has no instance ''; choose one of: "),
        ("affinity/none", "affinity has no instance 'none'; choose one of: "),
    ],
)
def test_a_board_needs_an_instance(root: Path, instance: str | None, words: str) -> None:
    with pytest.raises(StepError, match=words):
        scaffold.new("board", NAME, instance)
    assert not (root / "leaderboard" / "boards" / NAME).exists()


def test_only_a_board_takes_an_instance(root: Path) -> None:
    with pytest.raises(StepError, match="only the kind board takes BENCHMARK/INSTANCE"):
        scaffold.new("index", NAME, "ycsb/a")
    assert not (root / "indexes").exists()


def test_configuration(root: Path) -> None:
    scaffold.new("configuration", NAME)
    folder = ROOT / "runtime" / "configurations"
    schema = json.loads((folder / "configuration.schema.json").read_text())
    validate(json.loads((root / "runtime" / "configurations" / f"{NAME}.json").read_text()), schema)


def test_nothing_is_overwritten(root: Path) -> None:
    scaffold.new("configuration", NAME)
    with pytest.raises(StepError, match="exists already"):
        scaffold.new("configuration", NAME)


@pytest.mark.parametrize("name", ["", "Upper", "../x", "a b", "x" * 40, "1a"])
def test_bad_names(root: Path, name: str) -> None:
    with pytest.raises(StepError, match="is not a valid name"):
        scaffold.new("index", name)


def test_unknown_kind(root: Path) -> None:
    with pytest.raises(StepError, match="the kinds are: benchmark, index"):
        scaffold.new("sandwich", NAME)
