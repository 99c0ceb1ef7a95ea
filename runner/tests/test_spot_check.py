"""Tests of runner/spot_check.py: which runs have a spot check, and with which seed.

A run judges one library in several sessions. A spot check is one more session, whose calls and results are recorded and
checked for errors of isolation. A hash of the run's secret seeds decides whether the run has a spot check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner import spot_check
from runner.report import Finding
from runner.request import Loadable
from runner.series import SeriesResult
from runner.settings import load_settings
from runner.spot_check import NOT_CERTIFIED, RECORDED, run_with_spot_check, spot_check_seed
from runner.terms import Severity, Verdict
from runner.tests.samples import make_witness
from runner.tests.test_series import REQUEST

if TYPE_CHECKING:
    from pathlib import Path

RUNS = [(f"{number:016x}", f"{number:016x}"[::-1]) for number in range(10_000)]


@pytest.mark.parametrize("one_in", [2, 10, 100])
def test_one_run_in_n_has_a_spot_check(one_in: int) -> None:
    chosen = [seed for seeds in RUNS if (seed := spot_check_seed(seeds, one_in)) is not None]
    expected = len(RUNS) / one_in
    assert abs(len(chosen) - expected) < 4 * expected**0.5, len(chosen)
    assert len(set(chosen)) == len(chosen)
    assert all(len(seed) == 16 and int(seed, 16) >= 0 for seed in chosen)


def test_the_choice_is_the_same_every_time() -> None:
    assert [spot_check_seed(seeds, 10) for seeds in RUNS] == [
        spot_check_seed(seeds, 10) for seeds in RUNS
    ]


def test_the_choice_depends_on_every_seed() -> None:
    """A person who knows one seed of several cannot compute the choice."""
    same_first = [("00000000000000aa", f"{number:016x}") for number in range(1000)]
    chosen = {spot_check_seed(seeds, 2) is not None for seeds in same_first}
    assert chosen == {True, False}


@pytest.mark.parametrize(("one_in", "is_chosen"), [(0, False), (-1, False), (1, True)])
def test_none_and_all(one_in: int, is_chosen: bool) -> None:
    assert all((spot_check_seed(seeds, one_in) is not None) is is_chosen for seeds in RUNS[:100])


@pytest.mark.parametrize(
    ("detail", "reason"),
    [("neither saw it", make_witness().summary), ("another fault", "another fault")],
)
def test_a_failed_spot_check_says_what_the_finding_means(
    detail: str, reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    finding = Finding("isolation", "phantom", Severity.REQUIRED, detail, make_witness())
    recorded = SeriesResult(Verdict.FAILED, detail, (finding,))
    assert _run([recorded], monkeypatch, tmp_path).reason == RECORDED + reason


def test_a_spot_check_without_an_answer_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recorded = SeriesResult(Verdict.INFRASTRUCTURE, "session 1: the machine failed")
    result = _run([recorded, SeriesResult(Verdict.PASSED, "")], monkeypatch, tmp_path)
    (finding,) = result.findings
    assert (finding.name, finding.severity) == ("not_certified", Severity.ADVISORY)
    assert finding.detail == (
        f"{NOT_CERTIFIED}: the machine failed. The verdict does not depend on the spot check"
    )


def _run(
    results: list[SeriesResult], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> SeriesResult:
    """Run a request with a spot check. The spot check and the series have the given results."""
    answers = iter(results)
    monkeypatch.setattr(spot_check, "run_series", lambda *_: next(answers))
    return run_with_spot_check(
        Loadable(folder / "library.so"),
        REQUEST,
        load_settings({}),
        folder,
        lambda _: True,
        seed="00000000000000ff",
    )
