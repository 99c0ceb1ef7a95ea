"""Tests of tools/reports/timed_share.py, which measures how much of the machine time of a series is timed.

A series is several sessions of one library. Its times must add up, and a missed target must be marked.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from runner.report import Report
from runner.terms import Scale
from tools.reports import timed_share
from tools.reports.gate_run import ROOT
from tools.reports.timed_share import Times

if TYPE_CHECKING:
    from pathlib import Path

SECOND = 1_000_000_000
TIMES = Times(4.0, 2.0, 0.5, 0.25, 0.125, 0.125, 0.25, 0.5, records=2e6)


def report(factor: int) -> Report:
    """Return a report whose times and number of records are `factor` times the numbers below."""
    example = ROOT / "harness" / "schema" / "examples" / "report.passed.json"
    value: dict[str, Any] = json.loads(example.read_text())
    phases = {"load": 2, "loaded": 3, "run": 5, "verify": 4}
    value["phases"] = [
        {"name": name, "timed": name == "run", "wall_ns": seconds * factor * SECOND}
        for name, seconds in phases.items()
    ]
    value["loading"] = {"wall_ns": factor * SECOND}
    steps = {"generating_ns": 1, "inputs_ns": 2, "outcomes_ns": 3, "judging_ns": 4}
    value["referee"] = {name: seconds * factor * SECOND for name, seconds in steps.items()}
    value["metrics"]["records_end"] = 1_000_000 * factor
    return Report.from_json(value)


def test_the_parts_of_a_series_add_up() -> None:
    times = timed_share.times_of([report(1), report(3)], 120.0)
    assert times == Times(60.0, 10.0, 6.0, 2.0, 4.0, 14.0, 6.0, 8.0, records=2e6)
    assert times.rest == pytest.approx(10.0)
    assert times.share == pytest.approx(1 / 6)
    assert times.per_million == pytest.approx(22.0)


def test_a_missed_target_is_marked_by_how_much() -> None:
    met = timed_share.row_of("ycsb/a", TIMES)
    assert "| 50% | 0.8 s |" in met
    row = timed_share.row_of("ycsb/a", replace(TIMES, session=8.0))
    assert "| 25%; *missed* by 8% | 2.8 s; *missed* by 1.8 s |" in row
    text = " ".join(
        timed_share.page({"a/b": TIMES, "c/d": replace(TIMES, timed=1.0)}, Scale.LAPTOP, 3).split()
    )
    assert "1 of 2 instances reach the first target, and 1 the second one." in text


def test_an_interrupted_measurement_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: list[str] = []

    def measure(name: str, _scale: Scale, _sessions: int) -> Times:
        if len(measured) == 2:
            raise KeyboardInterrupt
        measured.append(name)
        return TIMES

    state = tmp_path / "times.json"
    monkeypatch.setattr(timed_share, "measure", measure)
    monkeypatch.setattr(timed_share, "instances", lambda: ["a/b", "c/d", "e/f"])
    monkeypatch.setattr(sys, "argv", ["timed_share", "--state", str(state)])
    with pytest.raises(KeyboardInterrupt):
        timed_share.main()
    first, measured[:] = list(measured), []
    assert timed_share.main() == 0
    assert (first, measured) == (["a/b", "c/d"], ["e/f"])
    assert capsys.readouterr().out.count("| 50% |") == 3


def test_the_page_has_the_instances_of_the_goal() -> None:
    names = timed_share.instances()
    assert {"ycsb/a", "ycsb/int64_a", "tpcc/mix"} <= set(names)
    assert names[:2] == ["sigmod2009/preliminary1", "sigmod2009/preliminary2"]
    assert len(names) == len(set(names))
