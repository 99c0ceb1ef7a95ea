from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.contract import Cancelled, JailLevel, Progress, Scale, Verdict
from runner.elf import LibraryFacts, LibraryKind
from runner.execute import session_log
from runner.manifest import RequestError, parse_benchmark
from runner.order import Order, Target, make_target
from runner.series import SeriesResult, _seeds, candidate_first, run_series
from runner.summary import summarise
from runner.tests.samples import MANIFEST, report

if TYPE_CHECKING:
    from pathlib import Path

    from runner.settings import Settings

SEEDS = tuple(f"{n:016x}" for n in range(6))
ORDER = Order(
    benchmark=parse_benchmark(MANIFEST, "sample"),
    instance="small",
    scale=Scale.SMOKE,
    overrides={},
    seeds=SEEDS,
    plain=False,
    require=JailLevel.FULL,
    control=True,
)
# A referee that reports what the plan's library is called after: CANDIDATE and CONTROL are verdicts.
SCRIPT = """#!/usr/bin/env -S python3 -IS
import json, sys
plan = json.load(open(sys.argv[2]))
report = json.loads('''REPORT''')
control = plan["library"]["path"].endswith("global_lock.so")
report["seed"] = plan["seed"]
report["verdict"] = "CONTROL" if control else "CANDIDATE"
report["reason"] = "" if report["verdict"] == "passed" else "why"
report["metrics"]["total_ms"] = 10 if control else 5
if sys.argv[2].split("/")[-2] in STRAYS:
    report["metrics"]["total_ms"] = 12
if report["verdict"] == "failed":
    report["findings"] = [{"suite": "s", "name": "n", "severity": "required", "detail": "d"}]
print(json.dumps({"event": "phase", "name": "test", "index": 1, "of": 2}), flush=True)
open(sys.argv[4], "w").write(json.dumps(report))
"""


def series(
    settings: Settings,
    folder: Path,
    *,
    order: Order = ORDER,
    candidate: str = "passed",
    control: str = "passed",
    strays: tuple[str, ...] = (),
    beats: int = 10_000,
) -> tuple[SeriesResult, list[Progress]]:
    path = folder / "build" / "bin" / "referee"
    path.parent.mkdir(parents=True)
    text = SCRIPT.replace("REPORT", json.dumps(report())).replace("STRAYS", str(strays or ("",)))
    path.write_text(text.replace("CANDIDATE", candidate).replace("CONTROL", control))
    path.chmod(0o755)
    progress: list[Progress] = []

    def beat(now: Progress) -> bool:
        progress.append(now)
        return len(progress) < beats

    settings = replace(settings, build=folder / "build")
    return run_series(Target(folder / "library.so"), order, settings, folder, beat), progress


def test_the_order_of_a_session_is_a_fair_coin_of_its_seed() -> None:
    heads = sum(candidate_first(f"{n:016x}") for n in range(2000))
    assert 900 < heads < 1100
    assert candidate_first(SEEDS[0]) == candidate_first(SEEDS[0])


def test_a_short_series_has_the_control_on_one_side(settings: Settings, tmp_path: Path) -> None:
    order = replace(ORDER, seeds=SEEDS[:4])
    result, progress = series(settings, tmp_path, order=order, strays=("2-control",))
    assert result.verdict is Verdict.PASSED
    assert [session.seed for session in result.sessions] == list(order.seeds)
    for session in result.sessions:
        assert session.control is not None
        assert session.control_after is None
        assert not session.void
        assert session.candidate["metrics"]["total_ms"] == 5
        assert session.candidate_first == candidate_first(session.seed)
        roles = [p.role for p in progress if SEEDS[p.session - 1] == session.seed]
        assert (roles[0] == "candidate") == session.candidate_first
    assert result.jail_level == "full"
    fractions = [p.fraction for p in progress]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] < fractions[-1] <= 1


