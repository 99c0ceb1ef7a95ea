"""Tests of `keydrome score`: its tables and JSON, and which files it refuses."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cli.main import main
from runner.settings import load_settings

COMPARED = Path(__file__).parent / "golden" / "compare.json"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Return two results of compare: one of instance small, one of large, in which all values are twice as high."""
    small: dict[str, Any] = json.loads(COMPARED.read_text(encoding="utf-8"))
    small["libraries"] = [one for one in small["libraries"] if not one["left_out"]]
    large = json.loads(json.dumps(small)) | {"instance": "large"}
    for block in large["blocks"]:
        block["values"] = {name: 2 * value for name, value in block["values"].items()}
    first, second = tmp_path / "small.json", tmp_path / "large.json"
    first.write_text(json.dumps(small), encoding="utf-8")
    second.write_text(json.dumps(large), encoding="utf-8")
    return first, second


def test_scores_are_printed_and_written(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "score.json"
    assert main(["score", *map(str, files), "--json", str(out)]) == 0
    value = json.loads(out.read_text(encoding="utf-8"))
    schema = load_settings({}).root / "harness" / "schema" / "score.v1.schema.json"
    Draft202012Validator(json.loads(schema.read_text(encoding="utf-8"))).validate(value)
    small, large = value["instances"]
    assert [small["instance"], large["instance"]] == ["small", "large"]
    assert large["speeds"]["a"] == pytest.approx(small["speeds"]["a"] / 2)  # lower is better
    scores = {one["name"]: one["score"] for one in value["libraries"]}
    assert scores["a"] == pytest.approx((small["speeds"]["a"] * large["speeds"]["a"]) ** 0.5)
    printed = capsys.readouterr().out
    assert "Score over 2 instances" in printed
    assert f"{scores['a']:.3f}" in printed
    assert "fewer than 11 blocks" in printed


def test_the_tables_are_written_as_markdown(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "score.md"
    assert main(["score", *map(str, files), "--markdown", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert text.startswith("**Score over 2 instances (scale: smoke, class of the machine: ")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[0] == "| rank | library | score | from | to |"
    assert rows[1] == "|----|-------|-----:|-----:|-----:|"
    assert rows[4].startswith("| instance | blocks | a | ")
    assert [row.split(" | ")[0] for row in rows[6:]] == [
        "| sample/small version 3",
        "| sample/large version 3",
    ]
    assert "\n- The score is the geometric mean of a library's speeds." in text
    conditions = text.partition("**Conditions**")[2]
    assert f"Keydrome: version {version('keydrome')}" in conditions
    assert f"library a: sha256 {'0' * 64}\n" in conditions
    printed = capsys.readouterr().out
    for cell in rows[2].split("|")[1:-1]:
        assert cell.strip() in printed


def test_markdown_on_standard_output_has_nothing_else_with_it(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", *map(str, files), "--markdown", "-"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("**Score over")
    assert "┃" not in shown.out
    assert "┃" in shown.err
    assert main(["score", *map(str, files), "--markdown", "-", "--json", "-"]) == 2
    assert "both go to standard output" in capsys.readouterr().err


def test_the_title_is_one_line(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", *map(str, files)]) == 0
    title = capsys.readouterr().out.splitlines()[0]
    assert title.startswith("Score over 2 instances (scale: smoke")
    assert title.endswith(")")


def test_a_left_out_instance_is_named(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = files
    value = json.loads(second.read_text(encoding="utf-8"))
    value["libraries"][0]["left_out"] = "crashed in block 1"
    second.write_text(json.dumps(value), encoding="utf-8")
    assert main(["score", str(first), str(second)]) == 1
    left_out = "sample-large-smoke is left out, because a has no result (crashed in block 1). To"
    assert left_out in capsys.readouterr().out


def test_files_that_have_no_score_are_refused(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, _ = files
    assert main(["score", str(first), str(first)]) == 2
    assert "two results are of sample-small-smoke: give only one" in capsys.readouterr().err
    other = tmp_path / "other.json"
    other.write_text("{}", encoding="utf-8")
    assert main(["score", str(other)]) == 2
    assert "not a result of bench or compare" in capsys.readouterr().err
