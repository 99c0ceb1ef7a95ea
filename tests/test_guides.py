"""Runs the commands of guides as their reader would, but at smoke scale and with few sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.guide_commands import checkout, code_blocks, run
from tests.test_documented_commands import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def small(command: str) -> str:
    """Return the command at smoke scale. A comparison plays one session instead of the default of 15."""
    small = command.replace("--scale laptop", "--scale smoke")
    return small.replace("keydrome compare", "keydrome compare --sessions 1")


@pytest.mark.slow
def test_the_guide_to_configurations_ends_with_plots_and_tables(tmp_path: Path) -> None:
    folder = checkout(tmp_path)
    page = "docs/how-to/compare-configurations.md"
    listed, checked, compared, *_ = [run(small(block), folder) for block in code_blocks(page)]
    for name in ("exclusive", "rw", "occ"):
        assert f"  {name}: " in listed
        assert f"│ btree:{name} " in compared
    assert checked.count(": passed") == 3
    drawn = {path.name for path in (folder / "plots").iterdir()}
    assert {"smallbank-hot_100-smoke-forest.svg", "smallbank-hot_100-smoke-values.csv"} <= drawn
    report = (folder / "report.md").read_text()
    assert report.startswith("**smallbank/hot_100 version ")
    assert report.count("\n| btree:") == 3  # the pairs
    assert report.count(" | btree:") == 3  # the libraries
    assert "\n- seed: " in report


@pytest.mark.slow
def test_a_structure_of_one_file_passes(tmp_path: Path) -> None:
    page = "docs/how-to/add-a-structure.md"
    (block,) = code_blocks(page, "Without building Keydrome again")
    printed = run(block, checkout(tmp_path))
    assert "[  PASSED  ]" in printed
    assert "mine.so under the configuration rw, 13 sessions from seed " in printed
    assert printed.endswith("mine.so, this run's own checks: passed\n")


def medians(text: str) -> list[str]:
    """Return the labels of the table of medians, the only one with three columns."""
    rows = [line.split("│")[1:-1] for line in text.splitlines() if line.startswith("│")]
    return [cells[0].strip() for cells in rows if len(cells) == 3]


@pytest.mark.slow
def test_the_guide_to_results_has_the_rows_that_bench_prints(tmp_path: Path) -> None:
    page = "docs/how-to/read-a-result.md"
    command = code_blocks(page)[1].replace("--sessions 11", "--sessions 1")
    printed = medians(run(command, checkout(tmp_path)))
    explained = medians((ROOT / page).read_text())
    assert len(printed) > 20
    assert explained == ["", *printed]


@pytest.mark.slow
def test_the_costs_of_an_instance_can_be_measured(tmp_path: Path) -> None:
    folder = checkout(tmp_path)
    measured, table, *_ = code_blocks("docs/reference/scales.md")
    run(small(measured), folder)
    lines = run(table, folder).splitlines()
    assert lines[0].startswith("| instance |")
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["tpcc/mix smoke", "ycsb/a smoke"]