def test_a_long_series_has_the_control_on_both_sides(settings: Settings, tmp_path: Path) -> None:
    result, progress = series(settings, tmp_path)
    assert result.verdict is Verdict.PASSED
    assert len(result.sessions) == len(SEEDS)
    assert [len(session.controls) for session in result.sessions] == [2] * len(SEEDS)
    assert not any(session.void or session.candidate_first for session in result.sessions)
    roles = list(dict.fromkeys(p.role for p in progress if p.session == 1))
    assert roles == ["control", "candidate", "control again"]


def test_a_session_in_which_the_control_strays_is_void_and_repeated(
    settings: Settings, tmp_path: Path
) -> None:
    strays = ("3-control-again", "7-control")
    result, progress = series(settings, tmp_path, strays=strays)
    assert result.verdict is Verdict.PASSED
    assert {n: s.void for n, s in enumerate(result.sessions, start=1) if s.void} == {
        3: "control 1.20 times slower, allowed 1.10",
        7: "control 1.20 times faster, allowed 1.10",
    }
    assert len(result.sessions) == len(SEEDS) + 2
    assert len({session.seed for session in result.sessions}) == len(result.sessions)
    summary = summarise(result.sessions, "total_ms")
    assert summary.ratios == pytest.approx((0.5,) * 6)
    assert "session 3: passed; void: control 1.20 times slower" in session_log(result.sessions)
    fractions = [p.fraction for p in progress]
    assert fractions == sorted(fractions)
    # The same seeds give the same repetitions.
    assert [session.seed for session in result.sessions] == list(_seeds(ORDER))[:8]


def test_a_machine_that_is_never_steady_has_a_wide_band(settings: Settings, tmp_path: Path) -> None:
    strays = ("1-control", "2-control-again", "3-control", "4-control-again")
    result, _ = series(settings, tmp_path, order=replace(ORDER, seeds=SEEDS[:5]), strays=strays)
    assert result.verdict is Verdict.PASSED
    assert [session.void for session in result.sessions] == [""] * 5


def test_without_control_only_the_candidate_runs(settings: Settings, tmp_path: Path) -> None:
    result, progress = series(settings, tmp_path, order=replace(ORDER, control=False))
    assert {p.role for p in progress} == {"candidate"}
    assert [session.control for session in result.sessions] == [None] * len(SEEDS)


@pytest.mark.parametrize(
    "verdict", ["failed", "crashed", "timed_out", "out_of_memory", "unsupported"]
)
def test_the_first_failed_session_ends_the_series(
    verdict: str, settings: Settings, tmp_path: Path
) -> None:
    result, _ = series(settings, tmp_path, candidate=verdict)
    assert result.verdict == verdict
    assert result.reason == "why"
    assert len(result.sessions) == 1
    assert [f.name for f in result.findings] == (["n"] if verdict == "failed" else [])


def test_a_control_that_fails_is_our_fault(settings: Settings, tmp_path: Path) -> None:
    result, _ = series(settings, tmp_path, control="crashed")
    assert result.verdict is Verdict.INFRASTRUCTURE
    assert result.reason == "session 1: the control library crashed: why"
    assert not result.sessions


def test_a_machine_that_gives_too_little_refuses_whoever_comes_first(
    settings: Settings, tmp_path: Path
) -> None:
    result, _ = series(settings, tmp_path, candidate="refused", control="refused")
    assert result.verdict is Verdict.REFUSED


def test_a_series_can_be_cancelled(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(Cancelled):
        series(settings, tmp_path, beats=4)


def test_a_structure_needs_a_configuration_and_a_library_must_not_have_one(
    settings: Settings, tmp_path: Path
) -> None:
    structure = LibraryFacts(LibraryKind.STRUCTURE, 1)
    library = LibraryFacts(LibraryKind.INDEX, 1)
    with pytest.raises(RequestError, match="needs a configuration"):
        make_target(tmp_path, structure, ORDER, settings)
    configured = replace(ORDER, configuration={"name": "rw"})
    with pytest.raises(RequestError, match="leave the configuration out"):
        make_target(tmp_path, library, configured, settings)
    target = make_target(tmp_path, structure, configured, settings)
    assert target == Target(settings.runtime, tmp_path, {"name": "rw"})
    assert make_target(tmp_path, library, ORDER, settings) == Target(tmp_path)
