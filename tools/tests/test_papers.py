"""Tests of tools/reports/papers, which repeats experiments of papers.

The tests check that every experiment can be run, and that each value is divided by the right reference value.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from results.plots.style import ADAPTING, stable, svg
from runner.manifest import load_benchmarks
from runner.terms import Scale
from tools.reports.gate_run import ROOT
from tools.reports.papers import __main__ as program
from tools.reports.papers import page
from tools.reports.papers.experiments import Experiment, load

if TYPE_CHECKING:
    from pathlib import Path

EXPERIMENTS = {one.id: one for one in load()}
ALWAYS_MEASURED = {"total_ms", "throughput_tps"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_is_played_exists(name: str) -> None:
    one = EXPERIMENTS[name]
    benchmark = load_benchmarks(ROOT)[one.benchmark]
    for point in one.points:
        benchmark.resolve(point.instance, Scale.LAPTOP, point.parameters)
    assert one.metric in ALWAYS_MEASURED | {own.name for own in benchmark.own_metrics}
    for library in one.libraries:
        folder, file = library.file.split("/")
        assert (ROOT / folder / file.removesuffix(".so")).is_dir()


def test_times_of_the_thesis_become_multiples_of_null() -> None:
    printed = EXPERIMENTS["thesis"].printed
    assert printed["thesis: fastest entry"][0] == pytest.approx(2946 / 1577)
    assert printed["thesis: middle entry"][0] == pytest.approx((4487 + 4881) / 2 / 1577)
    assert printed["thesis: slowest entry"][1] == pytest.approx(100545 / 13794)


def numbers_of(one: Experiment, repetitions: int) -> dict[str, float]:
    """Give every library, point and repetition a number of its own."""
    keys = [
        program._key(one, repetition, library.name, point)
        for repetition in range(repetitions)
        for library in one.libraries
        for point in one.points
    ]
    return {key: float(number) for number, key in enumerate(keys, start=1)}


@pytest.mark.parametrize(
    ("name", "library", "point", "base_library", "base_point"),
    [
        ("thesis", "btree, rw", 4, "null", 4),
        ("insert-ratio", "btree, rw", 3, "btree, exclusive", 0),
        ("remote", "btree, gap", 2, "btree, gap", 0),
    ],
)
def test_numbers_are_divided_within_a_repetition(
    name: str, library: str, point: int, base_library: str, base_point: int
) -> None:
    one = EXPERIMENTS[name]
    numbers = numbers_of(one, 2)
    found = program._series(one, numbers, 2)[library][point]
    for repetition in range(2):
        over = numbers[program._key(one, repetition, library, one.points[point])]
        under = numbers[program._key(one, repetition, base_library, one.points[base_point])]
        assert found[repetition] == over / under


def test_the_page_has_every_number_as_drawing_and_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = EXPERIMENTS["insert-ratio"]
    shown = page.Shown(one, program._series(one, numbers_of(one, 3), 3))
    text = page.text([shown], Scale.LAPTOP, 3, "0123abc")
    rows = [line for line in text.splitlines() if line.startswith("| 100 |")]
    assert len(rows) == 1
    assert rows[0].endswith("| 1.00 | 1.00 |")
    monkeypatch.setattr(page, "PAGE", tmp_path / "papers.md")
    monkeypatch.setattr(page, "PICTURES", tmp_path / "papers")
    page.write([shown], text)
    with stable():
        assert (tmp_path / "papers" / f"{one.id}.svg").read_bytes() == svg(
            page.draw(shown, ADAPTING)
        )


def test_a_printed_line_has_a_number_or_none_for_each_point(tmp_path: Path) -> None:
    file = tmp_path / "experiments.toml"
    text = (ROOT / "tools" / "reports" / "papers" / "experiments.toml").read_text()
    file.write_text(text.replace("[1, 1, 1, 1, 1]", "[1, 1]"))
    with pytest.raises(ValueError, match="has 2 numbers, but the experiment has 5 points"):
        load(file)
    assert any(math.isnan(v) for one in load() for line in one.printed.values() for v in line)
