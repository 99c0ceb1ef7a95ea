"""Tests of tools/paper_scale.py without a build: which instances are played, stored and shown.

The sessions are invented.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.manifest import load_benchmarks
from runner.terms import Scale
from tools import paper_scale
from tools.paper_scale import Row, Target, main, page, read_rows

if TYPE_CHECKING:
    from pathlib import Path

    from runner.settings import Settings

GIB = 1 << 30
VERSION = load_benchmarks(paper_scale.ROOT)["lookups"].version
ROW = Row(
    "passed", "", 12.3, 4500.0, GIB, 2 * GIB, 0.4, "1a2b3c4", VERSION, "a CPU, 2 CPUs, 24 GiB"
)
# The GiB of memory that the referee, the program that plays a session, needs in these tests, by instance. Instances
# that are not listed need 2 GiB. With 0, the instance does not fit the machine.
NEEDS = {"lookups/hits": 3, "lookups/half": 1, "lookups/misses_beyond": 0}


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the functions that estimate memory and play sessions; return the list of the played instances.

    The third session is interrupted once.
    """
    names: list[str] = []
    interrupted: list[str] = []

    def estimate(target: Target, _scale: Scale, _settings: Settings) -> Target:
        if need := NEEDS.get(target.name, 2):
            return replace(target, referee_bytes=need * GIB, library_bytes=GIB)
        return replace(target, too_small="the session needs 99 GiB")

    def play(target: Target, _scale: Scale, _timeout: float, _where: str) -> Row:
        if len(names) == 2 and not interrupted:
            interrupted.append(target.name)
            raise KeyboardInterrupt
        names.append(target.name)
        return ROW

    monkeypatch.setattr(paper_scale, "estimate", estimate)
    monkeypatch.setattr(paper_scale, "play", play)
    return names


def test_a_stopped_run_continues_where_it_stopped(tmp_path: Path, played: list[str]) -> None:
    state = tmp_path / "var" / "paper.json"
    arguments = ["--only", "lookups", "--state", str(state)]
    with pytest.raises(KeyboardInterrupt):
        main(arguments)
    assert played[0] == "lookups/half"  # the smallest is first
    first = list(played)
    assert list(read_rows(state)) == first
    played.clear()
    assert main(arguments) == 0
    fitting = len(load_benchmarks(paper_scale.ROOT)["lookups"].instances) - 1
    assert len(first + played) == len(set(first + played)) == fitting
    assert "lookups/misses_beyond" not in played
    assert played[-1] == "lookups/hits"
    played.clear()
    assert main(arguments) == 0
    assert played == []


def test_a_new_version_is_played_again(tmp_path: Path, played: list[str]) -> None:
    state = tmp_path / "paper.json"
    older = replace(ROW, version=VERSION - 1)
    paper_scale.write_rows(
        state, {"lookups/hits": older, "lookups/half": ROW, "lookups/no_instance": ROW}
    )
    assert main(["--only", "lookups/hits", "--only", "lookups/half", "--state", str(state)]) == 0
    assert played == ["lookups/hits"]
    assert read_rows(state) == {"lookups/half": ROW, "lookups/hits": ROW}


def test_list_runs_nothing_and_shows_what_does_not_fit(
    tmp_path: Path, played: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "paper.json"
    paper_scale.write_rows(state, {"lookups/hits": ROW})
    assert main(["--list", "--only", "lookups", "--state", str(state)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert played == []
    assert lines[0] == "lookups/half: referee up to 1.0 GiB, library up to 1.0 GiB"
    assert "lookups/hits: passed; the session took 12 s" in lines
    assert lines[-1] == "lookups/misses_beyond: does not fit: the session needs 99 GiB"


def test_a_failed_session_is_the_status_and_a_slow_one_is_not(
    tmp_path: Path, played: list[str]
) -> None:
    state = tmp_path / "paper.json"
    arguments = ["--only", "lookups/hits", "--state", str(state)]
    slow = replace(ROW, verdict="", reason="stopped at the time limit of 3600 s")
    paper_scale.write_rows(state, {"lookups/hits": slow})
    assert main(arguments) == 0
    paper_scale.write_rows(state, {"lookups/hits": replace(ROW, verdict="crashed")})
    assert main(arguments) == 1
    assert main(["--only", "nothing", "--state", str(state)]) == 2
    assert played == []


def test_the_page_shows_what_was_played_and_what_was_not(played: list[str]) -> None:
    targets = paper_scale.find_targets(Scale.PAPER, ["lookups"])
    busy = replace(
        ROW, load=3.0, total_ms=0.0, verdict="", reason="stopped at the time limit of 3600 s"
    )
    text = page(targets, {"lookups/hits": ROW, "lookups/half": busy}, Scale.PAPER)
    assert "| lookups/hits | passed | 12 | 4.5 | 1.00 | 2.00 | 0.4 |" in text
    assert (
        "| lookups/half | stopped at the time limit of 3600 s | 12 | - | 1.00 | 2.00 | 3.0 |"
        in text
    )
    assert "This holds for 1 of 2 rows" in text
    assert "| lookups/misses_beyond | does not fit: the session needs 99 GiB |" in text
    assert "Made at commit 1a2b3c4 on" in text
    assert "\nMachine: a CPU, 2 CPUs, 24 GiB.\n" in text
    other = page(
        targets, {"lookups/hits": ROW, "lookups/half": replace(busy, machine="b")}, Scale.PAPER
    )
    assert "\nMachines: a CPU, 2 CPUs, 24 GiB; b.\n" in other
